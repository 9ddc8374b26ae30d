package server_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/storetest"
)

// noise is n bytes of which each part is different.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}

func TestAFilePushIsShownWithWhereItsFilesAre(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	files := [][]byte{[]byte("hello"), noise(200_000), nil}
	p := a.pushNamed("ann@example.com", func(in *store.NewPush, u *store.Upload) {
		u.Describe("Überblick \"1\".pdf", "application/pdf")
		in.Payload = secret.New("the files")
	}, files...)
	got := a.get(pushes + "/" + p.token.Reveal()).want(http.StatusOK).has(map[string]string{
		"kind": "file", "payload": "the files", "views_remaining": "4", "expired": "false",
	})
	list := got.object()["files"].([]any)
	if len(list) != len(files) {
		t.Fatalf("%d files", len(list))
	}
	for i, item := range list {
		f := item.(map[string]any)
		if len(f) != 4 || fmt.Sprint(f["size"]) != fmt.Sprint(len(files[i])) {
			t.Errorf("file %d: %v", i, f)
		}
		path, _ := strings.CutPrefix(f["url"].(string), a.url)
		if back := a.get(path).want(http.StatusOK); back.body != string(files[i]) {
			t.Errorf("file %d: %d bytes came back", i, len(back.body))
		}
	}
	last := list[2].(map[string]any)
	if last["filename"] != `Überblick "1".pdf` || last["content_type"] != "application/pdf" {
		t.Errorf("the last file is %v", last)
	}
}

func TestADownloadHasTheHeadersOfWhatIsSavedAndNotShown(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := a.pushNamed("ann@example.com", func(_ *store.NewPush, u *store.Upload) { u.Describe(`naïve "x" 100%.html`, "text/html") }, []byte("<script>"))
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		got := a.do(method, p.shown()[0], "").want(http.StatusOK)
		for name, want := range map[string]string{
			"Content-Type":            "application/octet-stream",
			"Content-Disposition":     `attachment; filename="na_ve _x_ 100_.html"; filename*=UTF-8''na%C3%AFve%20%22x%22%20100%25.html`,
			"Content-Length":          "8",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
			"X-Content-Type-Options":  "nosniff",
			"Cache-Control":           "no-store",
			"Referrer-Policy":         "no-referrer",
			"X-Robots-Tag":            "noindex, nofollow",
			"Accept-Ranges":           "bytes",
		} {
			if got.header.Get(name) != want {
				t.Errorf("%s: %s is %q, not %q", method, name, got.header.Get(name), want)
			}
		}
		if tag := got.header.Get("ETag"); len(tag) < 10 || tag[0] != '"' {
			t.Errorf("%s: ETag %s", method, tag)
		}
		if part := a.do(method, p.shown()[0], "", http.Header{"Range": {"bytes=0-1"}}); (part.status == http.StatusPartialContent) != (method == http.MethodGet) {
			t.Errorf("%s of a part: %d", method, part.status)
		}
		if (got.body == "") != (method == http.MethodHead) {
			t.Errorf("%s: body %q", method, got.body)
		}
	}
}

func TestPartsOfAFile(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	file := noise(150_000)
	path := a.pushFiles("ann@example.com", file).shown()[0]
	tag := a.do(http.MethodHead, path, "").header.Get("ETag")
	for name, test := range map[string]struct {
		ranges, ifRange string
		status          int
		from, to        int // of the part; to is beyond it
	}{
		"the first byte":              {"bytes=0-0", "", 206, 0, 1},
		"across two chunks":           {"bytes=65000-66000", "", 206, 65000, 66001},
		"from somewhere on":           {"bytes=131072-", "", 206, 131072, 150000},
		"the last bytes":              {"bytes=-500", "", 206, 149500, 150000},
		"more last bytes than it has": {"bytes=-999999999999999999999", "", 206, 0, 150000},
		"to beyond its end":           {"bytes=149999-200000", "", 206, 149999, 150000},
		"the whole":                   {"bytes=0-", "", 206, 0, 150000},
		"if it is still that one":     {"bytes=5-9", tag, 206, 5, 10},
		"if it were another":          {"bytes=5-9", `"other"`, 200, 0, 150000},
		"if it is weakly that one":    {"bytes=5-9", "W/" + tag, 200, 0, 150000},
		"if it is of a date":          {"bytes=5-9", "Thu, 01 Jan 2026 00:00:00 GMT", 200, 0, 150000},
		"two parts":                   {"bytes=0-1,3-4", "", 200, 0, 150000},
		"another unit":                {"lines=0-1", "", 200, 0, 150000},
		"nonsense":                    {"bytes=x-1", "", 200, 0, 150000},
		"backwards":                   {"bytes=9-5", "", 200, 0, 150000},
		"behind its end":              {"bytes=150000-", "", 416, 0, 0},
		"no last bytes":               {"bytes=-0", "", 416, 0, 0},
	} {
		header := http.Header{"Range": {test.ranges}}
		if test.ifRange != "" {
			header.Set("If-Range", test.ifRange)
		}
		got := a.get(path, header)
		where := ""
		switch test.status {
		case 206:
			where = fmt.Sprintf("bytes %d-%d/%d", test.from, test.to-1, len(file))
		case 416:
			where = fmt.Sprintf("bytes */%d", len(file))
		}
		if got.status != test.status || got.header.Get("Content-Range") != where {
			t.Errorf("%s: status %d, %q, not %d, %q", name, got.status, got.header.Get("Content-Range"), test.status, where)
			continue
		}
		if test.status == 416 {
			if got.problem() != "range-not-satisfiable" || got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %v %s", name, got.header, got.body)
			}
			continue
		}
		if got.body != string(file[test.from:test.to]) {
			t.Errorf("%s: %d other bytes", name, len(got.body))
		}
	}
}

func TestAGrantIsAllThatADownloadNeeds(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.AllowAnonymous = false })
	ann := a.user("ann@example.com")
	p := a.pushFiles("ann@example.com", []byte("x"))
	path := p.shown(ann)[0]
	a.get(path).want(http.StatusOK)
	a.get(path, http.Header{"Authorization": {"Bearer nonsense"}}).want(http.StatusOK)
	grant := strings.Split(path, "/")[2]
	unknown := a.get("/d/" + strings.Repeat("a", len(grant)) + "/1").want(http.StatusNotFound)
	for _, other := range []string{"/d/x/1", "/d/" + grant + "/2", "/d/" + grant + "/0", "/d/" + grant + "/01", "/d/" + grant + "/+1", "/d/" + grant + "/-1", "/d/" + grant + "/99999999999999999999"} {
		if got := a.get(other).want(http.StatusNotFound); got.body != unknown.body {
			t.Errorf("%s: %s", other, got.body)
		}
	}
	a.store.Clock.Advance(15 * time.Minute)
	if got := a.get(path).want(http.StatusNotFound); got.body != unknown.body {
		t.Errorf("an ended one: %s", got.body)
	}
}

func TestGuessingGrantsIsLimited(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	path := a.pushFiles("ann@example.com", []byte("x")).shown()[0]
	for range 20 {
		a.get("/d/guess/1", far(7)).want(http.StatusNotFound)
	}
	a.get(path, far(7)).want(http.StatusTooManyRequests)
	a.get(path, far(8)).want(http.StatusOK)
}

// begin asks for a file on a connection of its own and reads the head of the
// answer. The kernel keeps little of the body.
func begin(t *testing.T, a *api, path string) (net.Conn, *http.Response) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(a.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(128 << 10); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	req, _ := http.NewRequest(http.MethodGet, a.url+path, nil)
	if err := req.Write(conn); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReaderSize(conn, 1<<10), req)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", res, err)
	}
	return conn, res
}

// large is more than the kernel takes from a server for a client that reads
// nothing.
const large = 24 << 20

func TestDeletingCutsADownloadThatRuns(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann := a.user("ann@example.com")
	p := a.pushFiles("ann@example.com", noise(large))
	_, res := begin(t, a, p.shown()[0])
	a.do(http.MethodDelete, pushes+"/"+p.token.Reveal(), "", ann).want(http.StatusOK)
	n, err := io.Copy(io.Discard, res.Body)
	wantCut(t, n, err)
}

// wantCut fails the test unless a download ended early, and by the server's hand.
func wantCut(t *testing.T, n int64, err error) {
	t.Helper()
	var slow net.Error
	if n >= large || err == nil || errors.As(err, &slow) && slow.Timeout() {
		t.Errorf("%d of %d bytes came, %v", n, large, err)
	}
}

func TestAClientThatStallsIsCutAndOthersAreNot(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.Limits.StallTimeout = config.Default().Limits.StallTimeout / 60 })
	path := a.pushFiles("ann@example.com", noise(large)).shown()[0]
	_, res := begin(t, a, path)
	for range 3 { // each takes about as long as a stall may
		slow, from := make([]byte, 1), time.Now()
		for time.Since(from) < time.Second/2 {
			if _, err := res.Body.Read(slow); err != nil {
				t.Fatalf("%v", err)
			}
			got, err := a.try(http.MethodGet, path, "", http.Header{"Range": {"bytes=-100000"}})
			if err != nil || got.status != http.StatusPartialContent || len(got.body) != 100000 {
				t.Fatalf("the healthy one: %d, %v", got.status, err)
			}
		}
	}
	n, err := io.Copy(io.Discard, res.Body)
	wantCut(t, n, err)
}

func TestADamagedChunkEndsTheConnectionAndIsInTheLog(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	p := a.pushFiles("ann@example.com", noise(300_000))
	path := p.shown()[0]
	spoil := func(which int) {
		a.store.Forge(&storetest.Forgery{Spoil: func(_, n int, sealed []byte) {
			if n == which {
				sealed[7] ^= 1
			}
		}})
	}
	spoil(2)
	req, _ := http.NewRequest(http.MethodGet, a.url+path, nil)
	res, err := a.client.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.Equal(got, noise(300_000)[:2*65536]) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	a.get("/healthz").want(http.StatusOK)
	if log := a.log.String(); !strings.Contains(log, `"level":"error"`) || !strings.Contains(log, "chunk 2 of file 0") {
		t.Errorf("the log is %s", log)
	}
	spoil(4) // the last one: refused before the first byte
	a.get(path).want(http.StatusInternalServerError)
}
