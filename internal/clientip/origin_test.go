package clientip_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"pushbox/internal/clientip"
	"pushbox/internal/testkit/env"
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
		env.Equal(t, c.name, proxies().Scheme(r), c.want)
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

func TestLoopbackHosts(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.1.2.3": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "192.0.2.1": false, "2001:db8::1": false, "::ffff:192.0.2.1": false,
		"localhost.example.com": false, "127.0.0.1:25": false, "[::1]": false,
	} {
		env.Equal(t, host, clientip.IsLoopback(host), want)
	}
}

func TestAReportShowsWhatArrivedAndHowItWasUnderstood(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("GET", "http://inside/doctor/x", nil)
	r.RemoteAddr = "10.0.0.1:1234"
	r.Header.Set("X-Forwarded-For", "198.51.100.1")
	r.Header.Set("X-Forwarded-Proto", "https")
	r.Header.Set("X-Forwarded-Host", "push.example.com")
	r.Header.Set("Cookie", "not to be told")
	received := map[string][]string{
		"Host": {"inside"}, "X-Forwarded-For": {"198.51.100.1"}, "X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"push.example.com"},
	}
	trusting := clientip.New([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")})
	for _, test := range []struct {
		proxies clientip.Proxies
		want    clientip.Report
	}{
		{trusting, clientip.Report{Peer: "10.0.0.1", Trusted: true, Received: received, Scheme: "https", Host: "push.example.com", Client: "198.51.100.1"}},
		{clientip.Proxies{}, clientip.Report{Peer: "10.0.0.1", Received: received, Scheme: "http", Host: "inside", Client: "10.0.0.1"}},
	} {
		if got := test.proxies.Report(r); !reflect.DeepEqual(got, test.want) {
			t.Errorf("got  %+v\nwant %+v", got, test.want)
		}
	}
	r.Header.Set("X-Forwarded-Host", "a b")
	if got := trusting.Report(r); got.Host != "" {
		t.Errorf("%q is no host", got.Host)
	}
}
