package strictjson_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"pushbox/internal/strictjson"
	"pushbox/internal/testkit/env"
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
		var err error
		if got := env.Allocated(func() { err = strictjson.NewDecoder(text).End() }); err != nil || name != "an array" && got > 256<<10 {
			t.Errorf("%s of %d bytes: %d bytes allocated, %v", name, size, got, err)
		}
	}
}

// object is an object of n members whose keys have the given length.
func object(n, length int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%0*d":%d`, length, i, i)
	}
	return "{" + b.String() + "}"
}

func TestBothSidesOfEachLimit(t *testing.T) {
	t.Parallel()
	const maxKey, maxKeys = strictjson.MaxKey, strictjson.MaxKeys
	half := object(maxKeys/2/512, 512)
	for _, c := range []struct {
		name, text, reason string
	}{
		{"the most members", object(strictjson.MaxMembers, 4), ""},
		{"a member more", object(strictjson.MaxMembers+1, 4), "too many members"},
		{"few members, none twice", object(16, 2), ""},
		{"a key more than are compared one by one", object(17, 2), ""},
		{"the longest key", object(1, maxKey), ""},
		{"a longer key", object(1, maxKey+1), "keys are too long"},
		{"the longest key, escaped", `{"` + strings.Repeat(`\u0061`, maxKey) + `":1}`, ""},
		{"a longer key, escaped", `{"` + strings.Repeat(`\u0061`, maxKey+1) + `":1}`, "keys are too long"},
		{"the most bytes of keys", object(maxKeys/maxKey, maxKey), ""},
		{"a byte of keys more", strings.Replace(object(maxKeys/maxKey, maxKey), "}", `,"x":1}`, 1), "keys are too long"},
		{"as many again in the next object", "[" + half + "," + half + "," + half + "]", ""},
		{"as many in an object and one within", strings.Replace(half, ":63", ":"+half, 1), ""},
		{"a byte more in one within", strings.Replace(half, ":63", ":"+strings.Replace(half, ":63", `:{"x":1}`, 1), 1), "keys are too long"},
		{"the longest number", strings.Repeat("1", strictjson.MaxLiteral), ""},
		{"a longer number", strings.Repeat("1", strictjson.MaxLiteral+1), "number or word"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for name, r := range readers(c.text) {
				err := strictjson.NewDecoder(r).End()
				if c.reason == "" && err != nil {
					t.Errorf("%s: refused: %v", name, err)
				}
				if c.reason != "" && (!errors.Is(err, strictjson.ErrSyntax) || !strings.Contains(err.Error(), c.reason)) {
					t.Errorf("%s: %v; want %q", name, err, c.reason)
				}
			}
		})
	}
}

func TestADuplicateIsFoundWhereverItStands(t *testing.T) {
	t.Parallel()
	for _, members := range []int{1, 15, 16, 17, 18, 100, strictjson.MaxMembers - 1} {
		text := object(members, 4)
		for _, twice := range []int{0, members / 2, members - 1} {
			again := strings.Replace(text, "}", fmt.Sprintf(`,"%04d":0}`, twice), 1)
			err := strictjson.NewDecoder(strings.NewReader(again)).End()
			if err == nil || !strings.Contains(err.Error(), "twice") {
				t.Errorf("key %d of %d again: %v", twice, members, err)
			}
		}
	}
}

func TestAStringPastItsLimitIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		inside string
		limit  int
		want   error
	}{
		{"", 0, nil},
		{"a", 0, strictjson.ErrTooLong},
		{"", -1, strictjson.ErrTooLong},
		{"12345", 5, nil},
		{"123456", 5, strictjson.ErrTooLong},
		{`\u00e9\u00e9`, 4, nil}, // it is bytes that count, unescaped
		{`\u00e9\u00e9`, 3, strictjson.ErrTooLong},
		{`\ud83d\ude00`, 4, nil},
		{`\ud83d\ude00`, 3, strictjson.ErrTooLong},
		{strings.Repeat("x", 100_000), 100_000, nil},
		{strings.Repeat("x", 100_001), 100_000, strictjson.ErrTooLong},
		{strings.Repeat(`\n`, 50_000) + "x", 50_000, strictjson.ErrTooLong},
	} {
		for name, r := range readers(`["` + c.inside + `","next"]`) {
			d := strictjson.NewDecoder(r)
			limit, got := c.limit, []error(nil)
			err := d.Array(func() error {
				_, err := d.String(limit)
				got = append(got, err)
				limit = 10
				return nil
			})
			if err == nil {
				err = d.End()
			}
			if err != nil || len(got) != 2 || got[0] != c.want || got[1] != nil {
				t.Errorf("%d bytes, %s: %v, then %v", len(c.inside), name, got, err)
			}
		}
	}
}

func TestAStringPastItsLimitIsStillChecked(t *testing.T) {
	t.Parallel()
	d := strictjson.NewDecoder(strings.NewReader("\"too long and then \xff\""))
	_, err := d.String(3)
	env.ErrorIs(t, "the error", err, strictjson.ErrSyntax)
}
