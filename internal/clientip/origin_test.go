package clientip_test

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"
)

const (
	trusted  = "10.0.0.1:1"
	stranger = "203.0.113.7:1"
)

func TestTheSchemeIsTheTrustedProxysOrTheConnections(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, peer string
		tls        bool
		protos     []string
		want       string
	}{
		{"plain", stranger, false, nil, "http"},
		{"TLS", stranger, true, nil, "https"},
		{"a stranger's header", stranger, false, []string{"https"}, "http"},
		{"a stranger's header over TLS", stranger, true, []string{"http"}, "https"},
		{"a proxy without the header", trusted, false, nil, "http"},
		{"a proxy with TLS in front", trusted, false, []string{"https"}, "https"},
		{"a proxy without TLS in front", trusted, true, []string{"http"}, "http"},
		{"in capitals", trusted, false, []string{" HTTPS "}, "https"},
		{"the last value", trusted, false, []string{"http, https"}, "https"},
		{"the last line", trusted, false, []string{"https", "http"}, "http"},
		{"another scheme", trusted, true, []string{"javascript"}, "https"},
		{"an empty value", trusted, true, []string{""}, "https"},
		{"nothing after the comma", trusted, false, []string{"https,"}, "http"},
		{"a Unix socket that is not trusted", "@", false, []string{"https"}, "http"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-Proto": c.protos}}
		if c.tls {
			r.TLS = &tls.ConnectionState{}
		}
		if got := proxies().Scheme(r); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestTheHostIsTheTrustedProxysOrTheRequests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, peer string
		hosts      []string
		want       string
	}{
		{"no header", stranger, nil, "own.example"},
		{"a stranger's header", stranger, []string{"evil.example"}, "own.example"},
		{"a proxy without the header", trusted, nil, "own.example"},
		{"a proxy with the header", trusted, []string{"push.example:8443"}, "push.example:8443"},
		{"the last value", trusted, []string{"evil.example, push.example"}, "push.example"},
		{"the last line", trusted, []string{"evil.example", "push.example"}, "push.example"},
		{"an empty value", trusted, []string{""}, "own.example"},
		{"a bad value", trusted, []string{"push.example/path"}, ""},
		{"a bad value of a stranger", stranger, []string{"push.example/path"}, "own.example"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Host: "own.example", Header: http.Header{"X-Forwarded-Host": c.hosts}}
		if got, ok := proxies().Host(r); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v; want %q", c.name, got, ok, c.want)
		}
	}
}

func TestAHostIsANameOrAnAddressAndAPort(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"push.example": true, "PUSH.example": true, "localhost": true, "a_b-c.example.": true, "xn--80ak6aa92e.example": true,
		"push.example:80": true, "push.example:65535": true, "203.0.113.7": true, "203.0.113.7:80": true,
		"[2001:db8::1]": true, "[2001:db8::1]:80": true, "[::ffff:203.0.113.7]": true,

		"": false, ":80": false, "push.example:": false, "push.example:x": false, "push.example:123456": false,
		"push.example:80:80": false, "2001:db8::1": false, "[2001:db8::1]80": false, "[2001:db8::1": false,
		"2001:db8::1]": false, "[]": false, "[203.0.113.7]": false, "[push.example]": false, "[fe80::1%eth0]": false,
		"push.example/": false, "push.example?x": false, "push.example#x": false, "user@push.example": false,
		"push example": false, "push.example\r\n": false, "push.example\x00": false, "püsh.example": false,
		`push.example"`: false, "<b>": false, "push.example\\": false, "push.example%2f": false,
		strings.Repeat("a", 255): true, strings.Repeat("a", 256): false,
		strings.Repeat("a", 252) + ":80": true, strings.Repeat("a", 253) + ":80": false,
	} {
		r := &http.Request{RemoteAddr: stranger, Host: host}
		got, ok := proxies().Host(r)
		if ok != want || ok && got != host || !ok && got != "" {
			t.Errorf("%q: %q, %v", host, got, ok)
		}
	}
}
