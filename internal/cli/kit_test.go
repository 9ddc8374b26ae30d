package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/instance"
	"pushbox/internal/testkit/env"
	"pushbox/store"
)

const (
	alice    = "alice@example.com"
	password = "correct horse battery"
)

// A result is the outcome of a command.
type result struct {
	code           int
	stdout, stderr string
}

// run runs a command on a data directory.
func run(t *testing.T, dir, stdin string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args = append(args, "--data-dir", dir)
	code := Main(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr, nil)
	return result{code, stdout.String(), stderr.String()}
}

// want fails the test unless the command ended so, and said so.
func (r result) want(t *testing.T, code int, stderr ...string) result {
	t.Helper()
	if r.code != code {
		t.Errorf("the exit code is %d, not %d\n%s", r.code, code, r.stderr)
	}
	for _, text := range stderr {
		env.Contains(t, "standard error", r.stderr, text)
	}
	return r
}

// settingsFor are the defaults, on a directory.
func settingsFor(dir string) config.Config {
	cfg := config.Default()
	cfg.DataDir, cfg.Listen = dir, "127.0.0.1:0"
	return cfg
}

// opened opens a store, which the test closes.
func opened(t *testing.T, cfg config.Config) *store.Store {
	t.Helper()
	s, _, err := instance.Open(t.Context(), instance.Options{Config: cfg, Create: true, Wait: env.Patience, Note: func(string) {}})
	env.OK(t, err)
	return s
}

func closed(t *testing.T, s *store.Store) {
	t.Helper()
	env.OK(t, instance.Close(t.Context(), s))
}

// withAlice is a data directory with a store that has one account.
func withAlice(t *testing.T) string {
	t.Helper()
	dir := env.ShortDir(t)
	run(t, dir, password+"\n", "user", "add", alice, "--password-stdin", "--init").want(t, exitDone)
	return dir
}

// typist is a console on which a text is typed. out is what it shows.
func typist(typed io.Reader) (c *console, out *bytes.Buffer, restored *int) {
	out, restored = new(bytes.Buffer), new(int)
	return &console{
		in: typed, out: out, terminal: true,
		raw: func() (func() error, error) {
			return func() error { *restored++; return nil }, nil
		},
	}, out, restored
}

// soon is a context that ends long after a test should have.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), env.Patience)
	t.Cleanup(cancel)
	return ctx
}

// control has serve answer on the control socket of a data directory until end is
// called.
func control(t *testing.T, cfg config.Config, serve func(context.Context, net.Listener) error) (end func()) {
	t.Helper()
	l := env.Must(admin.Listen(t.Context(), admin.SocketPath(cfg.DataDir)))(t)
	return env.Run(t, func(ctx context.Context) error { return serve(ctx, l) })
}

const (
	linkToken = "abcdefghijklmnopqrstuvwxyz234567ab"
	apiToken  = "pb_token-marker"
)

// A fakeServer keeps one push, as pushbox would. Its fields are set before it is
// asked for the first time.
type fakeServer struct {
	*httptest.Server
	t          *testing.T
	passphrase string // that the push opens with
	status     int    // to refuse everything with; 0: it does not
	views      int    // that remain after a retrieval
	named      bool   // it knows recipients
	download   http.HandlerFunc

	mu     sync.Mutex
	asked  []*http.Request
	fields map[string]string // of the push that was created
	files  []fakeFile
}

type fakeFile struct{ name, text string }

func newFake(t *testing.T) *fakeServer {
	t.Helper()
	f := &fakeServer{t: t, views: 4, fields: make(map[string]string)}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

func (f *fakeServer) link() string { return f.URL + "/p/" + linkToken }

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case strings.HasPrefix(r.URL.Path, "/f/"):
		f.serveFile(w, r)
	case f.status != 0:
		w.WriteHeader(f.status)
		_, _ = io.WriteString(w, `{"error":"a-code","message":"The server's own words."}`)
	case r.Method == http.MethodPost && r.URL.Path == "/api/v2/pushes":
		f.create(w, r)
	case r.URL.Path != "/api/v2/pushes/"+linkToken:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet && r.Header.Get("X-Push-Passphrase") != f.passphrase:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":"That passphrase is incorrect.","message":"Give it in X-Push-Passphrase."}`)
	default:
		f.answer(w, http.StatusOK)
	}
}

func (f *fakeServer) create(w http.ResponseWriter, r *http.Request) {
	if form, err := r.MultipartReader(); err == nil {
		for {
			p, err := form.NextPart()
			if err != nil {
				break
			}
			text, _ := io.ReadAll(p)
			if p.FileName() == "" {
				f.fields[strings.TrimSuffix(strings.TrimPrefix(p.FormName(), "push["), "]")] = string(text)
			} else {
				f.files = append(f.files, fakeFile{p.FileName(), string(text)})
			}
		}
	} else {
		var body struct{ Push map[string]any }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			f.t.Error(err)
		}
		for name, value := range body.Push {
			f.fields[name] = fmt.Sprint(value)
		}
	}
	f.answer(w, http.StatusCreated)
}

func (f *fakeServer) answer(w http.ResponseWriter, status int) {
	files := []map[string]any{}
	for i, file := range f.files {
		files = append(files, map[string]any{"filename": file.name, "size": len(file.text), "url": fmt.Sprintf("%s/f/%d", f.URL, i)})
	}
	recipient := ""
	if f.named {
		recipient = f.fields["recipient_email"]
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"recipient_email": recipient, "url_token": linkToken, "html_url": f.link() + "/r", "expired": false, "payload": f.fields["payload"], "files": files,
		"views_remaining": f.views, "expire_after_days": 7, "expire_after_views": 5, "expires_at": f.fields["expires_at"],
	})
}

func (f *fakeServer) serveFile(w http.ResponseWriter, r *http.Request) {
	if f.download != nil {
		f.download(w, r)
		return
	}
	var i int
	_, _ = fmt.Sscanf(r.URL.Path, "/f/%d", &i)
	w.Header().Set("ETag", `"v1"`)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(f.files[i].text))
}

// requests are those that came so far.
func (f *fakeServer) requests() []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// act runs a command as a client, in an environment. What is typed is typed on a
// terminal.
func act(t *testing.T, stdin string, environ []string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Main(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr, environ)
	return result{code, stdout.String(), stderr.String()}
}

// typed runs a command at a terminal, with that text typed.
func typed(t *testing.T, text string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c, shown, _ := typist(strings.NewReader(text))
	a := &app{stdout: &stdout, stderr: &stderr, console: c}
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(soon(t))
	code := a.report(cmd, err)
	return result{code, stdout.String(), shown.String() + stderr.String()}
}

// discreet fails the test if a command has told a secret on standard error.
func (r result) discreet(t *testing.T) result {
	t.Helper()
	for _, secret := range []string{linkToken, apiToken, "marker"} {
		if strings.Contains(r.stderr, secret) {
			t.Errorf("standard error tells a secret:\n%s", r.stderr)
		}
	}
	return r
}
