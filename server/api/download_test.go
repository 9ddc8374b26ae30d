package api_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/storetest"
)

// noise returns n bytes in which each part is different.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(b)
	return b
}

func TestAFilePushIsShownWithTheAddressesOfItsFiles(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	files := [][]byte{[]byte("hello"), noise(200_000), nil}
	p := a.PushNamed("ann@example.com", func(in *store.NewPush, u *store.Upload) {
		u.Describe("Überblick \"1\".pdf", "application/pdf")
		in.Payload = secret.New("the files")
	}, files...)
	got := a.Get(pushes + "/" + p.Token.Reveal()).Want(http.StatusOK).Has(map[string]string{
		"kind": "file", "payload": "the files", "views_remaining": "4", "expired": "false",
	})
	list := got.Object()["files"].([]any)
	if len(list) != len(files) {
		t.Fatalf("%d files", len(list))
	}
	for i, item := range list {
		f := item.(map[string]any)
		if len(f) != 4 || fmt.Sprint(f["size"]) != fmt.Sprint(len(files[i])) {
			t.Errorf("file %d: %v", i, f)
		}
		path, _ := strings.CutPrefix(f["url"].(string), a.URL)
		if back := a.Get(path).Want(http.StatusOK); back.Body != string(files[i]) {
			t.Errorf("file %d: %d bytes came back", i, len(back.Body))
		}
	}
	last := list[2].(map[string]any)
	if last["filename"] != `Überblick "1".pdf` || last["content_type"] != "application/pdf" {
		t.Errorf("the last file is %v", last)
	}
}

func TestADownloadHasHeadersToSaveItAndNotShowIt(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	p := a.PushNamed("ann@example.com", func(_ *store.NewPush, u *store.Upload) { u.Describe(`naïve "x" 100%.html`, "text/html") }, []byte("<script>"))
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		got := a.Do(method, p.Shown()[0], "").Want(http.StatusOK)
		for name, want := range map[string]string{
			"Content-Type":            "application/octet-stream",
			"Content-Disposition":     `attachment; filename="na_ve _x_ 100_.html"; filename*=UTF-8''na%C3%AFve%20%22x%22%20100%25.html`,
			"Content-Length":          "8",
			"Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox",
			"X-Content-Type-Options":  "nosniff",
			"Cache-Control":           "no-store",
			"Referrer-Policy":         "no-referrer",
			"X-Robots-Tag":            "noindex, nofollow",
			"Accept-Ranges":           "bytes",
		} {
			if got.Header.Get(name) != want {
				t.Errorf("%s: %s is %q, not %q", method, name, got.Header.Get(name), want)
			}
		}
		if tag := got.Header.Get("ETag"); len(tag) < 10 || tag[0] != '"' {
			t.Errorf("%s: ETag %s", method, tag)
		}
		if part := a.Do(method, p.Shown()[0], "", http.Header{"Range": {"bytes=0-1"}}); (part.Status == http.StatusPartialContent) != (method == http.MethodGet) {
			t.Errorf("%s of a part: %d", method, part.Status)
		}
		if (got.Body == "") != (method == http.MethodHead) {
			t.Errorf("%s: body %q", method, got.Body)
		}
	}
}

func TestPartsOfAFile(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	file := noise(150_000)
	path := a.PushFiles("ann@example.com", file).Shown()[0]
	tag := a.Do(http.MethodHead, path, "").Header.Get("ETag")
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
		got := a.Get(path, header)
		where := ""
		switch test.status {
		case 206:
			where = fmt.Sprintf("bytes %d-%d/%d", test.from, test.to-1, len(file))
		case 416:
			where = fmt.Sprintf("bytes */%d", len(file))
		}
		if got.Status != test.status || got.Header.Get("Content-Range") != where {
			t.Errorf("%s: status %d, %q, not %d, %q", name, got.Status, got.Header.Get("Content-Range"), test.status, where)
			continue
		}
		if test.status == 416 {
			if got.Problem() != "range-not-satisfiable" || got.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %v %s", name, got.Header, got.Body)
			}
			continue
		}
		if got.Body != string(file[test.from:test.to]) {
			t.Errorf("%s: %d other bytes", name, len(got.Body))
		}
	}
}

func TestADownloadNeedsOnlyAGrant(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.AllowAnonymous = false })
	ann := a.AddTokenUser("ann@example.com")
	p := a.PushFiles("ann@example.com", []byte("x"))
	path := p.Shown(ann)[0]
	a.Get(path).Want(http.StatusOK)
	a.Get(path, http.Header{"Authorization": {"Bearer nonsense"}}).Want(http.StatusOK)
	grant := strings.Split(path, "/")[2]
	unknown := a.Get("/d/" + strings.Repeat("a", len(grant)) + "/1").Want(http.StatusNotFound)
	for _, other := range []string{"/d/x/1", "/d/" + grant + "/2", "/d/" + grant + "/0", "/d/" + grant + "/01", "/d/" + grant + "/+1", "/d/" + grant + "/-1", "/d/" + grant + "/99999999999999999999"} {
		if got := a.Get(other).Want(http.StatusNotFound); got.Body != unknown.Body {
			t.Errorf("%s: %s", other, got.Body)
		}
	}
	a.Store.Clock.Advance(15 * time.Minute)
	if got := a.Get(path).Want(http.StatusNotFound); got.Body != unknown.Body {
		t.Errorf("an ended one: %s", got.Body)
	}
}

func TestGuessingGrantsIsLimited(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	path := a.PushFiles("ann@example.com", []byte("x")).Shown()[0]
	for range 20 {
		a.Get("/d/guess/1", servertest.Far(7)).Want(http.StatusNotFound)
	}
	a.Get("/d/guess/1", servertest.Far(7)).Want(http.StatusTooManyRequests)
	a.Get("/d/guess/1", servertest.Far(8)).Want(http.StatusNotFound)
	a.Get(path, servertest.Far(7)).Want(http.StatusOK)
}

// large is more than the kernel buffers for a client that reads nothing.
const large = 24 << 20

func TestDeletingCutsADownloadThatRuns(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddTokenUser("ann@example.com")
	p := a.PushFiles("ann@example.com", noise(large))
	_, res := a.Begin(p.Shown()[0])
	a.Do(http.MethodDelete, pushes+"/"+p.Token.Reveal(), "", ann).Want(http.StatusOK)
	n, err := io.Copy(io.Discard, res.Body)
	wantCut(t, large, n, err)
}

// wantCut fails the test unless the server ended a download early.
func wantCut(t *testing.T, size, n int64, err error) {
	t.Helper()
	var slow net.Error
	if n >= size || err == nil || errors.As(err, &slow) && slow.Timeout() {
		t.Errorf("%d of %d bytes came, %v", n, size, err)
	}
}

func TestAClientThatStallsIsCutAndOthersAreNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const size, stall = 1 << 20, time.Second
		a := servertest.InMemory(t, func(c *config.Config) { c.Limits.StallTimeout = stall })
		path := a.PushFiles("ann@example.com", noise(size)).Shown()[0]
		_, stalled := a.Begin(path)
		_, slow := a.Begin(path)
		for took := int64(0); took < size; {
			time.Sleep(stall * 3 / 4)
			n, err := io.CopyN(io.Discard, slow.Body, min(size/10, size-took))
			if took += n; err != nil {
				t.Fatalf("a slow client got %d bytes, %v", took, err)
			}
		}
		n, err := io.Copy(io.Discard, stalled.Body)
		wantCut(t, size, n, err)
	})
}

func TestADamagedChunkEndsTheConnectionAndIsInTheLog(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	p := a.PushFiles("ann@example.com", noise(300_000))
	path := p.Shown()[0]
	spoil := func(which int) {
		a.Store.Forge(&storetest.Forgery{Spoil: func(_, n int, sealed []byte) {
			if n == which {
				sealed[7] ^= 1
			}
		}})
	}
	spoil(2)
	req, _ := http.NewRequest(http.MethodGet, a.URL+path, nil)
	res, err := a.Client.RoundTrip(req)
	env.OK(t, err)
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.Equal(got, noise(300_000)[:2*65536]) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	a.Get("/healthz").Want(http.StatusOK)
	if log := a.Log.String(); !strings.Contains(log, `"level":"error"`) || !strings.Contains(log, "chunk 2 of file 0") {
		t.Errorf("the log is %s", log)
	}
	spoil(4) // the last one: refused before the first byte
	a.Get(path).Want(http.StatusInternalServerError)
}
