package endtoend

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

func encrypted(t testing.TB, key Key, number, size int) []byte {
	t.Helper()
	return env.Must(io.ReadAll(key.Encrypt(number, bytes.NewReader(pattern(size)))))(t)
}

func TestChangedFilesAreNoticed(t *testing.T) {
	t.Parallel()
	key, other := NewKey(), NewKey()
	whole := encrypted(t, key, 1, 3*chunkSize)
	chunk := func(n int) []byte { return whole[prefixSize+n*sealedSize:][:sealedSize] }
	changed := func(at int) []byte {
		b := slices.Clone(whole)
		b[at] ^= 1
		return b
	}
	for name, sealed := range map[string][]byte{
		"nothing":                 nil,
		"only the prefix":         whole[:prefixSize],
		"a part of the prefix":    whole[:3],
		"cut between chunks":      whole[:prefixSize+2*sealedSize],
		"cut in a chunk":          whole[:len(whole)-1],
		"longer":                  append(slices.Clone(whole), 0),
		"chunks in another order": slices.Concat(whole[:prefixSize], chunk(1), chunk(0), chunk(2)),
		"a chunk twice":           slices.Concat(whole[:prefixSize], chunk(0), chunk(0), chunk(1), chunk(2)),
		"a chunk less":            slices.Concat(whole[:prefixSize], chunk(0), chunk(2)),
		"the last chunk twice":    slices.Concat(whole, chunk(2)),
		"another prefix":          changed(0),
		"a bit in the first":      changed(prefixSize),
		"a bit in the last tag":   changed(len(whole) - 1),
		"another file":            encrypted(t, key, 2, 10),
		"a file of another push":  encrypted(t, other, 1, 10),
	} {
		_, err := decrypt(key, 1, sealed)
		env.ErrorIs(t, name, err, ErrOpen)
	}
}

func TestAnEmptyChunkBehindOthersIsRefused(t *testing.T) {
	t.Parallel()
	key := NewKey()
	e := stream{aead: key.fileCipher(1)}
	sealed := make([]byte, prefixSize)
	for i, plain := range [][]byte{pattern(chunkSize), nil} {
		nonce := env.Must(e.step(i == 1))(t)
		sealed = e.aead.Seal(sealed, nonce, plain, nil)
	}
	_, err := decrypt(key, 1, sealed)
	env.ErrorIs(t, "it", err, ErrOpen)
}

// FuzzFiles checks that a file comes back whatever the pieces in which it is read and
// written, and that no change of a byte stays unnoticed.
func FuzzFiles(f *testing.F) {
	f.Add(0, 1, uint(0), byte(1))
	f.Add(chunkSize, 7, uint(90), byte(0))
	f.Add(chunkSize+1, chunkSize, uint(chunkSize+30), byte(128))
	f.Add(3*chunkSize-1, 3*chunkSize, uint(1<<40), byte(3))
	f.Fuzz(func(t *testing.T, size, piece int, at uint, flip byte) {
		size, piece = max(0, size%(4*chunkSize)), max(1, piece%(2*sealedSize))
		key := NewKey()
		sealed, err := io.ReadAll(key.Encrypt(1, iotest.HalfReader(bytes.NewReader(pattern(size)))))
		if err != nil || int64(len(sealed)) != EncryptedSize(int64(size)) || DecryptedSize(int64(len(sealed))) != int64(size) {
			t.Fatalf("%d bytes became %d, %v", size, len(sealed), err)
		}
		sealed[at%uint(len(sealed))] ^= flip
		var out bytes.Buffer
		d := key.Decrypt(1, &out)
		for part := range slices.Chunk(sealed, piece) {
			if _, err = d.Write(part); err != nil {
				break
			}
		}
		if err == nil {
			err = d.Close()
		}
		if flip == 0 && (err != nil || !bytes.Equal(out.Bytes(), pattern(size))) {
			t.Fatalf("%d bytes in pieces of %d came back as %d, %v", size, piece, out.Len(), err)
		}
		if flip != 0 && !errors.Is(err, ErrOpen) {
			t.Fatalf("byte %d changed by %d: %v", at, flip, err)
		}
	})
}

// FuzzEnvelope checks that any text comes back, and that no other text is opened.
func FuzzEnvelope(f *testing.F) {
	f.Add("a text", "name.txt", "pushbox-end-to-end.1.")
	f.Fuzz(func(t *testing.T, text, name, other string) {
		text, name = strings.ToValidUTF8(text, "?"), strings.ToValidUTF8(name, "?")
		key := NewKey()
		sealed, err := key.Seal(Content{secret.New(text), []File{{name + ".", "a/b"}}})
		if err != nil || !IsEnvelope(sealed.Reveal()) {
			t.Fatalf("%q: %v", text, err)
		}
		c, err := key.Open(sealed)
		if err != nil || c.Text.Reveal() != text || c.Files[0] != (File{name + ".", "a/b"}) {
			t.Fatalf("%q came back as %q %v, %v", text, c.Text.Reveal(), c.Files, err)
		}
		if _, err := key.Open(secret.New(other)); err == nil {
			t.Fatalf("%q was opened", other)
		}
		if k, err := ParseFragment(other); err == nil && k.Fragment().Reveal() != other {
			t.Fatalf("the key %q was taken", other)
		}
	})
}

func TestErrorsOfTheOtherSideAreThoseOfReaderAndWriter(t *testing.T) {
	t.Parallel()
	broken, key := errors.New("broken"), NewKey()
	_, err := io.ReadAll(key.Encrypt(1, io.MultiReader(bytes.NewReader(pattern(chunkSize+5)), iotest.ErrReader(broken))))
	env.ErrorIs(t, "reading", err, broken)
	pr, pw := io.Pipe()
	_ = pr.CloseWithError(broken)
	d := key.Decrypt(1, pw)
	if _, err := d.Write(encrypted(t, key, 1, chunkSize+5)); !errors.Is(err, broken) || !errors.Is(d.Close(), broken) {
		t.Errorf("writing: %v", err)
	}
}

func TestADecrypterCanBeginAgain(t *testing.T) {
	t.Parallel()
	key := NewKey()
	var out bytes.Buffer
	d := key.Decrypt(1, &out)
	_, _ = d.Write([]byte("rubbish that is longer than a prefix"))
	if d.Close() == nil {
		t.Fatal("rubbish was taken")
	}
	d.Reset()
	out.Reset()
	if _, err := d.Write(encrypted(t, key, 1, 2*chunkSize+3)); err != nil || d.Close() != nil || !bytes.Equal(out.Bytes(), pattern(2*chunkSize+3)) {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
}

func TestNothingShowsAKey(t *testing.T) {
	t.Parallel()
	key := NewKey()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		if shown := fmt.Sprintf(verb, key); strings.Contains(shown, key.bytes.Reveal()) || strings.Contains(shown, fmt.Sprintf("%x", key.bytes.Reveal())) {
			t.Errorf("%s writes %s", verb, shown)
		}
	}
}

func TestLargeFilesNeedLittleMemory(t *testing.T) { // alone, because it counts what the program allocates
	const size = 64 << 20
	key := NewKey()
	used := env.Allocated(func() {
		d := key.Decrypt(1, io.Discard)
		if n, err := io.Copy(d, key.Encrypt(1, io.LimitReader(zeros{}, size))); err != nil || d.Close() != nil || n != EncryptedSize(size) {
			t.Fatalf("%d bytes, %v", n, err)
		}
	})
	if used > 1<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
