//go:build linux

package proxy

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// forged are the headers of a client that claims another address.
var forged = http.Header{
	"X-Forwarded-For":   {"203.0.113.9"},
	"X-Real-Ip":         {"203.0.113.9"},
	"Forwarded":         {"for=203.0.113.9;proto=http;host=evil.example"},
	"X-Forwarded-Proto": {"http"},
	"X-Forwarded-Host":  {"evil.example"},
}

// create creates a text push through the proxy, with or without an API token. Its link
// must lead to the site.
func (v *route) create(c *http.Client, bearer string) (token string) {
	header := forged.Clone()
	header.Set("Content-Type", "application/json")
	if bearer != "" {
		header.Set("Authorization", "Bearer "+bearer)
	}
	body := strings.NewReader(`{"push":{"payload":"sphinx of black quartz"}}`)
	a := env.Must(ask(v.T, c, http.MethodPost, proctest.PushesPath, header, body))(v)
	a.want(v.T, http.StatusCreated)
	_, rest, _ := strings.Cut(a.body, `"html_url":"`+site+"/p/")
	var ok bool
	token, _, ok = strings.Cut(rest, "/r")
	if !ok || len(token) != 34 {
		v.Fatalf("the link does not lead to %s: %s", site, a.body)
	}
	v.secrets[token] = "a url_token"
	return token
}

// addresses checks that audit logs have the clients' own addresses, whatever headers
// they send.
func (v *route) addresses() {
	token := v.create(v.client("1"), v.token)
	get(v.T, v.client("2"), proctest.PushesPath+"/"+token+"?passphrase=not-for-logs", forged, http.StatusOK)
	v.secrets["not-for-logs"] = "a passphrase"
	var audit struct {
		Logs []struct{ IP, Kind string }
	}
	err := v.filer("1").Call(v.Context(), http.MethodGet, proctest.PushesPath+"/"+token+"/audit", "", nil, http.StatusOK, &audit)
	env.OK(v, err)
	for i, want := range []string{v.net + "1", v.net + "2"} {
		if len(audit.Logs) != 2 || audit.Logs[i].IP != want {
			v.Fatalf("entry %d is not of %s: %+v", i, want, audit.Logs)
		}
	}
}

// limits checks that limits hold for a client, whatever address it claims.
func (v *route) limits() {
	const mostUnknown = 3
	for n := range mostUnknown + 1 {
		header := http.Header{"X-Forwarded-For": {"198.51.100." + string(rune('1'+n))}}
		want := http.StatusNotFound
		if n == mostUnknown {
			want = http.StatusTooManyRequests
		}
		a := get(v.T, v.client("3"), proctest.PushesPath+"/"+strings.Repeat("a", 34), header, want)
		if n == mostUnknown && a.Header.Get("Retry-After") == "" {
			v.Error("a refusal has no retry-after")
		}
	}
	get(v.T, v.client("4"), proctest.PushesPath+"/"+strings.Repeat("a", 34), nil, http.StatusNotFound)
}

// cookies checks that cookies are sent over TLS alone.
func (v *route) cookies() {
	header := forged.Clone()
	header.Set("Content-Type", "application/x-www-form-urlencoded")
	header.Set("Origin", site)
	form := strings.NewReader("email=ann@example.com&password=correct+horse+battery+staple")
	a := env.Must(ask(v.T, v.client("5"), http.MethodPost, "/users/sign_in", header, form))(v)
	a.want(v.T, http.StatusSeeOther)
	i := slices.IndexFunc(a.Cookies(), func(c *http.Cookie) bool { return c.Name == "__Host-pushbox" })
	if i < 0 || !a.Cookies()[i].Secure {
		v.Fatalf("the cookies are not for TLS alone: %v", a.Header["Set-Cookie"])
	}
	v.secrets[a.Cookies()[i].Value] = "a session"
}

// pages checks that pages arrive as the server sends them.
func (v *route) pages() {
	step := "/p/" + v.create(v.client("1"), "") + "/r"
	header := http.Header{"Accept-Encoding": {"gzip"}, "Accept-Language": {"en"}, "Referer": {site + step}}
	through := get(v.T, v.client("1"), step, header, http.StatusOK)
	if (through.ProtoMajor == 2) != v.http2 {
		v.Errorf("it came over %s", through.Proto)
	}
	header.Set("X-Forwarded-Proto", "https")
	header.Set("X-Forwarded-For", v.net+"1")
	header.Set("Host", siteName)
	direct := get(v.T, http.DefaultClient, v.server.URL+step, header, http.StatusOK)
	if !strings.HasPrefix(through.Header.Get("Strict-Transport-Security"), "max-age=") {
		v.Error("the answer has no Strict-Transport-Security")
	}
	if !strings.Contains(direct.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		v.Errorf("the page has no policy: %v", direct.Header)
	}
	old := get(v.T, v.client("1"), strings.TrimSuffix("/f"+step[len("/p"):], "/r"), nil, http.StatusMovedPermanently)
	if to := old.Header.Get("Location"); to != strings.TrimSuffix(step, "/r") {
		v.Errorf("an old link leads to %q", to)
	}
	for _, name := range []string{"Date", "Strict-Transport-Security", "Server", "Connection", "Keep-Alive"} {
		through.Header.Del(name)
		direct.Header.Del(name)
	}
	for name := range through.Header {
		if !slices.Equal(through.Header[name], direct.Header[name]) {
			v.Errorf("%s: %q instead of %q", name, through.Header[name], direct.Header[name])
		}
	}
	if len(through.Header) != len(direct.Header) || through.body != direct.body {
		v.Errorf("the page is not the same: %v instead of %v", through.Header, direct.Header)
	}
}

// largeHeaders checks that large headers reach the server if it accepts them, and are
// refused otherwise, without harm to the next request.
func (v *route) largeHeaders() {
	c := v.client("1")
	path := "/p/" + v.create(c, "") + "/r"
	for _, size := range []int{24 << 10, 200 << 10} {
		a, err := ask(v.T, c, http.MethodGet, path, http.Header{"Cookie": {"x=" + strings.Repeat("y", size)}}, nil)
		fits := size < 32<<10
		refused := err != nil || a.StatusCode >= 400 && a.StatusCode < 500
		if fits && (err != nil || a.StatusCode != http.StatusOK) || !fits && !refused {
			v.Errorf("a header of %d bytes: %v, %v", size, a.Response, err)
		}
		get(v.T, c, path, nil, http.StatusOK)
	}
}

// keepAlive counts connections: the client's, and those that the proxy has closed.
func (v *route) keepAlive() {
	const requests = 40
	c, connections := v.client("1"), 0
	before := lingering(v.T, v.proxy.backend)
	trace := &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		if !i.Reused {
			connections++
		}
	}}
	for range requests {
		req := env.Must(http.NewRequestWithContext(httptrace.WithClientTrace(v.Context(), trace), http.MethodGet, site+"/robots.txt", nil))(v)
		res := env.Must(c.Do(req))(v)
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
	}
	const few = requests * 3 / 4 // health checks close connections, too, and more of them on a busy machine
	if ended := lingering(v.T, v.proxy.backend) - before; connections > 1 || ended > few && !v.proxy.kind.fresh {
		v.Errorf("%d requests took %d connections, and %d to the server", requests, connections, ended)
	}
}

// plainHTTP checks that plain HTTP leads to the front page, whatever the path.
func (v *route) plainHTTP() {
	a := get(v.T, v.client("1"), "http://"+siteName+"/p/"+v.create(v.client("1"), "")+"/r?passphrase=not-for-logs", nil, http.StatusFound)
	if to := a.Header.Get("Location"); to != site+"/" {
		v.Errorf("it leads to %q", to)
	}
}

// refusals checks that refusals reach the client when the server is gone and when it is
// full. Each is in the proxy's logs.
func (f *proxied) refusals(t *testing.T) {
	t.Helper()
	v := &route{T: t, proxied: f, net: "127.7.3."}
	path := "/p/" + v.create(v.client("1"), "") + "/r"
	f.server.Stop()
	a := get(t, v.client("1"), path, nil, 0)
	if a.StatusCode != http.StatusBadGateway && a.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("without a server it is %s", a.Status)
	}
	f.serve(t, f.proxy.backend, "PUSHBOX_LIMITS_MIN_FREE_SPACE=4000000TiB")
	back := v.client("1")
	env.Eventually(t, "the server is found again", func() bool {
		a, err := ask(t, back, http.MethodGet, "/healthz", nil, nil)
		return err == nil && a.StatusCode == http.StatusOK
	})
	get(t, back, path, nil, http.StatusOK)
	for i, http2 := range []bool{false, true} {
		v.http2 = http2
		_, err := v.filer("2").Push(t.Context(), proctest.Multipart, proctest.Content(uint64(i), f.size))
		if err == nil || !strings.Contains(err.Error(), "status 507") {
			t.Errorf("an upload to a full server, HTTP/2 %t: %v", http2, err)
		}
	}
	if code, err := f.server.Signal("TERM"); code != 0 || err != nil {
		t.Errorf("exit code %d, %v", code, err)
	}
}
