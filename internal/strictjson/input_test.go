package strictjson_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"pushbox/internal/strictjson"
)

func TestAnErrorOfTheReaderIsReturnedAsItIs(t *testing.T) {
	t.Parallel()
	const text = ` {"a":["text \u00e9 😀",-1.5,true,null]} `
	for cut := range len(text) + 1 {
		for _, want := range []error{os.ErrDeadlineExceeded, io.ErrUnexpectedEOF} {
			d := strictjson.NewDecoder(io.MultiReader(strings.NewReader(text[:cut]), iotest.ErrReader(want)))
			if err := d.End(); err != want {
				t.Errorf("after %d bytes: %v; want %v", cut, err, want)
			}
			if err := d.Skip(); err != want {
				t.Errorf("after %d bytes, asked again: %v; want %v", cut, err, want)
			}
		}
	}
}

func TestABodyPastItsLimitIsAMaxBytesError(t *testing.T) {
	t.Parallel()
	const text = `{"payload":"0123456789"}`
	for limit, fits := range map[int64]bool{int64(len(text)): true, int64(len(text)) - 1: false, 1: false} {
		_, err := tree(http.MaxBytesReader(nil, io.NopCloser(strings.NewReader(text)), limit))
		var tooLarge *http.MaxBytesError
		if fits != (err == nil) || !fits && !errors.As(err, &tooLarge) {
			t.Errorf("%d bytes allowed: %v", limit, err)
		}
	}
}

// silent never yields anything.
type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

func TestAReaderThatYieldsNothingIsGivenUp(t *testing.T) {
	t.Parallel()
	if err := strictjson.NewDecoder(silent{}).End(); err != io.ErrNoProgress {
		t.Errorf("the error is %v", err)
	}
}

// endless is a reader of n times the same text.
type endless struct {
	text string
	n    int
	rest string
}

func (e *endless) Read(p []byte) (int, error) {
	if e.rest == "" {
		if e.n == 0 {
			return 0, io.EOF
		}
		e.n--
		e.rest = e.text
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func TestALongTextIsSkippedInLittleMemory(t *testing.T) { // not parallel: it counts allocations
	const size = 1 << 20
	chunk := strings.Repeat("QUJD", 16<<10)
	for name, parts := range map[string][3]string{
		"a string":    {`["`, chunk, `"]`},
		"an array":    {`[0`, strings.Repeat(",1", len(chunk)/2), `]`},
		"white space": {`[`, strings.Repeat(" ", len(chunk)), `]`},
	} {
		text := io.MultiReader(strings.NewReader(parts[0]),
			&endless{text: parts[1], n: size / len(chunk)}, strings.NewReader(parts[2]))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := strictjson.NewDecoder(text).End()
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err != nil || name != "an array" && got > 256<<10 {
			t.Errorf("%s of %d bytes: %d bytes allocated, %v", name, size, got, err)
		}
	}
}
