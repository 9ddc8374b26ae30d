package cli

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// proxied is a proxy with TLS before a daemon, and a file with its certificate.
// Change sees each request that it sends on.
func (l *living) proxied(change func(*httputil.ProxyRequest)) (address, caFile string) {
	l.t.Helper()
	to, err := url.Parse(l.url)
	if err != nil {
		l.t.Fatal(err)
	}
	p := httptest.NewUnstartedServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
		r.SetXForwarded()
		change(r)
	}})
	p.Config.ErrorLog = log.New(io.Discard, "", 0) // of whom nobody vouches for
	p.StartTLS()
	l.t.Cleanup(p.Close)
	caFile = filepath.Join(l.t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})
	if err := os.WriteFile(caFile, text, 0o600); err != nil {
		l.t.Fatal(err)
	}
	return p.URL, caFile
}

func TestDoctorSeesWhatAProxyDoes(t *testing.T) {
	t.Parallel()
	l := live(t, "")
	for name, test := range map[string]struct {
		change func(*httputil.ProxyRequest)
		code   int
		want   string
	}{
		"as it should": {func(*httputil.ProxyRequest) {}, exitDone, "ok       proxy: it tells the scheme, the host and the client's address (127.0.0.1)"},
		"no scheme":    {func(r *httputil.ProxyRequest) { r.Out.Header.Del("X-Forwarded-Proto") }, exitProblems, "problem  proxy: it arrives as http"},
		"another host": {func(r *httputil.ProxyRequest) { r.Out.Host = "inside"; r.Out.Header.Del("X-Forwarded-Host") }, exitProblems, `problem  proxy: it arrives for "inside"`},
		"no address":   {func(r *httputil.ProxyRequest) { r.Out.Header["X-Forwarded-For"] = nil }, exitProblems, "problem  proxy: X-Forwarded-For is missing"},
		"a made-up address": {func(r *httputil.ProxyRequest) {
			if told := r.In.Header["X-Forwarded-For"]; told != nil {
				r.Out.Header["X-Forwarded-For"] = told
			}
		}, exitProblems, "cure: have the proxy append"},
		"other paths": {func(r *httputil.ProxyRequest) { r.Out.URL.Path = "/healthz" }, exitProblems, "is not that of the server of this data directory"},
	} {
		address, caFile := l.proxied(test.change)
		got := run(t, l.dir, "", "doctor", "--url", address, "--ca-file", caFile)
		if got.want(t, test.code); !strings.Contains(got.stdout, test.want) {
			t.Errorf("%s: it lacks %q:\n%s", name, test.want, got.stdout)
		}
	}
	address, _ := l.proxied(func(*httputil.ProxyRequest) {})
	got := run(t, l.dir, "", "doctor", "--url", address).want(t, exitProblems, "problems found", "hint: do what is said behind cure")
	if !strings.Contains(got.stdout, "problem  certificate: nobody whom this machine trusts vouches for it") {
		t.Errorf("a certificate of its own is taken:\n%s", got.stdout)
	}
	if direct := run(t, l.dir, "", "doctor", "--url", l.url); !strings.Contains(direct.stdout, "ok       proxy: none is in between") {
		t.Errorf("without a proxy:\n%s", direct.stdout)
	}
}

// TestOnlyTheOperatorLearnsHowARequestArrives: a code is good for one request.
func TestOnlyTheOperatorLearnsHowARequestArrives(t *testing.T) {
	t.Parallel()
	l := live(t, "")
	var seen string
	address, caFile := l.proxied(func(r *httputil.ProxyRequest) { seen = r.In.URL.Path })
	run(t, l.dir, "", "doctor", "--url", address, "--ca-file", caFile).want(t, exitDone)
	if !strings.HasPrefix(seen, "/doctor/") || len(seen) < 30 {
		t.Fatalf("it asked for %q", seen)
	}
	for _, path := range []string{seen, "/doctor/", "/doctor/x", "/doctor/" + strings.Repeat("A", 26)} {
		if status, text := l.ask("GET", path, ""); status != http.StatusNotFound || strings.Contains(text, "127.0.0.1") {
			t.Errorf("%s is answered %d, %s", path, status, text)
		}
	}
}

func TestDoctorLooksWithAServerAndWithout(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	out := run(t, dir, "", "doctor").want(t, exitDone, "no problems found").stdout
	for _, want := range []string{"warning  server: no server is running", "ok       master key: ", "skipped  sweeper", "ok       clock"} {
		if !strings.Contains(out, want) {
			t.Errorf("without a server it lacks %q:\n%s", want, out)
		}
	}
	l := live(t, "")
	out = run(t, l.dir, "", "doctor").want(t, exitDone).stdout
	for _, want := range []string{"ok       server: version", "ok       master key: ", "ok       control socket", "ok       database"} {
		if !strings.Contains(out, want) {
			t.Errorf("with a server it lacks %q:\n%s", want, out)
		}
	}
	key, away := filepath.Join(l.dir, "master.key"), filepath.Join(l.dir, "away")
	if err := os.Rename(key, away); err != nil {
		t.Fatal(err)
	}
	out = run(t, l.dir, "", "doctor").want(t, exitProblems, "1 problem found").stdout
	if !strings.Contains(out, "problem  master key: the server has the key in its memory, but the next start would fail") {
		t.Errorf("without a key:\n%s", out)
	}
	other, err := os.ReadFile(filepath.Join(dir, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key, other, 0o600); err != nil {
		t.Fatal(err)
	}
	out = run(t, l.dir, "", "doctor").want(t, exitProblems).stdout
	if !strings.Contains(out, "the next start would fail: the master key does not fit this database") {
		t.Errorf("with the key of another database:\n%s", out)
	}
}

func TestDoctorSpeaksToPrograms(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	r := run(t, filepath.Join(dir, "none"), "", "doctor", "--json").want(t, exitProblems)
	var out struct {
		Problems, Warnings int
		Findings           []struct{ Check, Grade, Text, Cure string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		t.Fatal(err)
	}
	if out.Problems != 1 || len(out.Findings) < 10 || out.Findings[1].Check != "data directory" || out.Findings[1].Grade != "problem" || out.Findings[1].Cure == "" {
		t.Errorf("%+v", out)
	}
}

func TestDoctorTakesNoOtherAddresses(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"push.example.com", "ftp://x", "https://", "https://u:p@x", "https://x?q", "https://x#f", "https://%zz"} {
		run(t, shortDir(t), "", "doctor", "--url", bad).want(t, exitUsage, "--url must be an address")
	}
	for given, want := range map[string]string{"https://x:443": "x", "http://x:80/sub": "x", "https://x:80": "x:80", "http://[::1]:5100": "[::1]:5100"} {
		if u, err := doctorURL(given); err != nil || u.Host != want {
			t.Errorf("%s: %v, %v", given, u, err)
		}
	}
}
