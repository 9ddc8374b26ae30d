package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/lang"
	"pushbox/internal/secret"
	"pushbox/server"
	"pushbox/store"
	"pushbox/store/storetest"
)

var ctx = context.Background()

const (
	day    = 24 * time.Hour
	pushes = "/api/v2/pushes"
)

// firstCode makes the first account.
const firstCode = "the-first-code"

// An api is a server on a real listener over a store on a real file.
type api struct {
	t     *testing.T
	store *storetest.Fixture
	url   string
	log   *logBuffer

	handler *server.Server
	client  *http.Transport
}

// logBuffer is what the server logs, from any goroutine.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// newAPI starts a server. Each change is applied to its configuration first.
func newAPI(t *testing.T, changes ...func(*config.Config)) *api {
	t.Helper()
	cfg := config.Default()
	for _, change := range changes {
		change(&cfg)
	}
	a := &api{t: t, log: new(logBuffer), store: storetest.New(t, func(o *storetest.Setup) {
		o.Engine.MaxSize = int64(cfg.MaxStoreSize)
		o.Guessing.PerClient, o.Guessing.PerPush = cfg.Limits.PassphrasesPerClient, cfg.Limits.PassphrasesPerPush
		o.Files = store.FileLimits{MaxCount: cfg.Files.MaxFileUploads, MaxSize: int64(cfg.Files.MaxFileSize), Window: cfg.Files.DownloadWindow}
		o.Sessions = store.SessionLimits{Idle: cfg.Sessions.IdleTimeout, MaxAge: cfg.Sessions.MaxAge}
		o.SignIns = store.SignInLimits{PerClient: cfg.Limits.SignInsPerClient, PerAccount: cfg.Limits.SignInsPerAccount}
		o.Mail = store.MailOptions{MaxRecipients: cfg.Mail.MaxRecipients, PerAccount: cfg.Mail.DailyLimit, PerInstance: cfg.Mail.DailyLimitTotal, GiveUp: cfg.Mail.GiveUp}
		if cfg.Mail.Enabled() {
			o.Mail.Languages = lang.Tags()
		}
		if !cfg.EnableFilePushes {
			delete(o.Terms, store.File)
		}
		if !cfg.EnableURLPushes {
			delete(o.Terms, store.URL)
		}
		if !cfg.EnableQRPushes {
			delete(o.Terms, store.QR)
		}
	})}
	handler, err := server.New(server.Options{
		Config: cfg, Store: a.store.Store, Log: zerolog.New(a.log), Version: "3.0.0", Clock: a.store.Clock,
		First: secret.New(firstCode),
	})
	if err != nil {
		t.Fatal(err)
	}
	a.handler = handler
	s := httptest.NewServer(a.handler)
	a.client = &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(func() {
		a.client.CloseIdleConnections()
		s.Close()
	})
	a.url = s.URL
	return a
}

// user adds an account and returns the header that a token of it goes in.
func (a *api) user(email string) http.Header {
	a.t.Helper()
	a.store.Account(email)
	token, err := a.store.CreateToken(ctx, email, "", 0)
	if err != nil {
		a.t.Fatal(err)
	}
	return http.Header{"Authorization": {"Bearer " + token.Secret.Reveal()}}
}

// An answer is a response, read to its end.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

// do sends a request. A body is JSON unless a header says otherwise.
func (a *api) do(method, path, body string, headers ...http.Header) answer {
	a.t.Helper()
	got, err := a.try(method, path, body, headers...)
	if err != nil {
		a.t.Fatal(err)
	}
	return got
}

// try is do for any goroutine.
func (a *api) try(method, path, body string, headers ...http.Header) (answer, error) {
	req, err := http.NewRequest(method, a.url+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		maps.Copy(req.Header, h)
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	res, err := a.client.RoundTrip(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	return answer{a.t, res.StatusCode, res.Header, string(got)}, err
}

func (a *api) get(path string, headers ...http.Header) answer {
	a.t.Helper()
	return a.do(http.MethodGet, path, "", headers...)
}

// create makes a push from the members of a push object and returns its token.
func (a *api) create(members string, headers ...http.Header) string {
	a.t.Helper()
	return a.do(http.MethodPost, pushes, `{"push":{`+members+`}}`, headers...).want(http.StatusCreated).text("url_token")
}

// want fails the test unless the answer has that status.
func (r answer) want(status int) answer {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("status %d, not %d: %s", r.status, status, r.body)
	}
	return r
}

// object is the body as a JSON object.
func (r answer) object() (o map[string]any) {
	r.t.Helper()
	d := json.NewDecoder(strings.NewReader(r.body))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		r.t.Fatalf("%v: %s", err, r.body)
	}
	return o
}

// list is the body as a JSON array of objects.
func (r answer) list() (l []map[string]any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.body), &l); err != nil {
		r.t.Fatalf("%v: %s", err, r.body)
	}
	return l
}

// text is a member of the body as text; null is "null".
func (r answer) text(key string) string {
	r.t.Helper()
	v, has := r.object()[key]
	switch {
	case !has:
		r.t.Fatalf("no %s in %s", key, r.body)
	case v == nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// has fails the test for each member that is not as given.
func (r answer) has(members map[string]string) answer {
	r.t.Helper()
	for key, want := range members {
		if got := r.text(key); got != want {
			r.t.Errorf("%s is %s, not %s", key, got, want)
		}
	}
	return r
}

// keys are the names of the body's members, in order.
func (r answer) keys() (keys []string) {
	r.t.Helper()
	d := json.NewDecoder(strings.NewReader(r.body))
	depth, isKey := 0, false
	for {
		token, err := d.Token()
		if err != nil {
			return keys
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				depth++
				isKey = depth == 1
				continue
			}
			depth--
			isKey = depth == 1
		default:
			if depth == 1 && isKey {
				keys = append(keys, v.(string))
			}
			isKey = depth == 1 && !isKey
		}
	}
}

// problem checks an error body and returns its short text.
func (r answer) problem() string {
	r.t.Helper()
	if !slices.Equal(r.keys(), []string{"error", "message"}) || r.text("message") == "" {
		r.t.Errorf("not an error body: %s", r.body)
	}
	return r.text("error")
}

// raw sends a request as it is written, on a connection of its own, and returns
// the first line of the answer.
func (a *api) raw(request string) string {
	a.t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(a.url, "http://"))
	if err != nil {
		a.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, request); err != nil {
		a.t.Fatal(err)
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		a.t.Fatalf("no answer: %v", err)
	}
	return line
}
