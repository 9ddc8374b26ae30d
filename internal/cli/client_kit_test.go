package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

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
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"url_token": linkToken, "html_url": f.link() + "/r", "expired": false, "payload": f.fields["payload"], "files": files,
		"views_remaining": f.views, "expire_after_days": 7, "expire_after_views": 5,
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
