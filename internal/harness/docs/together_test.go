//go:build linux

package docs

import (
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// everything is a configuration with all that the manuals describe.
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

// A hookReceiver receives webhooks: it refuses messages until it is opened.
type hookReceiver struct {
	mu      sync.Mutex
	isOpen  bool
	refused map[string]bool // by the ID of the message
	taken   map[string]bool
}

// ServeHTTP accepts or refuses a message.
func (m *hookReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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

// hasRefused reports whether it has refused a message.
func (m *hookReceiver) hasRefused() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.refused) > 0
}

// open makes it accept messages from now on.
func (m *hookReceiver) open() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.isOpen = true
}

// hasAll reports whether all refused messages were accepted later.
func (m *hookReceiver) hasAll() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id := range m.refused {
		if !m.taken[id] {
			return false
		}
	}
	return true
}

// A fullServer is a server with all of these settings, on a database of an older schema.
type fullServer struct {
	*recipeServer
	inside, outside *httpsServer
	metrics         string // address
	bearer          string
}

func newFullServer(t *testing.T) *fullServer {
	t.Helper()
	k, free := newRecipeServer(t), proctest.FreeAddresses(t, 4)
	roots := x509.NewCertPool()
	h := &fullServer{
		recipeServer: k, metrics: free[2],
		inside:  &httpsServer{t: t, address: free[0], plain: free[3], roots: roots},
		outside: &httpsServer{t: t, address: free[1], plain: free[3], roots: roots},
	}
	k.here = []string{"INSIDE", free[0], "OUTSIDE", free[1], "METRICS", free[2], "PLAIN", free[3], "DIR", k.dir}
	h.inside.writePair(filepath.Join(k.dir, "cert.pem"), filepath.Join(k.dir, "key.pem"))
	k.write("metrics.token", strings.Repeat("m", 32))
	k.write("pushbox.yaml", k.place(everything))
	h.directory("data", "testdata/databases/schema-4/master.key")
	k.write("data/pushbox.db", string(readFile(t, "testdata/databases/schema-4/pushbox.db")))
	return h
}

// directory makes a directory with a key file in it.
func (h *fullServer) directory(name, key string) {
	h.t.Helper()
	env.OK(h.t, os.Mkdir(filepath.Join(h.dir, name), 0o700))
	h.write(name+"/master.key", string(readFile(h.t, key)))
}

// run runs a command with these settings, and returns its output and its exit code.
func (h *fullServer) run(args ...string) (output string, code int) {
	h.t.Helper()
	cmd := exec.CommandContext(h.t.Context(), "pushbox", args...)
	cmd.Dir, cmd.Env = h.dir, append(proctest.Environ(), "PUSHBOX_CONFIG=pushbox.yaml", "GORACE=atexit_sleep_ms=0")
	out, _ := cmd.CombinedOutput() // the result is in the exit code
	return string(out), cmd.ProcessState.ExitCode()
}

// must runs a command that must succeed, with the text want in its output.
func (h *fullServer) must(want string, args ...string) string {
	h.t.Helper()
	output, code := h.run(args...)
	if code != 0 || !strings.Contains(output, want) {
		h.t.Fatalf("pushbox %s ends with %d, and lacks %q:\n%s", strings.Join(args, " "), code, want, output)
	}
	return output
}

// checkListeners checks that both listeners answer health checks, and that the public one
// serves nothing more than it should.
func (h *fullServer) checkListeners() {
	h.t.Helper()
	const host = "https://" + certDomain
	for _, s := range []*httpsServer{h.inside, h.outside} {
		for _, path := range []string{"/healthz", "/readyz", "/push/healthz", "/push/readyz"} {
			if res, body := s.do(http.MethodGet, host+path, ""); res.StatusCode != http.StatusOK {
				h.t.Errorf("%s is answered %s %s", path, res.Status, body)
			}
		}
	}
	for _, path := range []string{"/push/", "/push/metrics", "/metrics", "/push/p"} {
		if res, _ := h.outside.do(http.MethodGet, host+path, ""); res.StatusCode != http.StatusNotFound {
			h.t.Errorf("the public listener answers %s with %s", path, res.Status)
		}
	}
	res, _ := h.outside.do(http.MethodGet, "http://"+certDomain+"/push/p/x", "")
	if res.StatusCode != http.StatusPermanentRedirect || res.Header.Get("Location") != host+"/push/p/x" {
		h.t.Errorf("plain HTTP is answered %s, %s", res.Status, res.Header.Get("Location"))
	}
}

// pushAndView creates a push on the main listener, and views it on the public one.
func (h *fullServer) pushAndView() {
	h.t.Helper()
	var push struct {
		HTML    string `json:"html_url"`
		JSON    string `json:"json_url"`
		Payload string
	}
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, "https://"+certDomain+"/push/api/v2/pushes", strings.NewReader("push[payload]=seen"))
	env.OK(h.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+h.bearer)
	res := env.Must(h.inside.client().Do(req))(h.t)
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&push); err != nil || !strings.HasPrefix(push.HTML, "https://"+certDomain+"/push/p/") {
		h.t.Fatalf("%s, %v, %+v", res.Status, err, push)
	}
	_, body := h.outside.do(http.MethodGet, push.JSON, "")
	if err := json.Unmarshal([]byte(body), &push); err != nil || push.Payload != "seen" {
		h.t.Errorf("on the public listener it is %s", body)
	}
}

// counted fails the test unless the metrics have a line.
func (h *fullServer) counted(line string) {
	h.t.Helper()
	res, text := env.Ask(h.t, http.MethodGet, "http://"+h.metrics+"/metrics", "", "Authorization: Bearer "+strings.Repeat("m", 32))
	if !strings.Contains(text, "\n"+line+"\n") {
		h.t.Errorf("the metrics lack %s: %s", line, res.Status)
	}
}

// TestEverythingWorksTogether runs one server with HTTPS, two listeners, a sub-path,
// metrics, webhooks and backups. It upgrades a database, replaces its key and its
// certificate, kills it while a message waits, and restores its backup.
func TestEverythingWorksTogether(t *testing.T) {
	t.Parallel()
	h := newFullServer(t)
	post := &hookReceiver{refused: make(map[string]bool), taken: make(map[string]bool)}
	receiver := httptest.NewServer(post)
	defer receiver.Close()

	p := h.start(h.command(everything))
	env.Contains(t, "the log", p.Log(), "upgraded the database from schema 4")
	for line := range strings.Lines(h.must("made token", "token", "create", "ann@example.com")) {
		if !strings.HasPrefix(line, "pushbox: ") {
			h.bearer = strings.TrimSpace(line)
		}
	}
	h.must("made webhook 1", "webhook", "add", "ann@example.com", receiver.URL, "--event", "view")
	h.checkListeners()
	h.pushAndView()
	h.counted("pushbox_views_total 1")
	env.Eventually(t, "the receiver was asked", post.hasRefused)
	h.must("wrote a backup", "backup", "box.db")

	before := h.outside.awaited(nil)
	h.inside.writePair(filepath.Join(h.dir, "cert.pem"), filepath.Join(h.dir, "key.pem"))
	h.must("reloaded certificates", "reload")
	if leaf := h.outside.shown(); leaf == nil || leaf.Equal(before) || !strings.Contains(p.Log(), "the certificate was read again") {
		t.Errorf("after a reload the certificate is the old one, or the log does not mention it\n%s", p.Log())
	}
	h.must("put a new master key", "key", "rotate")
	p.Kill()
	post.open()
	p = h.start(h.command(everything))
	env.Eventually(t, "the message that waited has come", post.hasAll)
	h.examined()
	h.stop(p)
	h.restored()
}

// examined checks that doctor finds nothing wrong, and has the rows of these settings.
func (h *fullServer) examined() {
	h.t.Helper()
	output := h.must("", "doctor")
	for _, want := range []string{
		"warning  master key: it fits the database, but ", "ok       backups: 1 backup in ", "ok       secret files: tls.key_file", "ok       secret files: metrics.token_file",
		"ok       metrics: metrics need the token", "ok       certificate: it is valid until", "--url https://push.example.com/push",
	} {
		env.Contains(h.t, "doctor", output, want)
	}
}

// restored restores the backup from before the key was replaced into another directory.
func (h *fullServer) restored() {
	h.t.Helper()
	h.directory("moved", filepath.Join(h.dir, "data", "master.key"))
	if output, code := h.run("restore", "box.db", "--data-dir", "moved"); code != 1 || !strings.Contains(output, "hint: the key in use here") {
		h.t.Errorf("with the new key it ends with %d\n%s", code, output)
	}
	old, err := filepath.Glob(filepath.Join(h.dir, "data", "master.key.old-*"))
	if err != nil || len(old) != 1 {
		h.t.Fatalf("old keys: %q, %v", old, err)
	}
	h.write("moved/master.key", string(readFile(h.t, old[0])))
	h.must("have expired now", "restore", "box.db", "--data-dir", "moved")
	h.must("no problems found", "check", "--deep", "--data-dir", "moved")
	h.must("http://127.0.0.1", "webhook", "list", "ann@example.com", "--data-dir", "moved")
}
