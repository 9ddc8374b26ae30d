package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"mime"
	"strings"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// FileLimits bound the files of a push, and how long they can be downloaded.
type FileLimits struct {
	MaxCount int           // files of a push
	MaxSize  int64         // bytes of a file
	Window   time.Duration // how long a grant lasts after the retrieval, and after a download last read
}

// FileInfo describes a file of a push.
type FileInfo struct {
	Name        secret.Text // harmless: no path, no invisible characters, at most 200 bytes
	ContentType string      // as the sender says, which may be untrue
	Size        int64       // bytes
}

// encodeFiles writes the descriptions of a push's files, for sealing.
func encodeFiles(files []FileInfo) []byte {
	b := binary.AppendUvarint(nil, uint64(len(files)))
	for _, f := range files {
		b = record.AppendBytes(record.AppendBytes(b, f.Name.Reveal()), f.ContentType)
		b = binary.AppendUvarint(b, uint64(f.Size))
	}
	return b
}

func decodeFiles(b []byte) ([]FileInfo, error) {
	r := record.Reader{Rest: b}
	files := make([]FileInfo, r.Uvarint(uint64(len(b))))
	for i := range files {
		files[i] = FileInfo{
			Name:        secret.New(string(r.Bytes())),
			ContentType: string(r.Bytes()),
			Size:        int64(r.Uvarint(1<<63 - 1)),
		}
	}
	return files, r.End()
}

// blobID names a file of a push, for its key.
func blobID(id record.ID, file int) []byte {
	return binary.BigEndian.AppendUint16(id[:], uint16(file))
}

// entityTag returns a text that differs between files. The content of a file never
// changes.
func entityTag(id record.ID, file int) string {
	sum := sha256.Sum256(blobID(id, file))
	return hex.EncodeToString(sum[:12])
}

// openFiles opens the descriptions of a push's files.
func openFiles(p record.Push, key seal.FilesKey) ([]FileInfo, error) {
	plain, err := key.OpenList(p.ID[:], p.Files)
	if err != nil {
		return nil, damaged(p.ID, "list of files")
	}
	files, err := decodeFiles(plain)
	if err != nil {
		return nil, errors.Join(damaged(p.ID, "list of files"), err)
	}
	return files, nil
}

const (
	maxFileName    = 200 // bytes
	maxContentType = 255 // bytes
	noContentType  = "application/octet-stream"
)

// contentType returns text if it is a media type in printable ASCII, else the type of
// unknown bytes.
func contentType(text string) string {
	text = strings.TrimSpace(text)
	media, _, err := mime.ParseMediaType(text)
	if err != nil || len(text) > maxContentType || !strings.Contains(media, "/") || strings.ContainsFunc(text, unprintable) {
		return noContentType
	}
	return text
}

func unprintable(r rune) bool { return r < ' ' || r > '~' }
