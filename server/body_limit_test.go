package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/storetest"
)

// aBody is a body of so many bytes whose text has a limit, with its share of a
// memory of four such limits.
func aBody(t *testing.T, size, limit int64) (*body, *bodies) {
	t.Helper()
	all := newBodies(4 * limit)
	b := &body{src: io.NopCloser(io.LimitReader(endless{}, size)), w: httptest.NewRecorder(), limit: limit}
	b.share(all.mustEnter(t, 0))
	return b, all
}

// endless yields zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestABodyHoldsTheMemoryThatItNeedsAtTheTime(t *testing.T) {
	t.Parallel()
	const limit, content = 8 << 20, 64 << 20
	b, _ := aBody(t, limit+content, limit)
	held := func(when string, want int64) {
		t.Helper()
		if b.memory.held != want {
			t.Errorf("%s it holds %d bytes, not %d", when, b.memory.held, want)
		}
	}
	read := func(n int64) {
		t.Helper()
		if _, err := io.CopyN(io.Discard, b, n); err != nil {
			t.Fatal(err)
		}
	}
	held("at first", 0)
	read(1000)
	held("with little text", 0)
	for range 2 {
		if err := b.beginFile(); err != nil {
			t.Fatal(err)
		}
		held("at a file", uploadMemory+b.text())
		read(content / 2)
		b.endFile(content / 2)
		held("behind a file", uploadMemory+b.text())
		read(smallBody)
		held("with little text behind a file", uploadMemory+b.text()-smallBody)
	}
	read(1)
	if most := uploadMemory + roomGrows*b.text(); b.memory.held < b.text() || b.memory.held > most {
		t.Errorf("with more text behind a file it holds %d bytes, not %d at most", b.memory.held, most)
	}
	b.memory.done()
	held("at the end", 0)
}

func TestTextBehindAFileWaitsForMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 8 << 20
		for _, freed := range []bool{true, false} {
			b, all := aBody(t, limit, limit)
			if err := b.beginFile(); err != nil {
				t.Fatal(err)
			}
			b.endFile(0)
			others := all.mustEnter(t, 1)
			if err := others.hold(4*limit - uploadMemory); err != nil {
				t.Fatal(err)
			}
			if freed {
				time.AfterFunc(bodyWait/2, others.done)
			}
			begin := time.Now()
			n, err := io.Copy(io.Discard, b)
			switch {
			case freed && (err != nil || n != limit || time.Since(begin) != bodyWait/2):
				t.Errorf("with memory it read %d bytes, %v", n, err)
			case !freed && (!errors.Is(err, errCrowded) || n > smallBody+readAhead || time.Since(begin) != bodyWait):
				t.Errorf("without memory it read %d bytes, %v", n, err)
			}
		}
	})
}

func TestAFileNeedsMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 8 << 20
		b, all := aBody(t, 100, limit)
		others := all.mustEnter(t, 1)
		if err := others.hold(4*limit - uploadMemory + 1); err != nil {
			t.Fatal(err)
		}
		crowded(t, b.beginFile)
		if err := others.hold(4*limit - uploadMemory); err != nil {
			t.Fatal(err)
		}
		if err := b.beginFile(); err != nil {
			t.Error(err)
		}
	})
}

func TestABodyThatDoesNotArriveIsToldInWords(t *testing.T) {
	t.Parallel()
	b, _ := aBody(t, 10, 1000)
	b.src = io.NopCloser(io.MultiReader(strings.NewReader("abc"), failing{}))
	got, err := io.ReadAll(b)
	if string(got) != "abc" || err != errCut {
		t.Errorf("%q, %v", got, err)
	}
	if _, again := b.Read(make([]byte, 1)); again != errCut || b.fault(errMultipart) != errCut {
		t.Errorf("and then %v, %v", again, b.fault(errMultipart))
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("secret words of the network") }

func TestTheConnectionIsClosedWhereABodyIsLeft(t *testing.T) {
	t.Parallel()
	for read, want := range map[int64]string{9: "close", 10: "close", 11: ""} { // the end comes with the eleventh
		b, _ := aBody(t, 10, 1000)
		_, _ = io.CopyN(io.Discard, b, read)
		b.leave()
		if got := b.w.Header().Get("Connection"); got != want {
			t.Errorf("after %d bytes: %q", read, got)
		}
	}
}

// A deadlines is a connection that notes how far ahead its deadlines are set.
type deadlines struct {
	http.ResponseWriter
	read, write []time.Duration
}

func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.read = append(d.read, time.Until(t).Round(time.Minute))
	return nil
}

func (d *deadlines) SetWriteDeadline(t time.Time) error {
	d.write = append(d.write, time.Until(t).Round(time.Minute))
	return nil
}

// taken is an intake of a body, by an account, that notes its deadlines.
func taken(t *testing.T, s *Server, contentType, body string) (*intake, *deadlines) {
	t.Helper()
	r := posted(t, s, contentType, body)
	d := &deadlines{ResponseWriter: httptest.NewRecorder()}
	r.actor.Account = 1
	r.pace = pacer{control: http.NewResponseController(d), stall: time.Hour, request: 2 * time.Hour}
	return s.newIntake(r), d
}

func TestTheDeadlineMovesAsAFileGetsOn(t *testing.T) {
	t.Parallel()
	s := newParser(storetest.New(t).Store)
	s.cfg.Limits.RequestTimeout = 2 * time.Hour
	const stall, rest = time.Hour, 2 * time.Hour
	head := "--b\r\nContent-Disposition: form-data; name=\"push[files][]\"; filename=\"f\"\r\n\r\n"
	for size, want := range map[int][]time.Duration{
		0:                    {stall, rest},
		progressStep - 1:     {stall, rest},
		progressStep:         {stall, stall, rest},
		3*progressStep - 1:   {stall, stall, stall, rest},
		3 * progressStep:     {stall, stall, stall, stall, rest},
		3*progressStep + 100: {stall, stall, stall, stall, rest},
	} {
		file := head + strings.Repeat("x", size) + "\r\n"
		in, d := taken(t, s, "multipart/form-data; boundary=b", file+file+"--b--")
		begun := time.Now()
		if err := in.readPush(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.read, slices.Repeat(want, 2)) || !slices.Equal(d.write, []time.Duration{rest, rest}) {
			t.Errorf("%d bytes: to read %v, to answer %v", size, d.read, d.write)
		}
		if in.until.Before(begun.Add(rest)) {
			t.Errorf("%d bytes: the rest must be done by %v", size, in.until)
		}
		in.close()
		cut, d := taken(t, s, "multipart/form-data; boundary=b", file)
		if err := cut.readPush(); err != errMultipart || !slices.Equal(d.write, []time.Duration{stall}) {
			t.Errorf("%d bytes, cut: %v, to answer %v", size, err, d.write)
		}
		cut.close()
	}
}

func TestAByteAtATimeMovesNoDeadline(t *testing.T) {
	t.Parallel()
	d := &deadlines{ResponseWriter: httptest.NewRecorder()}
	pace := pacer{control: http.NewResponseController(d), stall: time.Hour}
	c := &contentReader{r: endless{}, pace: &pace}
	for range progressStep - 1 {
		_, _ = c.Read(make([]byte, 1))
	}
	if len(d.read) != 0 {
		t.Errorf("it moved %d times", len(d.read))
	}
	_, _ = c.Read(make([]byte, 1))
	if len(d.read) != 1 || c.size != progressStep {
		t.Errorf("it moved %d times after %d bytes", len(d.read), c.size)
	}
}

// contents are the files that an intake has handed to the store.
func contents(t *testing.T, in *intake) (files [][]byte) {
	t.Helper()
	if in.files == nil {
		return nil
	}
	s := in.server.store
	p, err := s.CreatePush(t.Context(), store.Actor{}, store.NewPush{Kind: store.File, Files: in.files})
	if err != nil {
		t.Fatal(err)
	}
	if p, err = s.Retrieve(t.Context(), store.Actor{Client: "192.0.2.1"}, p.Token, secret.Text{}); err != nil {
		t.Fatal(err)
	}
	for i := range p.Files {
		d, err := s.Download(t.Context(), p.Grant, i)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(d); err != nil {
			t.Fatal(err)
		}
		d.Close()
		files = append(files, b.Bytes())
	}
	return files
}
