//go:build linux

package main

import (
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// everything is a configuration with all that the manuals are about.
const everything = `
listen: INSIDE
public_listen: OUTSIDE
base_path: /push
base_url: https://push.example.com/push
allowed_hosts: ["push.example.com"]
data_dir: DIR/data
tls:
  cert_file: DIR/cert.pem
  key_file: DIR/key.pem
  redirect_listen: PLAIN
metrics:
  listen: METRICS
  token_file: DIR/metrics.token
webhooks:
  allow: ["127.0.0.1"]
backup:
  schedule: 24h
  keep: 2
`

// A mailbox is the receiver of a webhook: it refuses messages until it is opened.
type mailbox struct {
	mu      sync.Mutex
	isOpen  bool
	refused map[string]bool // by the ID of the message
	taken   map[string]bool
}

// ServeHTTP takes a message in, or not.
func (m *mailbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := r.Header.Get("Webhook-Id")
	if !m.isOpen {
		m.refused[id] = true
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	m.taken[id] = true
}

// hasRefused reports whether a message came too early.
func (m *mailbox) hasRefused() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.refused) > 0
}

// open lets messages in from now on.
func (m *mailbox) open() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.isOpen = true
}

// hasAll reports whether those that were refused have been taken.
func (m *mailbox) hasAll() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id := range m.refused {
		if !m.taken[id] {
			return false
		}
	}
	return true
}

// A household is a server with everything, on a database of an older schema.
type household struct {
	*kitchen
	inside, outside *secureSite
	metrics         string // address
	bearer          string
}

func newHousehold(t *testing.T) *household {
	t.Helper()
	k, free := newKitchen(t), freeAddresses(t, 4)
	roots := x509.NewCertPool()
	h := &household{
		kitchen: k, metrics: free[2],
		inside:  &secureSite{t: t, address: free[0], plain: free[3], roots: roots},
		outside: &secureSite{t: t, address: free[1], plain: free[3], roots: roots},
	}
	k.here = []string{"INSIDE", free[0], "OUTSIDE", free[1], "METRICS", free[2], "PLAIN", free[3], "DIR", k.dir}
	h.inside.writePair(filepath.Join(k.dir, "cert.pem"), filepath.Join(k.dir, "key.pem"))
	k.write("metrics.token", strings.Repeat("m", 32))
	k.write("pushbox.yaml", k.place(everything))
	h.directory("data", "testdata/databases/schema-4/master.key")
	k.write("data/pushbox.db", string(readFile(t, "testdata/databases/schema-4/pushbox.db")))
	return h
}

// directory makes one with a key file in it.
func (h *household) directory(name, key string) {
	h.t.Helper()
	if err := os.Mkdir(filepath.Join(h.dir, name), 0o700); err != nil {
		h.t.Fatal(err)
	}
	h.write(name+"/master.key", string(readFile(h.t, key)))
}

// run runs a command with the household's settings, and returns what it says and its
// exit code.
func (h *household) run(args ...string) (said string, code int) {
	h.t.Helper()
	cmd := exec.CommandContext(h.t.Context(), "pushbox", args...)
	cmd.Dir, cmd.Env = h.dir, append(plainEnviron(), "PUSHBOX_CONFIG=pushbox.yaml", "GORACE=atexit_sleep_ms=0")
	out, _ := cmd.CombinedOutput() // the outcome is in the code
	return string(out), cmd.ProcessState.ExitCode()
}

// must runs a command that must say something, and succeed.
func (h *household) must(want string, args ...string) string {
	h.t.Helper()
	said, code := h.run(args...)
	if code != 0 || !strings.Contains(said, want) {
		h.t.Fatalf("pushbox %s ends with %d, and lacks %q:\n%s", strings.Join(args, " "), code, want, said)
	}
	return said
}

// doors wants both doors to have health, and the public one to have no more than it
// should.
func (h *household) doors() {
	h.t.Helper()
	const host = "https://" + certDomain
	for _, s := range []*secureSite{h.inside, h.outside} {
		for _, path := range []string{"/healthz", "/readyz", "/push/healthz", "/push/readyz"} {
			if res, body := s.do(http.MethodGet, host+path, ""); res.StatusCode != http.StatusOK {
				h.t.Errorf("%s is answered %s %s", path, res.Status, body)
			}
		}
	}
	for _, path := range []string{"/push/", "/push/metrics", "/metrics", "/push/p"} {
		if res, _ := h.outside.do(http.MethodGet, host+path, ""); res.StatusCode != http.StatusNotFound {
			h.t.Errorf("the public door answers %s with %s", path, res.Status)
		}
	}
	res, _ := h.outside.do(http.MethodGet, "http://"+certDomain+"/push/p/x", "")
	if res.StatusCode != http.StatusPermanentRedirect || res.Header.Get("Location") != host+"/push/p/x" {
		h.t.Errorf("plain HTTP is answered %s, %s", res.Status, res.Header.Get("Location"))
	}
}

// pushAndView creates a push inside, and views it outside.
func (h *household) pushAndView() {
	h.t.Helper()
	var push struct {
		HTML    string `json:"html_url"`
		JSON    string `json:"json_url"`
		Payload string
	}
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, "https://"+certDomain+"/push/api/v2/pushes", strings.NewReader("push[payload]=seen"))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+h.bearer)
	res, err := h.inside.client().Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&push); err != nil || !strings.HasPrefix(push.HTML, "https://"+certDomain+"/push/p/") {
		h.t.Fatalf("%s, %v, %+v", res.Status, err, push)
	}
	_, body := h.outside.do(http.MethodGet, push.JSON, "")
	if err := json.Unmarshal([]byte(body), &push); err != nil || push.Payload != "seen" {
		h.t.Errorf("outside it is %s", body)
	}
}

// counted wants a line of the metrics.
func (h *household) counted(line string) {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, "http://"+h.metrics+"/metrics", nil)
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.Repeat("m", 32))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer res.Body.Close()
	if all, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(all), "\n"+line+"\n") {
		h.t.Errorf("the metrics lack %s: %s, %v", line, res.Status, err)
	}
}

// TestEverythingTogetherIsKeptMovedAndMended has a server with HTTPS, two doors, a
// sub-path, metrics, webhooks and backups upgrade a database; replaces its key and its
// certificate, and kills it, while a message waits; and restores what it backed up.
func TestEverythingTogetherIsKeptMovedAndMended(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	post := &mailbox{refused: make(map[string]bool), taken: make(map[string]bool)}
	receiver := httptest.NewServer(post)
	defer receiver.Close()

	p := h.start(h.command(everything))
	if said := p.stderr.String(); !strings.Contains(said, "upgraded the database from schema 4") {
		t.Errorf("it says\n%s", said)
	}
	for line := range strings.Lines(h.must("made token", "token", "create", "ann@example.com")) {
		if !strings.HasPrefix(line, "pushbox: ") {
			h.bearer = strings.TrimSpace(line)
		}
	}
	h.must("made webhook 1", "webhook", "add", "ann@example.com", receiver.URL, "--event", "view")
	h.doors()
	h.pushAndView()
	h.counted("pushbox_views_total 1")
	eventually(t, "the receiver was asked", post.hasRefused)
	h.must("wrote a backup", "backup", "box.db")

	before := h.outside.awaited(nil)
	h.inside.writePair(filepath.Join(h.dir, "cert.pem"), filepath.Join(h.dir, "key.pem"))
	h.must("were read again", "reload")
	if leaf := h.outside.shown(); leaf == nil || leaf.Equal(before) || !strings.Contains(p.stderr.String(), "the certificate was read again") {
		t.Errorf("after a reload the certificate is as before, or nothing tells of it\n%s", p.stderr)
	}
	h.must("put a new master key", "key", "rotate")
	p.kill()
	post.open()
	p = h.start(h.command(everything))
	eventually(t, "the message that waited has come", post.hasAll)
	h.examined()
	h.stop(p)
	h.restored()
}

// examined wants doctor to find nothing that is wrong, with the rows that these
// settings make.
func (h *household) examined() {
	h.t.Helper()
	said := h.must("", "doctor")
	for _, want := range []string{
		"ok       master key: ", "ok       backups: the newest of 1 in ", "ok       files of secrets: tls.key_file", "ok       files of secrets: metrics.token_file",
		"ok       metrics: who asks", "ok       certificate: it is good until", "--url https://push.example.com/push",
	} {
		if !strings.Contains(said, want) {
			h.t.Errorf("doctor lacks %q:\n%s", want, said)
		}
	}
}

// restored makes another directory of the backup from before the key was replaced.
func (h *household) restored() {
	h.t.Helper()
	h.directory("moved", filepath.Join(h.dir, "data", "master.key"))
	if said, code := h.run("restore", "box.db", "--data-dir", "moved"); code != 1 || !strings.Contains(said, "hint: the key in use here") {
		h.t.Errorf("with the new key it ends with %d\n%s", code, said)
	}
	old := names(h.t, h.dir, "data/master.key.old-*")
	if len(old) != 1 {
		h.t.Fatalf("old keys: %q", old)
	}
	h.write("moved/master.key", string(readFile(h.t, old[0])))
	h.must("have expired now", "restore", "box.db", "--data-dir", "moved")
	h.must("no problems found", "check", "--deep", "--data-dir", "moved")
	h.must("http://127.0.0.1", "webhook", "list", "ann@example.com", "--data-dir", "moved")
}
