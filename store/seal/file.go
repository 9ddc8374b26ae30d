package seal

import (
	"crypto/cipher"
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// A FilesKey opens the files of one push, and nothing else of it. It prints as
// "[redacted]". The zero value is no key, and its use panics.
type FilesKey struct{ key }

// FilesKey returns the key of the files of the push that k belongs to: the same
// each time.
func (k DEK) FilesKey() FilesKey {
	files := deriveKey(k.bytes(), nil, infoFiles)
	return FilesKey{keyOf(files[:])}
}

// A FileCipher seals and opens the chunks of one file. It is safe for concurrent
// use, is handed about by pointer, and prints as "[redacted]".
type FileCipher struct {
	redacted
	aead cipher.AEAD
}

// File returns the cipher of the file that is kept under that blob id. No two
// files of a push may have the same id, and all ids have one length.
func (k FilesKey) File(blob []byte) *FileCipher {
	file := deriveKey(k.bytes(), blob, infoFile)
	return &FileCipher{aead: must(chacha20poly1305.New(file[:]))}
}

// Seal appends chunk n of the file, sealed, to dst and returns the extended
// slice; chunks count from 0, and last tells that there are no more. The result
// has ChunkOverhead bytes more than plain. To seal in place, give plain[:0] as
// dst; otherwise the two must not overlap.
//
// It panics unless plain is what a chunk holds: ChunkSize bytes, or in the last
// one of a file 1 to ChunkSize, or none at all if the file is empty. A chunk
// must not be sealed twice with different bytes: whoever has both can then read
// from them, and forge others.
func (c *FileCipher) Seal(dst []byte, n uint64, last bool, plain []byte) []byte {
	if !fits(n, last, len(plain)) {
		panic(fmt.Sprintf("seal: chunk %d (last: %t) cannot have %d bytes", n, last, len(plain)))
	}
	nonce := chunkNonce(n, last)
	return c.aead.Seal(dst, nonce[:], plain, nil)
}

// Open appends the plain bytes of chunk n of the file to dst and returns the
// extended slice. To open in place, give sealed[:0] as dst, which overwrites
// sealed even on an error; otherwise the two must not overlap.
//
// ErrOpen if sealed is not what Seal made for the same file, n and last. So
// whoever opens the chunks that are there, in order, and takes the final one for
// the last, finds out when some are missing, moved, or more than there were.
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

// chunkNonce returns an 11-byte big-endian counter and a byte that is 1 in the
// last chunk.
func chunkNonce(n uint64, last bool) (nonce [chacha20poly1305.NonceSize]byte) {
	binary.BigEndian.PutUint64(nonce[3:], n)
	if last {
		nonce[11] = 1
	}
	return nonce
}
