package cli

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/daemon"
	"pushbox/internal/testkit/env"
	"pushbox/server"
)

// A served is a server with a control socket that tells doctor what a daemon's does.
type served struct {
	t        *testing.T
	dir, url string
}

func serve(t *testing.T, change ...func(*config.Config)) *served {
	t.Helper()
	cfg := settingsFor(env.ShortDir(t))
	for _, c := range change {
		c(&cfg)
	}
	s := opened(t, cfg)
	handler := env.Must(server.New(server.Options{Config: cfg, Store: s, Log: zerolog.Nop(), Version: release}))(t)
	web := httptest.NewServer(handler)
	examine := func(ctx context.Context, _ admin.None) (admin.Facts, error) {
		return daemon.Examine(ctx, s, cfg, release)
	}
	probe := func(context.Context, admin.None) (admin.Path, error) {
		path, err := handler.NewProbe()
		return admin.Path{Path: path}, err
	}
	end := control(t, cfg, func(ctx context.Context, l net.Listener) error {
		return admin.Serve(ctx, l, s, admin.Examine.By(examine), admin.Probe.By(probe))
	})
	t.Cleanup(func() {
		web.Close()
		end()
		closed(t, s)
	})
	return &served{t, cfg.DataDir, web.URL}
}

// proxied is a proxy with TLS before a server, and a file with its certificate.
// Change sees each request that it sends on.
func (l *served) proxied(change func(*httputil.ProxyRequest)) (address, caFile string) {
	l.t.Helper()
	to := env.Must(url.Parse(l.url))(l.t)
	p := httptest.NewUnstartedServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		r.SetXForwarded()
		change(r)
	}})
	p.Config.ErrorLog = log.New(io.Discard, "", 0) // it would say that no authority vouches for the certificate
	p.StartTLS()
	l.t.Cleanup(p.Close)
	caFile = filepath.Join(l.t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})
	env.OK(l.t, os.WriteFile(caFile, text, 0o600))
	return p.URL, caFile
}

func TestDoctorSeesWhatAProxyDoes(t *testing.T) {
	t.Parallel()
	l := serve(t)
	for name, test := range map[string]struct {
		change func(*httputil.ProxyRequest)
		code   int
		want   string
	}{
		"as it should": {func(*httputil.ProxyRequest) {}, exitDone, "ok       proxy: it passes on the scheme, the host and the client's address (127.0.0.1)"},
		"no scheme":    {func(r *httputil.ProxyRequest) { r.Out.Header.Del("X-Forwarded-Proto") }, exitProblems, "problem  proxy: the request arrives as http"},
		"another host": {func(r *httputil.ProxyRequest) { r.Out.Host = "inside"; r.Out.Header.Del("X-Forwarded-Host") }, exitProblems, `problem  proxy: the request arrives for "inside"`},
		"no address":   {func(r *httputil.ProxyRequest) { r.Out.Header["X-Forwarded-For"] = nil }, exitProblems, "problem  proxy: X-Forwarded-For is missing"},
		"a made-up address": {func(r *httputil.ProxyRequest) {
			if told := r.In.Header["X-Forwarded-For"]; told != nil {
				r.Out.Header["X-Forwarded-For"] = told
			}
		}, exitProblems, "cure: let the proxy append"},
		"other paths": {func(r *httputil.ProxyRequest) { r.Out.URL.Path = "/healthz" }, exitProblems, "does not come from the server of this data directory"},
	} {
		address, caFile := l.proxied(test.change)
		got := run(t, l.dir, "", "doctor", "--url", address, "--ca-file", caFile)
		if got.want(t, test.code); !strings.Contains(got.stdout, test.want) {
			t.Errorf("%s: it lacks %q:\n%s", name, test.want, got.stdout)
		}
	}
	address, _ := l.proxied(func(*httputil.ProxyRequest) {})
	got := run(t, l.dir, "", "doctor", "--url", address).want(t, exitProblems, "problems found", "hint: make the corrections above")
	env.Contains(t, "a certificate of its own is taken", got.stdout, "problem  certificate: this machine does not trust its issuer")
	env.Contains(t, "without a proxy", run(t, l.dir, "", "doctor", "--url", l.url).stdout, "ok       proxy: there is no proxy")
}

func TestDoctorSeesAForgedHostThatTheServerRefuses(t *testing.T) {
	t.Parallel()
	l := serve(t, func(c *config.Config) { c.AllowedHosts = []string{"127.0.0.1"} })
	address, caFile := l.proxied(func(r *httputil.ProxyRequest) {
		if told := r.In.Header["X-Forwarded-Host"]; told != nil {
			r.Out.Header["X-Forwarded-Host"] = told
		}
	})
	got := run(t, l.dir, "", "doctor", "--url", address, "--ca-file", caFile)
	if got.want(t, exitProblems); !strings.Contains(got.stdout, "cure: let the proxy set X-Forwarded-Host, or remove it") || strings.Contains(got.stdout, "does not come from") {
		t.Errorf("it says:\n%s", got.stdout)
	}
}

// TestOnlyTheOperatorLearnsHowARequestArrives: a code is valid for one request.
func TestOnlyTheOperatorLearnsHowARequestArrives(t *testing.T) {
	t.Parallel()
	l := serve(t)
	var seen string
	address, caFile := l.proxied(func(r *httputil.ProxyRequest) { seen = r.In.URL.Path })
	run(t, l.dir, "", "doctor", "--url", address, "--ca-file", caFile).want(t, exitDone)
	if !strings.HasPrefix(seen, "/doctor/") || len(seen) < 30 {
		t.Fatalf("it asked for %q", seen)
	}
	for _, path := range []string{seen, "/doctor/", "/doctor/x", "/doctor/" + strings.Repeat("A", 26)} {
		if res, text := env.Ask(t, http.MethodGet, l.url+path, ""); res.StatusCode != http.StatusNotFound || strings.Contains(text, "127.0.0.1") {
			t.Errorf("%s is answered %s, %s", path, res.Status, text)
		}
	}
}

func TestDoctorLooksWithAServerAndWithout(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	out := run(t, dir, "", "doctor").want(t, exitDone, "no problems, ").stdout // and three warnings, or four while the disk is slow
	for _, want := range []string{"warning  server: no server is running", "warning  master key: it fits the database, but ", "skipped  sweeper", "ok       clock"} {
		env.Contains(t, "without a server it", out, want)
	}
	l := serve(t)
	out = run(t, l.dir, "", "doctor").want(t, exitDone).stdout
	for _, want := range []string{"ok       server: version", "warning  master key: it fits the database, but ", "ok       control socket", "ok       database"} {
		env.Contains(t, "with a server it", out, want)
	}
	key, away := filepath.Join(l.dir, "master.key"), filepath.Join(l.dir, "away")
	env.OK(t, os.Rename(key, away))
	out = run(t, l.dir, "", "doctor").want(t, exitProblems, "1 problem found").stdout
	env.Contains(t, "without a key", out, "problem  master key: the running server has the key, but the next start would fail")
	other := env.Read(t, filepath.Join(dir, "master.key"))
	env.OK(t, os.WriteFile(key, other, 0o600))
	out = run(t, l.dir, "", "doctor").want(t, exitProblems).stdout
	env.Contains(t, "with the key of another database", out, "the next start would fail: the master key does not fit this database")
}

func TestDoctorSpeaksToPrograms(t *testing.T) {
	t.Parallel()
	dir := env.ShortDir(t)
	r := run(t, filepath.Join(dir, "none"), "", "doctor", "--json").want(t, exitProblems)
	var out struct {
		Problems, Warnings int
		Findings           []struct{ Check, Grade, Text, Cure string }
	}
	env.OK(t, json.Unmarshal([]byte(r.stdout), &out))
	if out.Problems != 1 || len(out.Findings) < 10 || out.Findings[1].Check != "data directory" || out.Findings[1].Grade != "problem" || out.Findings[1].Cure == "" {
		t.Errorf("%+v", out)
	}
}

func TestDoctorTakesNoOtherAddresses(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"push.example.com", "ftp://x", "https://", "https://u:p@x", "https://x?q", "https://x#f", "https://%zz"} {
		run(t, env.ShortDir(t), "", "doctor", "--url", bad).want(t, exitUsage, "--url must be an address")
	}
	for given, want := range map[string]string{"https://x:443": "x", "http://x:80/sub": "x", "https://x:80": "x:80", "http://[::1]:5100": "[::1]:5100"} {
		if u, err := doctorURL(given); err != nil || u.Host != want {
			t.Errorf("%s: %v, %v", given, u, err)
		}
	}
}
