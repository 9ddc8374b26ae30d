package server_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

func TestOnlyAllowedHostsAreAnswered(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) {
		c.AllowedHosts = []string{"push.example.com", "*.lan", "192.0.2.7", "2001:db8::1"}
		c.BaseURL = "https://Named.example:8443"
	})
	proxied := func(host, told string) http.Header {
		return http.Header{"Host": {host}, "X-Forwarded-For": {"203.0.113.9"}, "X-Forwarded-Host": {told}}
	}
	host := func(host string) http.Header { return http.Header{"Host": {host}} }
	for _, c := range []struct {
		name   string
		header http.Header
		good   bool
	}{
		{"its name", host("push.example.com"), true},
		{"with a port", host("push.example.com:8080"), true},
		{"in capitals, with the root's dot", host("PUSH.example.COM."), true},
		{"an address", host("192.0.2.7:5100"), true},
		{"an IPv6 address", host("[2001:DB8:0::1]:5100"), true},
		{"an IPv6 address without a port", host("[2001:db8::1]"), true},
		{"below a name", host("box.lan"), true},
		{"far below a name", host("a.b.lan"), true},
		{"base_url", host("named.example"), true},
		{"the machine itself", host("127.0.0.1:5100"), true},
		{"the machine by name", host("localhost"), true},
		{"told by a proxy", proxied("push.example.com", "box.lan"), true},
		{"another", host("evil.example"), false},
		{"the name itself", host("lan"), false},
		{"a dot and the name", host(".lan"), false},
		{"one that ends like it", host("badlan"), false},
		{"below the other", host("x.push.example.com"), false},
		{"a name in front", host("push.example.com.evil.example"), false},
		{"another address", host("192.0.2.8"), false},
		{"what a browser's script could add", proxied("evil.example", "push.example.com"), false},
		{"told by a proxy and another", proxied("push.example.com", "evil.example"), false},
		{"told what is no name", proxied("push.example.com", "a b"), false},
		{"the machine itself, by way of a proxy", proxied("127.0.0.1", "127.0.0.1"), false},
	} {
		for _, path := range []string{"/", "/api/v2/version", "/p/x", "/nowhere"} {
			got := a.Get(path, c.header)
			if (got.Status != http.StatusMisdirectedRequest) != c.good {
				t.Errorf("%s, %s: %d", c.name, path, got.Status)
			}
			if c.good {
				continue
			}
			api := strings.HasPrefix(path, "/api/")
			if media := got.Header.Get("Content-Type"); strings.HasPrefix(media, "application/json") != api || api && got.Problem() != "host" || !api && !strings.HasPrefix(media, "text/plain") {
				t.Errorf("%s, %s: %v", c.name, path, got.Header)
			}
			if !strings.Contains(got.Body, "allowed_hosts") || strings.Contains(strings.ToLower(got.Body), "named.example") || strings.Contains(got.Body, "push.example.com") ||
				got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s, %s: %v %q", c.name, path, got.Header, got.Body)
			}
		}
		a.Get("/healthz", c.header).Want(http.StatusOK)
	}
	if line := a.Raw("GET / HTTP/1.0\r\n\r\n"); !strings.Contains(line, " 421 ") {
		t.Errorf("no host at all: %s", line)
	}
	a.Recipients().Get("/robots.txt", host("evil.example")).Want(http.StatusMisdirectedRequest)
}

func TestWithABaseURLItsHostAndThisMachineAreAnswered(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.BaseURL = "https://Push.example.com:8443/" })
	for host, good := range map[string]bool{
		"push.example.com": true, "PUSH.example.com.:443": true, "127.0.0.1:5100": true, "localhost": true, "LOCALHOST:1": true, "[::1]:5100": true,
		"evil.example": false, "x.push.example.com": false, "192.0.2.7": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "inner": false,
	} {
		for name, header := range map[string]http.Header{
			"the Host":           {"Host": {host}},
			"a proxy's Host":     {"Host": {host}, "X-Forwarded-For": {"203.0.113.9"}},
			"what a proxy tells": {"X-Forwarded-For": {"203.0.113.9"}, "X-Forwarded-Host": {host}},
		} {
			if got := a.Get("/", header); (got.Status == http.StatusOK) != good || !good && got.Status != http.StatusMisdirectedRequest {
				t.Errorf("%s as %s: %d", host, name, got.Status)
			}
		}
	}
}

// A listener on all addresses is also asked for by the address of one of them.
func TestWithABaseURLTheAddressOfTheConnectionIsAnswered(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.BaseURL = "https://push.example.com" })
	asked := func(at, host string) int {
		r := httptest.NewRequestWithContext(
			context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(at), Port: 5100}), http.MethodGet, "/", nil)
		r.Host, r.RemoteAddr = host, "198.51.100.1:1"
		w := httptest.NewRecorder()
		a.Handler.ServeHTTP(w, r)
		return w.Code
	}
	for _, c := range []struct {
		at, host string
		want     int
	}{
		{"192.0.2.7", "192.0.2.7:5100", http.StatusOK},
		{"2001:db8::7", "[2001:db8::7]", http.StatusOK},
		{"192.0.2.7", "192.0.2.8", http.StatusMisdirectedRequest},
		{"192.0.2.7", "box.lan", http.StatusMisdirectedRequest},
	} {
		if got := asked(c.at, c.host); got != c.want {
			t.Errorf("%s at %s: %d", c.host, c.at, got)
		}
	}
}

func TestWithoutABaseURLAndAllowedHostsAnyIsAnswered(t *testing.T) {
	t.Parallel()
	servertest.New(t).Get("/", http.Header{"Host": {"evil.example"}}).Want(http.StatusOK)
}
