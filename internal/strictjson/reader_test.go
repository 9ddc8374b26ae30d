package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"pushbox/internal/strictjson"
	"pushbox/internal/testkit/env"
)

// stringsToRead are strings as they are in a JSON text, quotes and all.
func stringsToRead() (list []string) {
	for _, s := range []string{
		"", "x", "QUJD\r\nREVG", "é€😀 \x00\x1f\x7f\u2028 \"\\/", strings.Repeat("0123456789", 10_000),
		strings.Repeat("é€😀\n", 5_000), strings.Repeat("\x01", 3_000),
	} {
		b, _ := json.Marshal(s)
		list = append(list, string(b))
	}
	return append(list, `"\ud83d\ude00\/"`, `"QUJD\/\/QUJD"`)
}

func TestAStringIsReadAsAStreamAsItIsReadWhole(t *testing.T) {
	t.Parallel()
	for _, text := range stringsToRead() {
		want := env.Must(strictjson.NewDecoder(strings.NewReader(text)).String(1 << 20))(t)
		for name, r := range readers(text) {
			for _, size := range []int{1, 2, 3, 100, 1 << 10, 64 << 10} {
				d := strictjson.NewDecoder(r)
				stream := env.Must(d.Text())(t)
				got, err := readBy(stream, size)
				if err != nil || got != want {
					t.Errorf("%.40q, %s, by %d: %d bytes of %d, %v", text, name, size, len(got), len(want), err)
				}
				if n, err := stream.Read(make([]byte, 1)); n != 0 || err != io.EOF {
					t.Errorf("%.40q, behind its end: %d, %v", text, n, err)
				}
				if err := d.End(); err != nil || d.Offset() != int64(len(text)) {
					t.Errorf("%.40q, %s: then %v at %d", text, name, err, d.Offset())
				}
				r = strings.NewReader(text)
			}
		}
	}
}

// readBy reads with a buffer of that size.
func readBy(r io.Reader, size int) (string, error) {
	var b strings.Builder
	for p := make([]byte, size); ; {
		n, err := r.Read(p)
		b.Write(p[:n])
		if err == io.EOF {
			return b.String(), nil
		}
		if err != nil {
			return b.String(), err
		}
	}
}

func TestReadingAStringYieldsWhatThereIsWithoutWaiting(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer w.Close()
	go func() { _, _ = io.WriteString(w, `"begun`) }()
	stream := env.Must(strictjson.NewDecoder(r).Text())(t)
	p := make([]byte, 100)
	if n, err := stream.Read(p); err != nil || string(p[:n]) != "begun" {
		t.Errorf("%q, %v", p[:n], err)
	}
}

func TestWhatIsLeftOfAStringIsSkippedAndChecked(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	for _, read := range []int64{0, 1, 2_000, 99_999, 100_000} {
		for text, want := range map[string]string{
			`{"a":"` + long + `","b":"next"}`:   "",
			`{"a":"` + long + `\q","b":"next"}`: "an escape is not valid",
			`{"a":"` + long + "\xff\",\"b\":1}": "not valid UTF-8",
			`{"a":"` + long:                     "the text ends too soon",
		} {
			var left io.Reader
			next := ""
			d := strictjson.NewDecoder(strings.NewReader(text))
			err := d.Object(func(key string) (err error) {
				if key == "b" {
					next, err = d.String(10)
					return err
				}
				if left, err = d.Text(); err == nil {
					_, err = io.CopyN(io.Discard, left, read)
				}
				return err
			})
			if want == "" && (err != nil || next != "next" || d.End() != nil) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%d bytes read: %v and %q; want %q", read, err, next, want)
			}
			if _, after := left.Read(make([]byte, 1)); err == nil && after != strictjson.ErrPassed || err != nil && after != err {
				t.Errorf("%d bytes read, and then: %v", read, after)
			}
		}
	}
}

func TestAStringThatIsTheWholeTextMayBeLeft(t *testing.T) {
	t.Parallel()
	for text, fits := range map[string]bool{`"abc" `: true, `"abc" 1`: false, `"abc`: false, `"\q"`: false} {
		d := strictjson.NewDecoder(strings.NewReader(text))
		env.Must(d.Text())(t)
		if err := d.End(); fits != (err == nil) || err != nil && !errors.Is(err, strictjson.ErrSyntax) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestErrorsOfTheDecoderComeThroughTheReaderAndStay(t *testing.T) {
	t.Parallel()
	for _, c := range badStrings {
		d := strictjson.NewDecoder(strings.NewReader(`"` + c.inside + `"     `))
		stream := env.Must(d.Text())(t)
		_, err := io.ReadAll(stream)
		if !errors.Is(err, strictjson.ErrSyntax) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v", c.name, err)
		}
		if _, again := stream.Read(make([]byte, 1)); again != err || d.End() != err {
			t.Errorf("%s, asked again: %v", c.name, again)
		}
	}
	d := strictjson.NewDecoder(io.MultiReader(strings.NewReader(`"abc`), iotest.ErrReader(os.ErrDeadlineExceeded)))
	stream := env.Must(d.Text())(t)
	if got, err := io.ReadAll(stream); string(got) != "abc" || err != os.ErrDeadlineExceeded {
		t.Errorf("%q, %v", got, err)
	}
}

func TestALongStringIsReadInLittleMemory(t *testing.T) { // not parallel: it counts allocations
	const size = 4 << 20
	chunk := strings.Repeat("QUJD", 16<<10)
	text := io.MultiReader(strings.NewReader(`"`), &endless{text: chunk, n: size / len(chunk)}, strings.NewReader(`"`))
	got := env.Allocated(func() {
		stream := env.Must(strictjson.NewDecoder(text).Text())(t)
		if n, err := io.Copy(io.Discard, struct{ io.Reader }{stream}); err != nil || n != size {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
	if got > 256<<10 {
		t.Errorf("%d bytes allocated", got)
	}
}

// FuzzText checks that a string is the same, or is refused for the same reason, whether
// it is read whole or as a stream, in any sizes, and however much of it is left unread.
func FuzzText(f *testing.F) {
	for _, text := range stringsToRead() {
		f.Add([]byte(text[:min(len(text), 200)]), uint16(7), uint16(3))
	}
	for _, c := range badStrings {
		f.Add([]byte(`"`+c.inside+`" `), uint16(1), uint16(1))
	}
	f.Add([]byte(`"a" "b"`), uint16(1), uint16(0))
	f.Add([]byte(`1`), uint16(1), uint16(0))
	f.Fuzz(func(t *testing.T, data []byte, size, leave uint16) {
		whole := strictjson.NewDecoder(bytes.NewReader(data))
		want, wantErr := whole.String(len(data))
		d := strictjson.NewDecoder(iotest.HalfReader(bytes.NewReader(data)))
		got := ""
		stream, err := d.Text()
		if err == nil {
			got, err = readBy(stream, int(size)+1)
		}
		if text(err) != text(wantErr) || err == nil && got != want || !strings.HasPrefix(got, want) {
			t.Fatalf("%q, %v; whole it is %q, %v", got, err, want, wantErr)
		}
		wantEnd := whole.End()
		if end := d.End(); text(end) != text(wantEnd) || d.Offset() != whole.Offset() {
			t.Fatalf("it ends with %v at %d; whole with %v at %d", end, d.Offset(), wantEnd, whole.Offset())
		}
		left := strictjson.NewDecoder(bytes.NewReader(data))
		if stream, err = left.Text(); err == nil {
			_, _ = io.CopyN(io.Discard, stream, int64(leave))
		}
		if end := left.End(); text(end) != text(wantEnd) {
			t.Fatalf("left after %d bytes it ends with %v, not %v", leave, end, wantEnd)
		}
	})
}
