package client

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
)

func TestLinksOfEveryFormAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/p/" + aToken, "/p/" + aToken + "/r", "/p/" + aToken + ".json", "/p/" + aToken + "/r.json", "/p/" + aToken + "/",
		"/f/" + aToken, "/r/" + aToken, "/r/" + aToken + "/r", "/en/p/" + aToken, "/pt-BR/p/" + aToken + "/r",
		"/p/" + aToken + "/preview", "/en/p/" + aToken + "/passphrase", "/p/" + aToken + "?locale=de", "/p/" + aToken + "#top",
		"/api/v2/pushes/" + aToken, "/api/v2/pushes/" + aToken + ".json", "/api/v2/pushes/" + aToken + "/preview.json",
	} {
		for _, base := range []string{"", "/secret", "/deep/er"} {
			l := mustLink(t, "https://Push.example.com"+base+path)
			got := l.Server.url("api", "v2", "pushes", l.token.Reveal()).String()
			if want := "https://push.example.com" + base + "/api/v2/pushes/" + aToken; got != want {
				t.Errorf("%s became %s, want %s", base+path, got, want)
			}
		}
	}
}

func TestShortTokensOfPasswordPusherAreUnderstood(t *testing.T) {
	t.Parallel()
	for token, ok := range map[string]bool{
		"abcd": true, "abc": false, "fkwjfvhall92": true, "A_b-9c": true, "a.b.c.d": false, "täter": false,
		strings.Repeat("x", 128): true, strings.Repeat("x", 129): false,
	} {
		if _, err := ParseLink("https://eu.pwpush.com/en/p/" + token); (err == nil) != ok {
			t.Errorf("%q: %v", token, err)
		}
		for _, page := range []string{"p", "f", "r"} {
			_, err := ParseLink("https://push.example.com/" + page + "/" + token)
			if cut := err != nil && strings.Contains(err.Error(), "it is incomplete"); cut == ok {
				t.Errorf("/%s/%q: %v", page, token, err)
			}
		}
	}
}

func TestWhatIsNoLinkIsRefusedAndNotTold(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "marker", aToken, "/p/" + aToken, "push.example.com/p/" + aToken, "ftp://host/p/" + aToken, "https:///p/" + aToken,
		"https://host/", "https://host/p", "https://host/p/", "https://host/p/p", "https://host/x/" + aToken, "https://host/p/" + aToken + "/audit",
		"https://ann:marker@host/p/" + aToken, "https://host/api/v1/pushes/" + aToken, "https://ho st/p/" + aToken, "https://host/%zz/p/" + aToken,
		"https://host/p/" + aToken + "/r/r", "https://host/p/" + aToken + "\x00",
	} {
		_, err := ParseLink(text)
		if err == nil {
			t.Errorf("%q was taken for a link", text)
		}
		silent(t, err)
	}
}

func TestServersAreOnePlaceIfSchemeHostAndPortAre(t *testing.T) {
	t.Parallel()
	home, err := ParseServer("https://push.example.com/secret/")
	if err != nil || home.String() != "https://push.example.com" {
		t.Fatalf("%v, %v", home, err)
	}
	for text, same := range map[string]bool{
		"https://push.example.com": true, "https://PUSH.example.com:443/": true, "HTTPS://push.example.com/other": true,
		"http://push.example.com": false, "http://push.example.com:443": false, "https://push.example.com:8443": false,
		"https://push.example.com.evil.test": false, "https://example.com": false, "https://push.example.com.": false,
	} {
		s, err := ParseServer(text)
		if err != nil || s.SameOrigin(home) != same {
			t.Errorf("%s: %v, %v", text, s.SameOrigin(home), err)
		}
	}
	for _, text := range []string{"", "push.example.com", "ftp://x", "https://", "https://ann:marker@x", ":marker"} {
		s, err := ParseServer(text)
		if err == nil || !s.IsZero() {
			t.Errorf("%q was taken for a server", text)
		}
		silent(t, err)
	}
}

func TestPlainHTTPIsInClearExceptOnThisMachine(t *testing.T) {
	t.Parallel()
	for text, clear := range map[string]bool{
		"http://push.example.com": true, "http://192.0.2.1:5100": true, "http://[2001:db8::1]": true, "http://localhost.example.com": true,
		"http://localhost:5100": false, "http://127.0.0.1": false, "http://127.8.0.1:80": false, "http://[::1]:5100": false,
		"http://[::ffff:127.0.0.1]": false, "https://push.example.com": false,
	} {
		s, err := ParseServer(text)
		if err != nil || s.InClear() != clear {
			t.Errorf("%s: %v, %v", text, s.InClear(), err)
		}
	}
}

func TestALinkIsNotPrinted(t *testing.T) {
	t.Parallel()
	l := mustLink(t, "https://push.example.com/p/"+aToken)
	if got := fmt.Sprintf("%v %+v %#v", l, l, l); strings.Contains(got, aToken) {
		t.Errorf("printed: %s", got)
	}
}

// FuzzParseLink holds that a text which is taken for a link names, to net/url, the
// server that is asked; that the address of its push, and its page, are links of
// the same push; and that an error says nothing of the text.
func FuzzParseLink(f *testing.F) {
	for _, text := range []string{
		"https://push.example.com/p/" + aToken, "https://Push.example.com:443/deep/er/en/p/" + aToken + "/r", "http://[::1]:5100/f/" + aToken + ".json",
		"https://push.example.com/api/v2/pushes/" + aToken + "/preview.json", "https://a@push.example.com/p/" + aToken, "https://evil.example\\@push.example.com/p/" + aToken,
		"https://push.example.com/%70/" + aToken, "//host/p/" + aToken, "https://host:/p/" + aToken, "https://[fe80::1%25en0]/p/" + aToken,
		"https://host/p/../r/" + aToken, "https://host//p//" + aToken, "https://host/a%2Fb/p/" + aToken, "https://host/%252e%252e/p/" + aToken,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLink(text)
		if err != nil {
			if err != errLink && err != errCut && err != errUser {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		u, err := url.Parse(text)
		if err == nil && strings.Contains(u.Host, "%") {
			return // a zone, which net/url writes in a form that it may not read
		}
		if err != nil || u.User != nil || !strings.Contains(u.Path, l.token.Reveal()) {
			t.Fatalf("%q is taken for a link to %v", text, l.Server)
		}
		asked := l.Server.url("api", "v2", "pushes", l.token.Reveal())
		usual := map[string]string{"http": "80", "https": "443"}[asked.Scheme]
		port := func(u *url.URL) string { return strings.TrimPrefix(u.Port(), usual) }
		if asked.Scheme != strings.ToLower(u.Scheme) || asked.Hostname() != strings.ToLower(u.Hostname()) || port(asked) != port(u) && u.Port() != usual {
			t.Fatalf("%q asks %s", text, asked)
		}
		for _, again := range []string{asked.String(), l.Server.url("p", l.token.Reveal()).String()} {
			if same, err := ParseLink(again); err != nil || same.token.Reveal() != l.token.Reveal() || !same.Server.SameOrigin(l.Server) {
				t.Fatalf("%q became %q, which is %v, %v", text, again, same.Server, err)
			}
		}
	})
}

var rangeForm = regexp.MustCompile(`^(?:bytes )?(?:\*|([0-9+]+)-([0-9+-]+))/([0-9+-]+)$`)

// FuzzContentRange holds that a part which is believed has the form of one, ends
// with the whole, and is the one that was written.
func FuzzContentRange(f *testing.F) {
	for _, text := range []string{"bytes 0-9/10", "bytes 5-9/10", "bytes */10", "bytes 0-9/*", "bytes 0-/10", "0-9/10", "bytes 9-5/10", "bytes 100-9/10", "bytes 0--1/0", "bytes -1-9/10", "bytes 0-9/10/10", "bytes 0-18446744073709551615/18446744073709551616", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first, total, ok := contentRange(http.Header{"Content-Range": {text}})
		if !ok {
			return
		}
		found := rangeForm.FindStringSubmatch(text)
		if found == nil || first < -1 || total < 0 || first >= total && first != -1 {
			t.Fatalf("%q is a part from %d of %d", text, first, total)
		}
		want := []int64{first, total - 1, total}
		if first == -1 {
			want = []int64{0, 0, total}
		}
		for i, digits := range found[1:] {
			if n, _ := strconv.ParseInt(digits, 10, 64); n != want[i] {
				t.Fatalf("%q is taken for %d of %d", text, first, total)
			}
		}
	})
}

const (
	large = 64 << 20 // bytes
	spare = 8 << 20  // bytes that may be allocated on the way, by client and server together
)

// flow is large bytes through a pipe, which holds none of them.
func flow() *io.PipeReader {
	r, w := io.Pipe()
	go func() { // ends when the last byte was read, or the reader is closed
		piece := make([]byte, 64<<10)
		for range large / len(piece) {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
		_ = w.Close()
	}()
	return r
}

func TestMemoryDoesNotGrowWithAnUpload(t *testing.T) {
	received := int64(0)
	f := serving(t, func(w http.ResponseWriter, r *http.Request) {
		received, _ = io.Copy(io.Discard, r.Body)
		says(http.StatusCreated, madeBody)(w, r)
	})
	for _, size := range []int64{large, -1} {
		got := env.Allocated(func() {
			in := NewPush{Files: []Upload{{"large", size, flow()}}}
			if _, err := f.client().Create(t.Context(), in, nil); err != nil {
				t.Error(err)
			}
		})
		if received < large || got > spare {
			t.Errorf("size %d: %d bytes arrived, and %d were allocated", size, received, got)
		}
	}
}

func TestMemoryDoesNotGrowWithADownload(t *testing.T) {
	f := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(large))
		r := flow()
		defer func() { _ = r.Close() }()
		_, _ = io.CopyBuffer(struct{ io.Writer }{w}, r, make([]byte, 64<<10))
	})
	dst := target(t)
	got := env.Allocated(func() {
		if err := f.client().Download(t.Context(), f.file(large), dst, nil); err != nil {
			t.Error(err)
		}
	})
	info, err := os.Stat(dst.Name())
	if err != nil || info.Size() != large || got > spare {
		t.Errorf("%v, %d bytes, and %d were allocated", err, info.Size(), got)
	}
}
