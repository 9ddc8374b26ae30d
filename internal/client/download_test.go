package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

var content = strings.Repeat("0123456789abcdef", 40000) // 640,000 bytes

// A storage serves content as pushbox and object storages do, but cuts each
// answer after some bytes as long as there are any left to cut after.
type storage struct {
	etag, modified string
	cuts           []int
	ranges         []string // that were asked for, with what If-Range said
}

func (s *storage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.ranges = append(s.ranges, strings.TrimSpace(r.Header.Get("Range")+" "+r.Header.Get("If-Range")))
	if s.etag != "" {
		w.Header().Set("ETag", s.etag)
	}
	modified, _ := time.Parse(http.TimeFormat, s.modified)
	if len(s.cuts) > 0 {
		w = &cutter{w, s.cuts[0]}
		s.cuts = s.cuts[1:]
	}
	http.ServeContent(w, r, "", modified, bytes.NewReader([]byte(content)))
}

// A cutter ends the connection after a number of bytes of a body.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	n := min(len(p), c.left)
	_, err := c.ResponseWriter.Write(p[:n])
	if c.left -= n; c.left == 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

func (f *far) file(size int64) File { return File{"a", size, secret.New(f.URL + "/file/marker")} }

func TestADownloadThatIsCutGoesOn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, etag, modified string
		cuts                 []int
		ranges               []string
	}{
		{"not cut", `"v1"`, "", nil, []string{""}},
		{"cut once", `"v1"`, "", []int{100000}, []string{"", `bytes=100000- "v1"`}},
		{"cut often", `"v1"`, "", []int{1, 65536, 300000}, []string{"", `bytes=1- "v1"`, `bytes=65537- "v1"`, `bytes=365537- "v1"`}},
		{"cut before a byte", `"v1"`, "", []int{100000, 0 + 1}, []string{"", `bytes=100000- "v1"`, `bytes=100001- "v1"`}},
		{"cut at the end", `"v1"`, "", []int{len(content)}, []string{""}},
		{
			"known by its time", `W/"v1"`, "Mon, 02 Jan 2006 15:04:05 GMT",
			[]int{100000},
			[]string{"", "bytes=100000- Mon, 02 Jan 2006 15:04:05 GMT"},
		},
		{"not known", "", "", []int{100000}, []string{"", ""}},
	} {
		s := &storage{etag: test.etag, modified: test.modified, cuts: test.cuts}
		f := serving(t, s.ServeHTTP)
		dst := target(t)
		var done, total int64
		err := f.client().Download(t.Context(), f.file(int64(len(content))), dst, func(d, of int64) { done, total = d, of })
		if err != nil || textOf(t, dst) != content {
			t.Errorf("%s: %v, %d bytes", test.name, err, len(textOf(t, dst)))
		}
		if !slices.Equal(s.ranges, test.ranges) {
			t.Errorf("%s: asked for %q", test.name, s.ranges)
		}
		if done != int64(len(content)) || total != done {
			t.Errorf("%s: the progress ended at %d of %d", test.name, done, total)
		}
	}
}

func TestADownloadCarriesNothingOfOurs(t *testing.T) {
	t.Parallel()
	s := &storage{etag: `"v1"`, cuts: []int{10}}
	behind := serving(t, s.ServeHTTP)
	f := serving(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, behind.URL+"/bucket?signature=marker", http.StatusFound)
	})
	dst := target(t)
	if err := f.client().Download(t.Context(), f.file(-1), dst, nil); err != nil || textOf(t, dst) != content {
		t.Fatalf("%v, %d bytes", err, len(textOf(t, dst)))
	}
	for _, r := range append(f.requests(), behind.requests()...) {
		for _, name := range []string{"Authorization", passphraseHeader, "Referer", "Cookie"} {
			if r.Header.Get(name) != "" {
				t.Errorf("%s has %s", r.URL, name)
			}
		}
	}
	if n := len(behind.requests()); n != 2 || s.ranges[1] != `bytes=10- "v1"` {
		t.Errorf("%d requests, %q", n, s.ranges)
	}
}

func TestAnotherVersionBeginsAnew(t *testing.T) {
	t.Parallel()
	for _, second := range []string{strings.ToUpper(content), "short"} {
		first := &storage{etag: `"v1"`, cuts: []int{1000}}
		f := serving(t, nil)
		f.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if len(first.ranges) == 0 {
				first.ServeHTTP(w, r)
				return
			}
			w.Header().Set("ETag", `"v2"`)
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(second))
		})
		dst := target(t)
		if err := f.client().Download(t.Context(), f.file(-1), dst, nil); err != nil || textOf(t, dst) != second {
			t.Errorf("%v, %d bytes", err, len(textOf(t, dst)))
		}
	}
}

func TestPartsThatDoNotFitAreNotTaken(t *testing.T) {
	t.Parallel()
	n := len(content)
	for name, header := range map[string]string{
		"of another version": fmt.Sprintf("bytes 1000-%d/%d", n-1, n),
		"from elsewhere":     fmt.Sprintf("bytes 5-%d/%d", n-1, n), "not to the end": fmt.Sprintf("bytes 1000-%d/%d", n-2, n),
		"none": "", "odd": "bytes x", "no total": fmt.Sprintf("bytes 1000-%d/*", n-1), "huge": "bytes 1000-9/99999999999999999999",
	} {
		s := &storage{etag: `"v1"`, cuts: []int{1000}}
		f := serving(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") == "" {
				s.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Range", header)
			if name == "of another version" {
				w.Header().Set("ETag", `"v2"`)
			}
			w.WriteHeader(http.StatusPartialContent)
			_, _ = io.WriteString(w, "wrong")
		})
		dst := target(t)
		if err := f.client().Download(t.Context(), f.file(int64(n)), dst, nil); err != nil || textOf(t, dst) != content {
			t.Errorf("%s: %v, %d bytes", name, err, len(textOf(t, dst)))
		}
	}
}

func TestAFileOfUnknownLengthMayBeWholeWhenTheRestIsAskedFor(t *testing.T) {
	t.Parallel()
	for header, whole := range map[string]bool{"bytes */4": true, "bytes */5": false, "": false} {
		asked := 0
		f := serving(t, func(w http.ResponseWriter, r *http.Request) {
			asked++
			w.Header().Set("ETag", `"v1"`)
			switch {
			case r.Header.Get("Range") != "":
				w.Header().Set("Content-Range", header)
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			case asked == 1:
				_, _ = io.WriteString(w, "four")
				_ = http.NewResponseController(w).Flush() // without a length
				panic(http.ErrAbortHandler)
			default:
				_, _ = io.WriteString(w, "again")
			}
		})
		dst := target(t)
		want := map[bool]string{true: "four", false: "again"}[whole]
		if err := f.client().Download(t.Context(), f.file(-1), dst, nil); err != nil || textOf(t, dst) != want {
			t.Errorf("%q: %v, %q", header, err, textOf(t, dst))
		}
	}
}

func TestAnotherLengthThanAnnouncedIsAnError(t *testing.T) {
	t.Parallel()
	for name, chunked := range map[string]bool{"announced": false, "in chunks": true} {
		for _, size := range []int64{3, 5} {
			f := serving(t, func(w http.ResponseWriter, _ *http.Request) {
				if chunked {
					_ = http.NewResponseController(w).Flush()
				}
				_, _ = io.WriteString(w, "four")
			})
			err := f.client().Download(t.Context(), f.file(size), target(t), nil)
			cut := (*CutError)(nil)
			if !errors.As(err, &cut) || cut.Total != size || cut.Done > size {
				t.Errorf("%s, %d: %v, %+v", name, size, err, cut)
			}
		}
	}
}

func TestADownloadIsGivenUpInTheEnd(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		handle   http.HandlerFunc
		attempts int
	}{
		{"a grant that is over", says(http.StatusNotFound, `{"error":"not-found"}`), 1},
		{"an address elsewhere", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "ftp://x/marker")
			w.WriteHeader(http.StatusFound)
		}, 1},
		{"redirects in a circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/file/marker", http.StatusFound) }, maxHops},
		{"a server that is ill", says(http.StatusBadGateway, ""), maxIdle},
		{"too many requests", says(http.StatusTooManyRequests, ""), maxIdle},
		{"a connection without a byte", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, maxIdle},
		{"a byte at a time", (&storage{etag: `"v"`, cuts: slices.Repeat([]int{1}, 1000)}).ServeHTTP, maxCuts},
		{"the same bytes again and again", (&storage{cuts: slices.Repeat([]int{7}, 1000)}).ServeHTTP, maxIdle + 1},
	} {
		f := serving(t, test.handle)
		err := f.client().Download(t.Context(), f.file(int64(len(content))), target(t), nil)
		cut := (*CutError)(nil)
		if !errors.As(err, &cut) || len(f.requests()) != test.attempts {
			t.Errorf("%s: %v after %d requests", test.name, err, len(f.requests()))
		}
		silent(t, err)
	}
}

func TestPausesGrowAndHeedTheServer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		idle  int
		retry time.Duration
		want  time.Duration
	}{
		{0, 0, firstPause},
		{1, 0, 2 * firstPause},
		{maxIdle, 0, maxPause},
		{1, 17 * time.Second, 17 * time.Second},
		{1, 24 * time.Hour, 2 * maxPause},
		{maxIdle, time.Second, maxPause},
	} {
		if got := wait(test.idle, &StatusError{Status: 429, RetryAfter: test.retry}); got != test.want {
			t.Errorf("%d, %v: %v, want %v", test.idle, test.retry, got, test.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	env.ErrorIs(t, "a pause that is interrupted", pause(ctx, time.Hour), context.Canceled)
	if err := pause(t.Context(), 1); err != nil {
		t.Errorf("a pause: %v", err)
	}
}

func TestADownloadThatStallsIsCutAndGoesOn(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	s := &storage{etag: `"v1"`}
	f := serving(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Range") == "" {
			w.Header().Set("ETag", `"v1"`)
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			_, _ = io.WriteString(w, content[:1000])
			_ = http.NewResponseController(w).Flush()
			<-over
			return
		}
		s.ServeHTTP(w, r)
	})
	defer close(over) // before the server is closed, which waits
	c, came := f.client(), int64(0)
	c.opt.Stall = time.Second
	c.pause = func(ctx context.Context, _ time.Duration) error {
		if came > 0 {
			c.opt.Stall = env.Patience // the rest must not stall, however busy the machine is
		}
		return ctx.Err()
	}
	dst := target(t)
	if err := c.Download(t.Context(), f.file(-1), dst, func(done, _ int64) { came = done }); err != nil || textOf(t, dst) != content || !slices.Equal(s.ranges, []string{`bytes=1000- "v1"`}) {
		t.Errorf("%v, %q", err, s.ranges)
	}
}

func TestAnInterruptedDownloadEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := &storage{etag: `"v1"`}
	f := serving(t, s.ServeHTTP)
	ctx, cancel := context.WithCancel(t.Context())
	err := f.client().Download(ctx, f.file(-1), target(t), func(done, _ int64) {
		if done > 0 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || len(f.requests()) != 1 {
		t.Errorf("%v after %d requests", err, len(f.requests()))
	}
}

func TestATargetThatTakesNothingEndsTheDownload(t *testing.T) {
	t.Parallel()
	f := serving(t, (&storage{etag: `"v1"`}).ServeHTTP)
	dst := target(t)
	_ = dst.Close()
	if err := f.client().Download(t.Context(), f.file(-1), dst, nil); !errors.Is(err, fs.ErrClosed) || len(f.requests()) != 1 {
		t.Errorf("%v after %d requests", err, len(f.requests()))
	}
}

func TestAddressesOfFilesAreChecked(t *testing.T) {
	t.Parallel()
	home := mustLink(t, "https://push.example.com:8443/secret/p/"+aToken).Server
	for text, want := range map[string]string{
		"https://push.example.com:8443/f":  "https://push.example.com:8443/f",
		"http://push.example.com/f?a=b":    "https://push.example.com:8443/f?a=b", // it does not know of its proxy
		"https://push.example.com:9000/f":  "https://push.example.com:9000/f",
		"/rails/blob/x":                    "https://push.example.com:8443/rails/blob/x",
		"https://storage.example.com/x":    "https://storage.example.com/x",
		"http://storage.example.com/x":     "",
		"file:///etc/passwd":               "",
		"":                                 "",
		"https://push.example.com:8443/%z": "",
	} {
		f := fileOf(object{"url": []byte(`"` + text + `"`)}, home)
		if f.url.Reveal() != want {
			t.Errorf("%q became %q, want %q", text, f.url.Reveal(), want)
		}
		if want == "" {
			env.ErrorIs(t, text, New(Options{Stall: time.Minute}).Download(t.Context(), f, target(t), nil), errRefused)
		}
	}
}
