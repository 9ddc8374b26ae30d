package body

import (
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/internal/limit"
	"pushbox/internal/testkit/env"
)

const memoryWait = 5 * time.Second

// newReader returns a Reader of a body of size bytes that may all be text, and the
// memory it reserves from: four times that much.
func newReader(t *testing.T, size, maxText int64) (*Reader, *limit.Memory) {
	t.Helper()
	all := limit.NewMemory(4*maxText, memoryWait)
	memory := all.Reserve(limit.Holder{})
	r := NewReader(httptest.NewRequest("POST", "/", io.LimitReader(endless{}, size)), nil)
	r.begin(t.Context(), Options{MaxText: maxText, Memory: &memory})
	return &r, all
}

// endless yields zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// A fileFunc is a FileSink that reads files.
type fileFunc func(f *File) error

func (fileFunc) Field(string, Value) error { return nil }
func (f fileFunc) File(file *File) error   { return f(file) }
func (fileFunc) Describe(string, string)   {}
func (fileFunc) Expect(int64) error        { return nil }

// mustReserve reserves n bytes that are free.
func mustReserve(t *testing.T, m *limit.Memory, n int64) *limit.Reservation {
	t.Helper()
	r := m.Reserve(limit.Holder{})
	env.OK(t, r.Resize(t.Context(), n))
	return &r
}

func TestABodyReservesTheMemoryThatItNeedsAtTheTime(t *testing.T) {
	t.Parallel()
	const maxText, content = 8 << 20, 64 << 20
	r, _ := newReader(t, maxText+content, maxText)
	memory := r.options.Memory
	held := func(when string, want int64) {
		t.Helper()
		if memory.Held() != want {
			t.Errorf("%s it holds %d bytes, not %d", when, memory.Held(), want)
		}
	}
	read := func(from io.Reader, n int64) {
		t.Helper()
		env.Must(io.CopyN(io.Discard, from, n))(t)
	}
	held("at first", 0)
	read(r, 1000)
	held("with little text", 0)
	r.options.Files = fileFunc(func(file *File) error {
		if err := file.Reserve(); err != nil {
			return err
		}
		held("at a file", UploadMemory+r.text())
		read(file, content/2)
		return nil
	})
	for range 2 {
		env.OK(t, r.file(r, 0, func() int64 { return r.read }))
		held("behind a file", UploadMemory+r.text())
		read(r, freeText)
		held("with little text behind a file", UploadMemory+r.text()-freeText)
	}
	read(r, 1)
	if most := UploadMemory + textFactor*r.text(); memory.Held() < r.text() || memory.Held() > most {
		t.Errorf("with more text behind a file it holds %d bytes, not %d at most", memory.Held(), most)
	}
	env.OK(t, r.end(nil))
	held("at the end", r.text())
}

// emptyFile reads an empty file of a body.
func (r *Reader) emptyFile() error {
	r.options.Files = fileFunc(func(f *File) error {
		_, err := io.Copy(io.Discard, f)
		return err
	})
	return r.file(strings.NewReader(""), 0, func() int64 { return 0 })
}

func TestTextBehindAFileWaitsForMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const maxText = 8 << 20
		for _, freed := range []bool{true, false} {
			r, all := newReader(t, maxText, maxText)
			env.OK(t, r.emptyFile())
			others := mustReserve(t, all, 4*maxText-UploadMemory)
			if freed {
				time.AfterFunc(memoryWait/2, others.Release)
			}
			begin := time.Now()
			n, err := io.Copy(io.Discard, r)
			switch {
			case freed && (err != nil || n != maxText || time.Since(begin) != memoryWait/2):
				t.Errorf("with memory it read %d bytes, %v", n, err)
			case !freed && (!errors.Is(err, limit.ErrBusy) || n > freeText+readAhead || time.Since(begin) != memoryWait):
				t.Errorf("without memory it read %d bytes, %v", n, err)
			}
		}
	})
}

func TestAFileNeedsMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const maxText = 8 << 20
		r, all := newReader(t, 100, maxText)
		others := mustReserve(t, all, 4*maxText-UploadMemory+1)
		begin := time.Now()
		if err := r.emptyFile(); !errors.Is(err, limit.ErrBusy) || time.Since(begin) != memoryWait {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		others.Shrink(4*maxText - UploadMemory)
		if err := r.emptyFile(); err != nil {
			t.Error(err)
		}
	})
}

func TestABodyThatIsCutIsABadBody(t *testing.T) {
	t.Parallel()
	r, _ := newReader(t, 10, 1000)
	r.http.Body = io.NopCloser(io.MultiReader(strings.NewReader("abc"), failing{}))
	got, err := io.ReadAll(r)
	if string(got) != "abc" || err != ErrCut {
		t.Errorf("%q, %v", got, err)
	}
	if _, again := r.Read(make([]byte, 1)); again != ErrCut || r.fault(ErrMultipart) != ErrCut {
		t.Errorf("and then %v, %v", again, r.fault(ErrMultipart))
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("secret words of the network") }

func TestABodyThatIsNotReadToItsEndIsAbandoned(t *testing.T) {
	t.Parallel()
	for read, want := range map[int64]bool{9: true, 10: true, 11: false} { // the end comes with the eleventh
		r, _ := newReader(t, 10, 1000)
		_, _ = io.CopyN(io.Discard, r, read)
		if err := r.end(ErrTwice); err != ErrTwice || r.Abandoned() != want {
			t.Errorf("after %d bytes: %v, abandoned %t", read, err, r.Abandoned())
		}
	}
}

// A countedReader counts what is read of it.
type countedReader struct {
	io.Reader
	read int
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	return n, err
}

func TestAFormWithTooManyFieldsIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	for pairs, want := range map[int]error{maxFields: nil, maxFields + 1: ErrFields, 400_000: ErrFields} {
		var text strings.Builder
		for range pairs {
			text.WriteString("&&other=x&")
		}
		content := &countedReader{Reader: strings.NewReader(text.String())}
		hr := httptest.NewRequest("POST", "/", content)
		hr.Header.Set("Content-Type", TypeForm)
		r := NewReader(hr, nil)
		err := Read(t.Context(), &r, Options{Object: "push", MaxText: 8 << 20}, make(Form))
		if !errors.Is(err, want) {
			t.Errorf("%d pairs: %v", pairs, err)
		}
		if most := 11*maxFields + textStep; content.read > most && want != nil {
			t.Errorf("of %d pairs %d bytes were read, not %d at most", pairs, content.read, most)
		}
	}
}

func TestLineBreaksInBase64AreFewerThanTheRest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want error
	}{
		"none":                {strings.Repeat("QUJD", 1000), nil},
		"each 76 characters":  {strings.Repeat(strings.Repeat("QUJD", 19)+"\r\n", 100), nil},
		"each 4 characters":   {strings.Repeat("QUJD\r\n", 10_000), nil},
		"just free":           {strings.Repeat("\n", freeBreaks) + "QUJD", nil},
		"too many":            {strings.Repeat("\n", freeBreaks+3) + "QUJD", errBase64},
		"nothing but breaks":  {strings.Repeat("\r\n", 1<<20), errBase64},
		"more than the rest":  {strings.Repeat("QUJD\n\n\n\n\n", 1000), errBase64},
		"after the padding":   {"QQ==" + strings.Repeat("\n", freeBreaks+3), errBase64},
		"a few after padding": {"QQ==\n", nil},
	} {
		_, err := io.Copy(io.Discard, newBase64Reader(strings.NewReader(test.text)))
		env.ErrorIs(t, name, err, test.want)
	}
}
