//go:build linux

package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pushbox/internal/testenv"
)

// TestPushboxBehindProxies runs each proxy from its file in deploy, in front of a
// server, and asks both of them for what people get who do so.
// PUSHBOX_TEST_PROXY_MIB sets how large the files are (64); 16 is the least that no
// buffer holds.
func TestPushboxBehindProxies(t *testing.T) {
	t.Parallel()
	size := int64(testenv.Length(t, "PUSHBOX_TEST_PROXY_MIB", 64, 0)) << 20
	if size == 0 {
		t.Skip("without files there is little to see: set PUSHBOX_TEST_PROXY_MIB, or leave out -short")
	}
	for name, kind := range proxyKinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			installed(t, kind.program, kind.debian)
			f := newFronted(t, kind, size)
			for i, protocol := range []string{"HTTP/1.1", "HTTP/2"} {
				t.Run(protocol, func(t *testing.T) {
					v := &visit{T: t, fronted: f, http2: i == 1, net: fmt.Sprintf("127.7.%d.", i+1)}
					v.follow()
				})
			}
			f.refusals(t)
			f.wantSilentLogs(t)
		})
	}
}

// A fronted is a server with a proxy in front.
type fronted struct {
	dir, token string
	size       int64 // of the large files, in bytes
	server     *victim
	proxy      *proxy
	secrets    map[string]string // what is in no log, and what that is
}

func newFronted(t *testing.T, kind proxyKind, size int64) *fronted {
	t.Helper()
	f := &fronted{dir: t.TempDir(), size: size, secrets: make(map[string]string)}
	f.serve(t, "127.0.0.1:0")
	f.token = apiToken(t, f.dir)
	f.secrets[f.token] = "the API token"
	f.proxy = startProxy(t, kind, strings.TrimPrefix(f.server.url, "http://"))
	return f
}

// serve starts the server. Only what comes from 127.0.0.1 is the proxy.
func (f *fronted) serve(t *testing.T, address string, settings ...string) {
	t.Helper()
	environ := append(victimEnviron(), "PUSHBOX_TRUSTED_PROXIES=127.0.0.1", "PUSHBOX_LIMITS_UNKNOWN_TOKENS_PER_MINUTE=3")
	p, err := startServer(f.dir, append(environ, settings...), []string{"--listen", address})
	if err != nil {
		t.Fatal(err)
	}
	endInTime(t, p.kill)
	f.server = &victim{process: p, t: t}
}

// A visit is one way in: a protocol, and a network of clients.
type visit struct {
	*testing.T
	*fronted
	http2 bool
	net   string // what their addresses begin with
}

func (v *visit) guest(number string) *http.Client { return v.proxy.guest(v.T, v.net+number, v.http2) }

// filer is a client with the API token.
func (v *visit) filer(number string) *filer {
	return &filer{url: site, token: v.token, http: v.guest(number)}
}

// follow does everything.
func (v *visit) follow() {
	v.addresses()
	v.limits()
	v.cookies()
	v.pages()
	v.largeHeaders()
	v.keepAlive()
	v.plainHTTP()
	ctx, cancel := context.WithTimeout(v.Context(), within(8*v.size))
	defer cancel()
	v.files(ctx)
	v.tooLarge()
}

// wantSilentLogs ends everything, and looks through all that was written down. The
// access log must have been kept, or there would be nothing to look at.
func (f *fronted) wantSilentLogs(t *testing.T) {
	t.Helper()
	f.proxy.stop(t)
	all, access := f.proxy.logs(t)
	all["pushbox"] = f.server.stderr.String()
	for where, text := range all {
		for secret, what := range f.secrets {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s is in the log %q: %.200s", what, where, text[max(0, i-100):])
			}
		}
	}
	for _, client := range []string{"127.7.1.1", "127.7.2.1"} {
		if !strings.Contains(access, client) {
			t.Errorf("the access log does not know %s: %.500s", client, access)
		}
	}
}
