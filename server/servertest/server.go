package servertest

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
	"pushbox/internal/instance"
	"pushbox/internal/testkit/env"
	"pushbox/server"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

var ctx = context.Background()

const (
	day    = 24 * time.Hour
	pushes = "/api/v2/pushes"
)

// A Server is a server on a real listener over a store on a real file.
type Server struct {
	T     *testing.T
	Store *storetest.Fixture
	URL   string
	Log   *Log

	Handler *server.Server
	Client  *http.Transport

	options server.Options // of Handler
	pipes   *pipes         // in place of URL; nil: there are none
}

// A Log is what the server logs, from any goroutine.
type Log struct {
	requests sync.RWMutex // held by each request until it has ended

	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends a line.
func (b *Log) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String waits until no request runs, whose line comes after its answer, and returns all lines.
func (b *Log) String() string {
	b.requests.Lock()
	defer b.requests.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Settle waits until no request runs: the client of one may have its answer before.
func (a *Server) Settle() { _ = a.Log.String() }

// New starts a server, and stops it when the test ends. The changes are applied to its
// configuration first.
func New(t *testing.T, changes ...func(*config.Config)) *Server {
	t.Helper()
	return On(t, func(*storetest.Setup) {}, changes...)
}

// On is New for a server whose store has another engine: see storetest.OnEachEngine.
func On(t *testing.T, engine func(*storetest.Setup), changes ...func(*config.Config)) *Server {
	t.Helper()
	cfg := settings(changes)
	return start(t, cfg, fixture(t, cfg, engine), nil)
}

// fixture returns a new store with the options of a configuration.
func fixture(t *testing.T, cfg config.Config, changes ...func(*storetest.Setup)) *storetest.Fixture {
	t.Helper()
	options := func(o *storetest.Setup) {
		clock := o.Clock
		o.Options = instance.StoreOptions(cfg)
		o.Engine.MaxSize, o.Engine.Room = o.Space.MaxSize, o.Space.Room
		o.Clock, o.Argon2 = clock, seal.Cheap()
	}
	return storetest.New(t, append([]func(*storetest.Setup){options}, changes...)...)
}

// Beside starts another server over the same database, with the same changes.
func (a *Server) Beside(changes ...func(*config.Config)) *Server {
	a.T.Helper()
	return start(a.T, settings(changes), a.Store.Beside(), nil)
}

// settings are the default ones with changes. What a busy machine does late is not refused.
func settings(changes []func(*config.Config)) config.Config {
	cfg := config.Default()
	cfg.Limits.RequestTimeout, cfg.Limits.StallTimeout = env.Patience, env.Patience
	for _, change := range changes {
		change(&cfg)
	}
	return cfg
}

// start starts a server that is reached through the pipes, or if there are none at its URL.
func start(t *testing.T, cfg config.Config, f *storetest.Fixture, p *pipes) *Server {
	t.Helper()
	a := &Server{T: t, Log: new(Log), Store: f, pipes: p}
	providers := env.Must(instance.Providers(cfg, a.Store.Clock.Now, a.Store.PolicyGroups))(t)
	a.options = server.Options{
		Config: cfg, Providers: providers, Store: a.Store.Store, Log: zerolog.New(a.Log), Version: "3.0.0", Clock: a.Store.Clock, Webhooks: webhooks,
	}
	a.Handler = env.Must(server.New(a.options))(t)
	a.Client = &http.Transport{MaxIdleConnsPerHost: 16}
	if p == nil {
		a.URL = a.Listen(a.Handler)
		return a
	}
	a.Client.DialContext = func(context.Context, string, string) (net.Conn, error) { return p.dial(), nil }
	a.URL = a.serve(a.Handler, p)
	return a
}

// Monitor makes the server anew, with that monitoring, at another URL.
func (a *Server) Monitor(w server.Monitoring) {
	a.T.Helper()
	a.options.Monitoring = w
	a.Handler = env.Must(server.New(a.options))(a.T)
	a.URL = a.Listen(a.Handler)
}

// Recipients returns the server at its entry point for recipients.
func (a *Server) Recipients() *Server {
	a.T.Helper()
	outer := *a
	outer.URL = a.Listen(a.Handler.Public())
	return &outer
}

// Listen serves a handler at a URL of its own until the test ends.
func (a *Server) Listen(h http.Handler) (url string) {
	a.T.Helper()
	l := env.Listen(a.T)
	return a.serve(h, l)
}

func (a *Server) serve(h http.Handler, l net.Listener) (url string) {
	counted := func(w http.ResponseWriter, r *http.Request) {
		a.Log.requests.RLock()
		defer a.Log.requests.RUnlock()
		h.ServeHTTP(w, r)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(counted)}}
	s.Start()
	a.T.Cleanup(func() {
		a.Client.CloseIdleConnections()
		s.Close()
	})
	return s.URL
}

// An Answer is a response whose body was read to its end.
type Answer struct {
	T      *testing.T
	Status int
	Header http.Header
	Body   string
}

// Do sends a request. A body is JSON unless a header says otherwise.
func (a *Server) Do(method, path, body string, headers ...http.Header) Answer {
	a.T.Helper()
	return env.Must(a.Try(method, path, body, headers...))(a.T)
}

// Try is Do for any goroutine: it returns an error in place of ending the test.
func (a *Server) Try(method, path, body string, headers ...http.Header) (Answer, error) {
	req, err := http.NewRequest(method, a.URL+path, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
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
	res, err := a.Client.RoundTrip(req)
	if err != nil {
		return Answer{}, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	return Answer{a.T, res.StatusCode, res.Header, string(got)}, err
}

// Get sends a GET request.
func (a *Server) Get(path string, headers ...http.Header) Answer {
	a.T.Helper()
	return a.Do(http.MethodGet, path, "", headers...)
}

// Create makes a push from the members of a push object and returns its token.
func (a *Server) Create(members string, headers ...http.Header) string {
	a.T.Helper()
	return a.Do(http.MethodPost, pushes, `{"push":{`+members+`}}`, headers...).Want(http.StatusCreated).Text("url_token")
}

// Want fails the test unless the answer has that status.
func (r Answer) Want(status int) Answer {
	r.T.Helper()
	if r.Status != status {
		r.T.Fatalf("status %d, not %d: %s", r.Status, status, r.Body)
	}
	return r
}

// Object returns the body as a JSON object.
func (r Answer) Object() (o map[string]any) {
	r.T.Helper()
	d := json.NewDecoder(strings.NewReader(r.Body))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		r.T.Fatalf("%v: %s", err, r.Body)
	}
	return o
}

// List returns the body as a JSON array of objects.
func (r Answer) List() (l []map[string]any) {
	r.T.Helper()
	if err := json.Unmarshal([]byte(r.Body), &l); err != nil {
		r.T.Fatalf("%v: %s", err, r.Body)
	}
	return l
}

// Text returns a member of the body as text; null is "null".
func (r Answer) Text(key string) string {
	r.T.Helper()
	v, has := r.Object()[key]
	switch {
	case !has:
		r.T.Fatalf("no %s in %s", key, r.Body)
	case v == nil:
		return "null"
	}
	return fmt.Sprint(v)
}

// Has fails the test for each member that is not as wanted.
func (r Answer) Has(members map[string]string) Answer {
	r.T.Helper()
	for key, want := range members {
		if got := r.Text(key); got != want {
			r.T.Errorf("%s is %s, not %s", key, got, want)
		}
	}
	return r
}

// Keys returns the names of the body's members, in order.
func (r Answer) Keys() (keys []string) {
	r.T.Helper()
	d := json.NewDecoder(strings.NewReader(r.Body))
	_, _ = d.Token() // the brace; what is no object has no keys
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		if err != nil || !ok || d.Decode(new(json.RawMessage)) != nil {
			return keys
		}
		keys = append(keys, name)
	}
	return keys
}

// Problem checks that the body is an error, and returns its code.
func (r Answer) Problem() string {
	r.T.Helper()
	keys, word := r.Keys(), strings.Trim(r.Text("code"), "abcdefghijklmnopqrstuvwxyz-")
	if len(keys) < 2 || !slices.Equal(keys, []string{"error", "code", "message"}[:len(keys)]) || r.Text(keys[len(keys)-1]) == "" || word != "" {
		r.T.Errorf("not an error body: %s", r.Body)
	}
	return r.Text("code")
}

// Connect returns a connection of its own, which is closed when the test ends.
func (a *Server) Connect() net.Conn {
	a.T.Helper()
	var c net.Conn
	if a.pipes != nil {
		c = a.pipes.dial()
	} else {
		c = env.Must(net.Dial("tcp", strings.TrimPrefix(a.URL, "http://")))(a.T)
	}
	a.T.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(env.Patience))
	return c
}

// Raw sends the bytes of a request on a connection of its own, and returns the first
// line of the answer.
func (a *Server) Raw(request string) string {
	a.T.Helper()
	c := a.Connect()
	env.Must(io.WriteString(c, request))(a.T)
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil {
		a.T.Fatalf("no answer: %v", err)
	}
	return line
}

// Invalid returns the fields that a 422 names.
func (r Answer) Invalid() []string {
	r.T.Helper()
	r.Want(http.StatusUnprocessableEntity)
	for _, messages := range r.Object() {
		for _, m := range messages.([]any) {
			if m.(string) == "" {
				r.T.Errorf("an empty message: %s", r.Body)
			}
		}
	}
	keys := r.Keys()
	slices.Sort(keys)
	return keys
}
