package server_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
)

// A piecewise is a body that a test sends in pieces.
type piecewise struct {
	a      *servertest.Server
	token  string
	body   string
	caller http.Header
}

// inPieces returns the form for a push with two files, whose second has 200,000 bytes.
func inPieces(a *servertest.Server, token string, caller http.Header) (*piecewise, []servertest.File) {
	files := []servertest.File{{Name: "a.txt", Media: "text/plain", Content: []byte("a\r\nb")}, {Name: "b.bin", Media: "a/b", Content: servertest.BytesOf(200_000)}}
	_, body := servertest.FilePush{Before: servertest.Typed(map[string]string{"kind": "file", "payload": "for you"}), Files: files}.Multipart()
	return &piecewise{a, token, body, caller}, files
}

// header is that of a piece that begins there.
func (p *piecewise) header(from int) http.Header {
	h := http.Header{"Upload-Token": {p.token}, "Upload-Length": {strconv.Itoa(len(p.body))}, "Upload-Offset": {strconv.Itoa(from)}}
	maps.Copy(h, servertest.Multi)
	maps.Copy(h, p.caller)
	return h
}

// send sends a piece, and fails the test unless it is answered with the status and, if there is one, where to continue.
func (p *piecewise) send(from, to, status, next int) servertest.Answer {
	p.a.T.Helper()
	got := p.a.Do("POST", "/", p.body[from:to], p.header(from)).Want(status)
	if offset := got.Header.Get("Upload-Offset"); offset != strconv.Itoa(next) && next >= 0 {
		p.a.T.Errorf("the piece from %d to %d: continues at %q, not at %d", from, to, offset, next)
	}
	return got
}

// pushed returns the url_token of the push that an answer leads to.
func (p *piecewise) pushed(got servertest.Answer) string {
	p.a.T.Helper()
	return p.a.Do("GET", got.Want(http.StatusSeeOther).Header.Get("Location"), "", p.caller).PushToken()
}

const uploadName = "0123456789abcdef"

func TestAnUploadInPiecesMakesOnePush(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	for _, size := range []int{1 << 20, 70_000, 9_999} {
		p, files := inPieces(a, uploadName+strconv.Itoa(size), ann)
		from := 0
		for ; from+size < len(p.body); from += size {
			p.send(from, from+size, http.StatusAccepted, from+size)
		}
		made := p.send(from, len(p.body), http.StatusSeeOther, -1)
		a.WantFiles(p.pushed(made), files...)
		// A browser that did not get the answer asks again.
		again := p.send(len(p.body), len(p.body), http.StatusSeeOther, -1)
		if again.Header.Get("Location") != made.Header.Get("Location") {
			t.Errorf("then it is led to %s", again.Header.Get("Location"))
		}
	}
}

func TestALostConnectionCostsOnlyTheEndOfAPiece(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	p, files := inPieces(a, uploadName, ann)
	p.send(0, 50, http.StatusAccepted, 50)
	line := a.Connect()
	h := p.header(50)
	h.Set("Content-Length", strconv.Itoa(len(p.body)-50))
	env.OK(t, sendHead(line, h))
	env.Must(io.WriteString(line, p.body[50:100_000]))(t)
	// The server may not know yet that the connection is lost: the next piece ends the wait for more.
	// The server does not know yet that the connection is lost: another piece ends its wait for more.
	at := 50
	for begun := time.Now(); at == 50 && time.Since(begun) < env.Patience; {
		got := a.Do("POST", "/", "", p.header(len(p.body)-1)).Want(http.StatusAccepted)
		at = env.Must(strconv.Atoi(got.Header.Get("Upload-Offset")))(t)
	}
	if at <= 50 || at > 100_000 {
		t.Fatalf("it continues at %d", at)
	}
	env.OK(t, line.Close())
	a.WantFiles(p.pushed(p.send(at, len(p.body), http.StatusSeeOther, -1)), files...)
}

func sendHead(w io.Writer, h http.Header) error {
	var head strings.Builder
	head.WriteString("POST / HTTP/1.1\r\nHost: box\r\n")
	_ = h.Write(&head)
	_, err := io.WriteString(w, head.String()+"\r\n")
	return err
}

func TestAPieceBelongsToItsUploadAlone(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, bob := a.AddSessionUser("ann@example.com"), a.AddSessionUser("bob@example.com")
	p, files := inPieces(a, uploadName, ann)
	p.send(10, 20, http.StatusGone, -1) // it has not begun
	p.send(0, 1000, http.StatusAccepted, 1000)
	theirs := *p
	theirs.caller = bob
	theirs.send(1000, 2000, http.StatusGone, -1)
	shorter := *p
	shorter.body = p.body[:2000]
	shorter.send(1000, 1500, http.StatusGone, -1)
	p.send(0, 500, http.StatusConflict, 1000) // it was sent before
	p.send(2000, 3000, http.StatusConflict, 1000)
	p.send(1000, 1000, http.StatusAccepted, 1000)
	for name, value := range map[string]string{"Upload-Token": "short", "Upload-Length": "x", "Upload-Offset": "-1"} {
		h := p.header(1000)
		h.Set(name, value)
		a.Do("POST", "/", p.body[1000:1001], h).Want(http.StatusBadRequest)
	}
	a.Do("POST", "/", p.body[1000:]+"beyond", p.header(1000)).Want(http.StatusBadRequest)
	a.WantFiles(p.pushed(p.send(1000, len(p.body), http.StatusSeeOther, -1)), files...)
}

func TestARefusalEndsAnUploadInPieces(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	for name, test := range map[string]struct {
		caller http.Header
		status int
	}{"without an account": {http.Header{}, http.StatusUnauthorized}, "too many files": {ann, http.StatusUnprocessableEntity}} {
		file := servertest.File{Name: "x", Media: "a/b", Content: servertest.BytesOf(5000)}
		var files []servertest.File
		for range 50 {
			files = append(files, file)
		}
		_, body := servertest.FilePush{Before: servertest.Typed(map[string]string{"kind": "file"}), Files: files}.Multipart()
		p := &piecewise{a, uploadName, body, test.caller}
		from := 0
		for got := p.a.Do("POST", "/", body[:1000], p.header(0)); ; got = p.a.Do("POST", "/", body[from:from+10_000], p.header(from)) {
			if got.Status != http.StatusAccepted {
				got.Want(test.status)
				break
			}
			from = env.Must(strconv.Atoi(got.Header.Get("Upload-Offset")))(t)
		}
		if from > len(body)/2 {
			t.Errorf("%s: it was refused after %d bytes of %d", name, from, len(body))
		}
		p.send(max(1, from), from+1, http.StatusGone, -1)
	}
	if n := a.Store.Orphans(); n > 0 {
		t.Errorf("chunks of %d uploads are left", n)
	}
}

func TestAnUploadInPiecesThatDoesNotGoOnIsForgotten(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"time", "stop", "given up"} {
		a := servertest.New(t)
		ann := a.AddSessionUser("ann@example.com")
		if end == "time" {
			a.Handler.ParkFor(50 * time.Millisecond)
		}
		p, _ := inPieces(a, uploadName, ann)
		p.send(0, 150_000, http.StatusAccepted, 150_000)
		switch end {
		case "stop":
			if n := a.Handler.Stats().Uploads; n != 1 {
				t.Errorf("%d uploads run", n)
			}
			a.Handler.EndUploads()
		case "given up":
			h := p.header(0)
			h.Set("Upload-Offset", "none")
			a.Do("POST", "/", "", h).Want(http.StatusAccepted)
		}
		for begun := time.Now(); a.Handler.Stats().Uploads > 0 && time.Since(begun) < env.Patience; {
			time.Sleep(time.Millisecond)
		}
		p.send(150_000, len(p.body), http.StatusGone, -1)
		if n, s := a.Store.Orphans(), a.Handler.Stats(); n != 0 || s.Uploads != 0 || s.RequestMemory != 0 {
			t.Errorf("%s: chunks of %d uploads are left, %+v", end, n, s)
		}
	}
}

// No client takes all the places of uploads in pieces, and each is free again.
func TestUploadsInPiecesAreBounded(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, bob := a.AddSessionUser("ann@example.com"), a.AddSessionUser("bob@example.com")
	begin := func(n int, caller http.Header) servertest.Answer {
		p, _ := inPieces(a, fmt.Sprint(uploadName, n), caller)
		return a.Do("POST", "/", p.body[:100], p.header(0))
	}
	const most = 64
	begun := 0
	for ; begun < most && begin(begun, ann).Status == http.StatusAccepted; begun++ {
	}
	if begun == 0 || begun == most {
		t.Errorf("an account began %d uploads", begun)
	}
	begin(100, bob).Want(http.StatusAccepted)
	a.Handler.EndUploads()
	begin(101, ann).Want(http.StatusAccepted)
}
