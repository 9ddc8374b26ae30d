//go:build linux

package proxy

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// TestPushboxBehindProxies runs each proxy with its file in deploy, in front of a
// server, and compares what clients get from both. PUSHBOX_TEST_PROXY_MIB sets the size
// of the files (64); at least 16, so that no buffer holds one.
func TestPushboxBehindProxies(t *testing.T) {
	t.Parallel()
	size := int64(env.Length(t, "PUSHBOX_TEST_PROXY_MIB")) << 20
	for name, kind := range proxyKinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proctest.Installed(t, kind.program, kind.debian)
			f := newProxied(t, kind, size)
			for i, protocol := range []string{"HTTP/1.1", "HTTP/2"} {
				t.Run(protocol, func(t *testing.T) {
					v := &route{T: t, proxied: f, http2: i == 1, net: fmt.Sprintf("127.7.%d.", i+1)}
					v.follow()
				})
			}
			f.neverTwice(t, kind, f.proxy.backend)
			f.refusals(t)
			f.wantSilentLogs(t, "127.7.1.1", "127.7.2.1")
		})
	}
}

// A proxied is a server behind a proxy.
type proxied struct {
	dir, token string
	size       int64 // of the large files, in bytes
	server     *proctest.Server
	proxy      *proxy
	secrets    map[string]string // what no log may have, and its name
}

func newProxied(t *testing.T, kind proxyKind, size int64) *proxied {
	t.Helper()
	f := &proxied{dir: t.TempDir(), size: size, secrets: make(map[string]string)}
	f.serve(t, "127.0.0.1:0")
	f.token = proctest.APIToken(t, f.dir)
	f.secrets[f.token] = "the API token"
	f.proxy = startProxy(t, kind, strings.TrimPrefix(f.server.URL, "http://"))
	return f
}

// serve starts the server, which trusts 127.0.0.1 as its proxy.
func (f *proxied) serve(t *testing.T, address string, settings ...string) {
	t.Helper()
	environ := append(proctest.LoadEnviron(), "PUSHBOX_TRUSTED_PROXIES=127.0.0.1", "PUSHBOX_LIMITS_UNKNOWN_TOKENS_PER_MINUTE=3")
	p, err := proctest.Start(f.dir, append(environ, settings...), []string{"--listen", address})
	env.OK(t, err)
	proctest.EndWith(t, p.Kill)
	f.server = &proctest.Server{Process: p, T: t}
}

// A route is one way in: a protocol, and a network of clients.
type route struct {
	*testing.T
	*proxied
	http2 bool
	net   string // prefix of their addresses
}

func (v *route) client(number string) *http.Client {
	return v.proxy.client(v.T, v.net+number, v.http2)
}

// filer is a file client with the API token.
func (v *route) filer(number string) *proctest.FileClient {
	return &proctest.FileClient{Caller: proctest.Caller{URL: site, HTTP: v.client(number)}, Token: v.token}
}

// follow runs all checks.
func (v *route) follow() {
	v.addresses()
	v.limits()
	v.cookies()
	v.pages()
	v.largeHeaders()
	v.keepAlive()
	v.plainHTTP()
	ctx, cancel := context.WithTimeout(v.Context(), proctest.Within(8*v.size))
	defer cancel()
	v.files(ctx)
	v.tooLarge()
}

// wantSilentLogs stops the proxy and searches its log and the server's for secrets. The
// access log must have the clients, or the search would prove nothing.
func (f *proxied) wantSilentLogs(t *testing.T, clients ...string) {
	t.Helper()
	f.proxy.stop(t)
	all, access := f.proxy.logs(t)
	all["pushbox"] = f.server.Log()
	for where, text := range all {
		for secret, what := range f.secrets {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s is in the log %q: %.200s", what, where, text[max(0, i-100):])
			}
		}
	}
	for _, client := range clients {
		if !strings.Contains(access, client) {
			t.Errorf("the access log does not have %s: %.500s", client, access)
		}
	}
}
