package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"strconv"
	"strings"
	"sync"
	"time"

	"pushbox/internal/safename"
	"pushbox/internal/secret"
	"pushbox/store/record"
	"pushbox/store/seal"
)

const (
	freeBatch   = 256              // chunks removed in a step: 16 MiB
	discardTime = 10 * time.Second // for freeing the chunks of an upload; the sweeper frees the rest
)

// An Upload stores the files of a new push, sealed as they are read. They are orphans until
// CreatePush, and are removed without it. It is not safe for concurrent use.
type Upload struct {
	store  *Store
	policy Policy // of the uploader
	token  Token
	id     record.ID
	dek    seal.DEK
	key    seal.FilesKey
	files  []FileInfo
	stored int64
	broken bool // a file was cut off: its chunks must not be sealed again under the same numbers
	kept   bool // the push was created
}

var errBroken = errors.New("use of an upload that has failed")

// NewUpload begins an upload within the bounds of a policy. The caller must call Close.
func (s *Store) NewUpload(p Policy) *Upload { return s.newUpload(s.nextToken(s.time.Read().Now), p) }

func (s *Store) newUpload(t Token, p Policy) *Upload {
	u := &Upload{store: s, policy: p, token: t, id: s.id(t), dek: seal.NewDEK()}
	u.key = u.dek.FilesKey()
	s.uploads.add(u.id)
	return u
}

// Len is the number of files that were added.
func (u *Upload) Len() int { return len(u.files) }

// Add reads a file to its end and keeps it, under a neutral name until Describe. Memory
// does not grow with the file.
//
// Errors: *InvalidError if files are disabled or too many; ErrFileSize; ErrFull; and
// any error of content but io.EOF. After an error only Close may be called.
func (u *Upload) Add(ctx context.Context, content io.Reader) error {
	if err := u.mayAdd(); err != nil {
		return err
	}
	w := chunkWriter{upload: u, file: len(u.files), cipher: u.key.File(blobID(u.id, len(u.files)))}
	size, err := w.copy(ctx, content)
	if err != nil {
		u.broken = true
		return err
	}
	u.files = append(u.files, FileInfo{Size: size})
	u.stored += seal.SealedSize(size)
	u.Describe("", "")
	return nil
}

// Describe sets the name and the media type of the last file, after it made them harmless.
func (u *Upload) Describe(name, mediaType string) {
	f := &u.files[len(u.files)-1]
	f.Name, f.ContentType = secret.New(safename.Shown(name, maxFileName)), contentType(mediaType)
}

func (u *Upload) mayAdd() error {
	if u.broken {
		return errBroken
	}
	var bad record.InvalidError
	limit := u.policy.Files.MaxCount
	switch {
	case !u.policy.Terms[record.File].Enabled:
		bad.Add(FieldKind, record.File.String()+" pushes are disabled")
	case len(u.files) >= limit:
		bad.Add(FieldFiles, "are too many (maximum is "+strconv.Itoa(limit)+")")
	}
	return bad.Err()
}

// Close ends the upload. Unless its push was created, it frees the chunks of the files, even if ctx
// has ended; if that fails, the sweeper does it.
func (u *Upload) Close(ctx context.Context) error {
	defer u.store.uploads.remove(u.id)
	if u.kept {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardTime)
	defer cancel()
	return u.store.free(ctx, u.id)
}

// free removes the orphans of an ID, in steps that do not delay other work.
func (s *Store) free(ctx context.Context, id record.ID) error {
	for {
		more, err := s.engine.FreeOrphans(ctx, id, freeBatch)
		if err != nil || !more {
			return err
		}
	}
}

// freeOrphans removes the chunks of interrupted uploads, and of pushes that no longer hold files.
// An error of one does not stop the others.
func (s *Store) freeOrphans(ctx context.Context) (err error) {
	orphans := func(last record.ID) ([]record.ID, error) { return s.engine.Orphans(ctx, last, listBatch) }
	for ids, listErr := range batches(orphans) {
		if listErr != nil {
			return errors.Join(err, listErr)
		}
		for _, id := range ids {
			if s.uploads.has(id) {
				continue
			}
			if theirs, askErr := s.mayBeOfOthers(ctx, id); theirs || askErr != nil {
				err = errors.Join(err, askErr)
				continue
			}
			if freeErr := s.free(ctx, id); freeErr != nil && err == nil {
				err = fmt.Errorf("free the files of push %s: %w", id, freeErr)
			}
		}
	}
	return err
}

// longestUpload is how long an upload on another server may take.
const longestUpload = 24 * time.Hour

// mayBeOfOthers reports whether orphans may belong to an upload that runs on another server: no
// push has them, and they are less than a day old.
func (s *Store) mayBeOfOthers(ctx context.Context, id record.ID) (bool, error) {
	if !s.options().Shared || s.time.Read().Ends.Sub(createdAt(id)) > longestUpload {
		return false, nil
	}
	switch _, err := s.push(ctx, id); {
	case errors.Is(err, record.ErrNotFound):
		return true, nil
	default:
		return false, err
	}
}

// activeUploads are the running uploads, whose orphans are not freed.
type activeUploads struct {
	mu  sync.Mutex
	ids map[record.ID]bool
}

func (u *activeUploads) add(id record.ID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ids == nil {
		u.ids = make(map[record.ID]bool)
	}
	u.ids[id] = true
}

func (u *activeUploads) remove(id record.ID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.ids, id)
}

// budget returns the number of chunks in a step and of steps in flight for each upload, such that
// all uploads together hold about two commits in memory.
func (u *activeUploads) budget() (length, inFlight int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := max(1, len(u.ids))
	return max(minStep, maxStep/n), max(minInFlight, maxInFlight/n)
}

func (u *activeUploads) has(id record.ID) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.ids[id]
}

// FileLimits bound the files of a push, and how long they can be downloaded.
type FileLimits struct {
	MaxCount int           // files of a push
	MaxSize  int64         // bytes of a file
	Window   time.Duration // how long a grant lasts after the retrieval, and after a download last read
}

// FileInfo describes a file of a push.
type FileInfo struct {
	Name        secret.Text // harmless: no path, no invisible characters, at most 200 bytes
	ContentType string      // as the sender says, which may be wrong
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

// entityTag returns a text that differs between files. It need not depend on the content, which
// never changes.
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
