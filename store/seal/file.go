package seal

import (
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"math"

	"golang.org/x/crypto/chacha20poly1305"
)

// A FilesKey opens only the files of a push. It prints as "[redacted]". The zero value is not a
// key, and its use panics.
type FilesKey struct{ key }

// FilesKey returns the key of the files of k's push. It is always the same.
func (k DEK) FilesKey() FilesKey {
	files := hkdfSHA256(k.bytes(), nil, infoFiles)
	return FilesKey{keyOf(files[:])}
}

// A FileCipher seals and opens the chunks of one file. It is safe for concurrent use,
// and prints as "[redacted]".
type FileCipher struct {
	redacted
	aead cipher.AEAD
}

// File returns the cipher of the file with that blob id. No two files of a push may
// have the same id, and all ids must have the same length.
func (k FilesKey) File(blob []byte) *FileCipher {
	file := hkdfSHA256(k.bytes(), blob, infoFile)
	return &FileCipher{aead: must(chacha20poly1305.New(file[:]))}
}

// Seal appends chunk n of the file, sealed, to dst and returns the extended slice.
// Chunks count from 0, and last says that no more follow. The result is ChunkOverhead
// bytes longer than plain. To seal in place, pass plain[:0] as dst; otherwise the two
// must not overlap.
//
// It panics unless plain has the size of a chunk: ChunkSize bytes, or in the last chunk
// of a file 1 to ChunkSize, or none if the file is empty. A chunk must not be sealed
// twice with different bytes: an attacker who has both can read from them, and forge
// others.
func (c *FileCipher) Seal(dst []byte, n uint64, last bool, plain []byte) []byte {
	if !fits(n, last, len(plain)) {
		panic(fmt.Sprintf("seal: chunk %d (last: %t) cannot have %d bytes", n, last, len(plain)))
	}
	nonce := chunkNonce(n, last)
	return c.aead.Seal(dst, nonce[:], plain, nil)
}

// Open appends the plain bytes of chunk n of the file to dst and returns the extended
// slice. To open in place, pass sealed[:0] as dst, which overwrites sealed even on an
// error; otherwise the two must not overlap.
//
// The error is ErrOpen if sealed is not the result of Seal for the same file, n and last. So a
// caller that opens all chunks in order, and the final one as the last, detects missing, moved and
// additional chunks.
func (c *FileCipher) Open(dst []byte, n uint64, last bool, sealed []byte) ([]byte, error) {
	if !fits(n, last, len(sealed)-ChunkOverhead) {
		return nil, fmt.Errorf("chunk %d: %w: it has a wrong length", n, ErrOpen)
	}
	nonce := chunkNonce(n, last)
	out, err := c.aead.Open(dst, nonce[:], sealed, nil)
	if err != nil {
		return nil, fmt.Errorf("chunk %d: %w: it was changed, moved, or sealed under another key", n, ErrOpen)
	}
	return out, nil
}

// chunkNonce returns an 11-byte big-endian counter and a byte that is 1 for the last
// chunk.
func chunkNonce(n uint64, last bool) (nonce [chacha20poly1305.NonceSize]byte) {
	binary.BigEndian.PutUint64(nonce[3:], n)
	if last {
		nonce[11] = 1
	}
	return nonce
}

const (
	// ChunkSize is the size in bytes of each chunk of a file except the last: chunk n
	// begins at byte n × ChunkSize of the file.
	ChunkSize = 64 << 10
	// ChunkOverhead is how many bytes a sealed chunk is longer than its plain bytes.
	ChunkOverhead = chacha20poly1305.Overhead
)

// Chunks returns the number of chunks of a file of size bytes: at least one, since an
// empty file has an empty chunk. The size must not be negative.
func Chunks(size int64) int64 {
	return (max(size, 1)-1)/ChunkSize + 1
}

// SealedSize returns the total size of the sealed chunks of a file of size bytes, or
// math.MaxInt64 if it is greater. The size must not be negative.
func SealedSize(size int64) int64 {
	extra := Chunks(size) * ChunkOverhead
	if size > math.MaxInt64-extra {
		return math.MaxInt64
	}
	return size + extra
}

// fits reports whether chunk n can have that many bytes. A file can be cut into chunks in only one
// way, so the chunk of each byte is known.
func fits(n uint64, last bool, size int) bool {
	switch {
	case !last:
		return size == ChunkSize
	case n == 0:
		return size >= 0 && size <= ChunkSize
	default:
		return size >= 1 && size <= ChunkSize
	}
}
