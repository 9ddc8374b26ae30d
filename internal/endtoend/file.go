package endtoend

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"io"
)

const (
	chunkSize  = 64 << 10 // bytes of a file that are encrypted at once
	sealedSize = chunkSize + tagSize
	prefixSize = 7 // bytes of the nonce that all chunks of a file share
	maxChunks  = 1 << 32
)

// errTooLong says that a file has more chunks than the counter has numbers.
var errTooLong = errors.New("the file is too long to be encrypted")

// EncryptedSize returns the length of a file of n bytes after encryption.
func EncryptedSize(n int64) int64 {
	return prefixSize + n + max(1, (n+chunkSize-1)/chunkSize)*tagSize
}

// DecryptedSize returns the length of a file whose encrypted form has n bytes.
func DecryptedSize(n int64) int64 {
	n -= prefixSize
	return max(0, n-max(1, (n+sealedSize-1)/sealedSize)*tagSize)
}

// A stream encrypts or decrypts the chunks of a file in order: the STREAM construction.
type stream struct {
	aead  cipher.AEAD
	nonce [nonceSize]byte // prefix, number of the chunk, 1 in the last chunk
	next  uint64
}

func (s *stream) step(last bool) ([]byte, error) {
	if s.next == maxChunks {
		return nil, errTooLong
	}
	binary.BigEndian.PutUint32(s.nonce[prefixSize:], uint32(s.next))
	if last {
		s.nonce[nonceSize-1] = 1
	}
	s.next++
	return s.nonce[:], nil
}

// Encrypt returns a reader of the encrypted form of r, the file with that number; the
// first is 1. Each number must be used once.
func (k Key) Encrypt(number int, r io.Reader) io.Reader { return k.encrypt(number, r, rand.Reader) }

func (k Key) encrypt(number int, r, random io.Reader) io.Reader {
	return &encrypter{stream: stream{aead: k.fileCipher(number)}, from: r, random: random}
}

// An encrypter reads one byte more than a chunk, and so knows which chunk is the last.
type encrypter struct {
	stream
	from, random io.Reader
	plain        []byte // that was read and is not encrypted
	room         []byte
	out          []byte // that was encrypted and is not read
	err          error
}

// Read encrypts the next chunk when the one before was read.
func (e *encrypter) Read(p []byte) (int, error) {
	if len(e.out) == 0 && e.err == nil {
		e.err = e.fill()
	}
	if len(e.out) == 0 {
		return 0, e.err
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}

// fill encrypts a chunk into out. Its error holds once out is read.
func (e *encrypter) fill() error {
	if e.room == nil {
		e.plain, e.room = make([]byte, 0, chunkSize+1), make([]byte, prefixSize, prefixSize+sealedSize)
		if _, err := io.ReadFull(e.random, e.nonce[:prefixSize]); err != nil {
			return err
		}
		copy(e.room, e.nonce[:prefixSize])
	} else {
		e.room = e.room[:0]
	}
	have := len(e.plain)
	n, err := io.ReadFull(e.from, e.plain[have:cap(e.plain)])
	e.plain = e.plain[:have+n]
	last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !last {
		return err
	}
	chunk := e.plain[:min(len(e.plain), chunkSize)]
	nonce, err := e.step(last)
	if err != nil {
		return err
	}
	e.out = e.aead.Seal(e.room, nonce, chunk, nil)
	e.plain = e.plain[:copy(e.plain, e.plain[len(chunk):])]
	if last {
		return io.EOF
	}
	return nil
}

// A Decrypter decrypts a file that is written to it. Its output is authentic, but only Close
// confirms that the file is complete.
type Decrypter struct {
	stream
	to     io.Writer
	sealed []byte // the part of a prefix or a chunk that was written so far
	begun  bool   // the prefix was read
	err    error
}

// Decrypt returns a writer that decrypts the file with that number to w.
func (k Key) Decrypt(number int, w io.Writer) *Decrypter {
	return &Decrypter{stream: stream{aead: k.fileCipher(number)}, to: w, sealed: make([]byte, 0, sealedSize)}
}

// Reset makes the decrypter begin with the first byte again.
func (d *Decrypter) Reset() {
	d.sealed, d.begun, d.err = d.sealed[:0], false, nil
	d.next, d.nonce = 0, [nonceSize]byte{}
}

// Write decrypts all chunks that are followed by another one. The error is ErrOpen, or
// that of the writer behind.
func (d *Decrypter) Write(p []byte) (n int, err error) {
	for len(p) > 0 && d.err == nil {
		if len(d.sealed) == d.want() {
			d.err = d.flush(false)
			continue
		}
		m := min(len(p), d.want()-len(d.sealed))
		d.sealed = append(d.sealed, p[:m]...)
		p, n = p[m:], n+m
	}
	return n, d.err
}

func (d *Decrypter) want() int {
	if !d.begun {
		return prefixSize
	}
	return sealedSize
}

// flush takes the prefix, or decrypts a chunk.
func (d *Decrypter) flush(last bool) error {
	if !d.begun {
		copy(d.nonce[:], d.sealed)
		d.sealed, d.begun = d.sealed[:0], true
		return nil
	}
	nonce, err := d.step(last)
	if err != nil {
		return err
	}
	plain, err := d.aead.Open(d.sealed[:0], nonce, d.sealed, nil)
	if err != nil || len(plain) == 0 && d.next > 1 { // only an empty file has an empty chunk
		return ErrOpen
	}
	d.sealed = d.sealed[:0]
	_, err = d.to.Write(plain)
	return err
}

// Close decrypts the last chunk. The error is ErrOpen if the file is not whole.
func (d *Decrypter) Close() error {
	if d.err == nil && !d.begun && len(d.sealed) == prefixSize {
		d.err = d.flush(false)
	}
	switch {
	case d.err != nil:
	case !d.begun:
		d.err = ErrOpen
	default:
		d.err = d.flush(true)
	}
	return d.err
}
