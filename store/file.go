package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"time"

	"pushbox/internal/secret"
	"pushbox/store/seal"
)

// FileLimits bound what files a push may have, and how long they can be
// downloaded.
type FileLimits struct {
	MaxCount int           // files of a push
	MaxSize  int64         // bytes of a file
	Window   time.Duration // how long a grant is good for after the retrieval, or after the last sign of a download
}

// FileInfo tells of a file of a push.
type FileInfo struct {
	Name        secret.Text // harmless: no path, nothing invisible, at most 200 bytes
	ContentType string      // as its sender says, which may be untrue
	Size        int64       // bytes
}

// encodeFiles writes what a push's files are, to be sealed.
func encodeFiles(files []FileInfo) []byte {
	b := binary.AppendUvarint(nil, uint64(len(files)))
	for _, f := range files {
		b = appendBytes(appendBytes(b, f.Name.Reveal()), f.ContentType)
		b = binary.AppendUvarint(b, uint64(f.Size))
	}
	return b
}

func decodeFiles(b []byte) ([]FileInfo, error) {
	r := reader{b: b}
	files := make([]FileInfo, r.uvarint(uint64(len(b))))
	for i := range files {
		files[i] = FileInfo{
			Name:        secret.New(string(r.bytes())),
			ContentType: string(r.bytes()),
			Size:        int64(r.uvarint(1<<63 - 1)),
		}
	}
	return files, r.end()
}

// blobID names a file of a push: in the engine, and as what its key is for.
func blobID(id ID, file int) []byte {
	return binary.BigEndian.AppendUint16(id[:], uint16(file))
}

// entityTag tells versions of a file apart. A file never changes, so it is the
// file's name in other words.
func entityTag(id ID, file int) string {
	sum := sha256.Sum256(blobID(id, file))
	return hex.EncodeToString(sum[:12])
}

// openFiles opens what a push's files are.
func openFiles(p Push, key seal.FilesKey) ([]FileInfo, error) {
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
