package pwpush

import (
	"crypto/md5" // Active Storage's checksum
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"pushbox/internal/rights"
)

// Errors of files.
var (
	// ErrElsewhere is a file that Password Pusher keeps in object storage, and not in its
	// directory.
	ErrElsewhere = errors.New("the file is not in the storage directory, but in object storage")

	// ErrContent is a file whose content is not what was uploaded.
	ErrContent = errors.New("the file is damaged")
)

// A Storage is the directory of a server's files: storage in Password Pusher's directory.
type Storage struct {
	root   *os.Root
	access rights.Access
}

// OpenStorage opens the directory.
func OpenStorage(dir string) (s *Storage, err error) {
	s = &Storage{}
	if s.access, err = rights.At(filepath.Join(dir, "file")); err == nil {
		err = s.access.Do(func() (err error) { s.root, err = os.OpenRoot(dir); return err })
	}
	return s, err
}

// Close closes the directory.
func (s *Storage) Close() error { return s.root.Close() }

var blobKey = regexp.MustCompile(`^[a-zA-Z0-9]{4,100}$`)

// Open returns the content of a file. Its reader returns ErrContent in place of io.EOF if
// size or checksum are not those of the blob. The file of a key that begins with abcd is
// ab/cd/abcd...
func (s *Storage) Open(b Blob) (io.ReadCloser, error) {
	if b.Service != "" && b.Service != "local" {
		return nil, ErrElsewhere
	}
	if !blobKey.MatchString(b.Key) {
		return nil, fmt.Errorf("the blob %d has no key of a file", b.ID)
	}
	var f *os.File
	err := s.access.Do(func() (err error) {
		f, err = s.root.Open(filepath.Join(b.Key[:2], b.Key[2:4], b.Key))
		return err
	})
	if err != nil {
		return nil, err
	}
	return &content{f: f, left: b.Size, want: b.MD5, sum: md5.New()}, nil
}

// A content is the content of a file, which is checked at its end.
type content struct {
	f    *os.File
	left int64
	want string
	sum  hash.Hash
}

func (c *content) Read(p []byte) (int, error) {
	n, err := c.f.Read(p)
	c.left -= int64(n)
	c.sum.Write(p[:n])
	switch {
	case c.left < 0:
		return 0, ErrContent
	case errors.Is(err, io.EOF) && (c.left > 0 || c.want != "" && base64.StdEncoding.EncodeToString(c.sum.Sum(nil)) != c.want):
		return n, ErrContent
	}
	return n, err
}

func (c *content) Close() error { return c.f.Close() }
