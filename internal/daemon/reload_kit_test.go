package daemon

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/instance"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/clock"
	"pushbox/store/seal"
)

// A living is a daemon whose configuration is a file that the test rewrites.
type living struct {
	t     *testing.T
	dir   string
	file  string
	url   string
	log   *bytes.Buffer // to be read once it has ended
	store *store.Store
	heard config.Config // what the last part to be changed was given; read after a reload

	token  string // of an account
	client *http.Client
	end    func() error
}

// live runs a daemon until the test ends. The listener is the test's own, whatever
// the text says.
func live(t *testing.T, text string) *living {
	t.Helper()
	return liveBy(t, text, clock.NewSystem())
}

// liveBy is live with a clock for the store and for limits.
func liveBy(t *testing.T, text string, c clock.Clock) *living {
	t.Helper()
	dir := env.ShortDir(t)
	l := &living{t: t, dir: dir, file: filepath.Join(dir, "pushbox.yaml"), log: new(bytes.Buffer), client: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	l.write(text)
	src := config.Source{File: l.file}
	loaded := env.Must(config.Load(src))(t)
	cfg := loaded.Config
	engine, _, err := bolt.Open(t.Context(), bolt.Options{Path: instance.Database(cfg)})
	env.OK(t, err)
	options := instance.StoreOptions(cfg)
	options.Clock = c
	s := env.Must(store.Open(t.Context(), engine, seal.NewRootKey(), options))(t)
	l.store = s
	log, level := liveLogger(l.log, cfg.Log)
	handler, _, err := newHandler(t.Context(), optionsFor(cfg), s, log, func(o *server.Options) { o.Clock = c })
	env.OK(t, err)
	control := env.Must(admin.Listen(t.Context(), admin.SocketPath(dir)))(t)
	web := env.Listen(t)
	l.url = "http://" + web.Addr().String()
	listen := func(c config.Config) (func(), error) { return func() { l.heard = c }, nil }
	d := daemon{cfg: cfg, watch: new(watch), store: s, log: log, control: control, endpoints: []endpoint{{listener: web, handler: handler}}}
	d.newProbe = handler.NewProbe
	d.reloads = newReloader(Options{Config: cfg, Source: src}, log, level.reload, storeReload(s), handlerReload(handler), listen)
	d.reloads.note = s.NoteReload
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.run(ctx) }()
	l.end = func() error { stop(); return <-ended }
	t.Cleanup(func() {
		l.client.CloseIdleConnections()
		if err := l.end(); err != nil {
			t.Errorf("it ended with %v", err)
		}
		if err := instance.Close(context.Background(), s); err != nil {
			t.Error(err)
		}
	})
	return l
}

// write makes a text the configuration, on the test's directory unless it names
// another.
func (l *living) write(text string) {
	l.t.Helper()
	if !strings.Contains(text, "data_dir:") {
		text = "data_dir: " + l.dir + "\n" + text
	}
	env.OK(l.t, os.WriteFile(l.file, []byte(text), 0o600))
}

// reload has the daemon read a text as its configuration, through its socket.
func (l *living) reload(text string) admin.Reloaded {
	l.t.Helper()
	l.write(text)
	c := env.Must(admin.NewClient(admin.SocketPath(l.dir)))(l.t)
	return env.Must(admin.Reload.Call(l.t.Context(), c, admin.None{}))(l.t)
}

// mustReload wants no problems.
func (l *living) mustReload(text string) admin.Reloaded {
	l.t.Helper()
	out := l.reload(text)
	if len(out.Problems) > 0 {
		l.t.Fatalf("the configuration is refused: %q", out.Problems)
	}
	return out
}

// account makes an account whose token later requests have.
func (l *living) account() {
	l.t.Helper()
	env.Must(l.store.AddAccount(l.t.Context(), store.Actor{Role: store.Operator}, alice, secret.New(password)))(l.t)
	token := env.Must(l.store.CreateToken(l.t.Context(), store.Actor{Role: store.Operator}, alice, store.TokenTerms{}))(l.t)
	l.token = token.Secret.Reveal()
}

// ask makes a request and returns its status, its Location and its body. A body
// is a form unless a header says otherwise.
func (l *living) ask(method, path, body string, headers ...string) (status int, text string) {
	l.t.Helper()
	if body != "" {
		headers = append([]string{env.Form}, headers...)
	}
	res, text := env.Ask(l.t, method, l.url+path, body, headers...)
	return res.StatusCode, res.Header.Get("Location") + res.Header.Get("Access-Control-Allow-Origin") + strings.Join(res.Header.Values("Set-Cookie"), " ") + text
}

// api is ask with the account's token.
func (l *living) api(method, path, body string, headers ...string) (int, string) {
	l.t.Helper()
	return l.ask(method, path, body, append(headers, "Authorization: Bearer "+l.token)...)
}

// upload pushes that number of files of that size.
func (l *living) upload(count, size int, fields ...string) (int, string) {
	l.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for i := 0; i+1 < len(fields); i += 2 {
		_ = w.WriteField(fields[i], fields[i+1])
	}
	for range count {
		part, _ := w.CreateFormFile("push[files][]", "a.bin")
		_, _ = part.Write(make([]byte, size))
	}
	_ = w.Close()
	return l.api("POST", "/api/v2/pushes", body.String(), "Content-Type: "+w.FormDataContentType())
}

const (
	alice    = "alice@example.com"
	password = "correct horse battery"
)

// settingsFor are the defaults, on a directory, except that no request takes too long on a busy
// machine.
func settingsFor(dir string) config.Config {
	cfg := config.Default()
	cfg.DataDir, cfg.Listen = dir, "127.0.0.1:0"
	cfg.Limits.RequestTimeout, cfg.Limits.DrainTimeout = env.Patience, env.Patience
	return cfg
}

// optionsFor are options with a configuration.
func optionsFor(cfg config.Config) Options {
	return Options{Config: cfg, Stderr: io.Discard, Version: "3.0.0"}
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

// soon is a context that ends long after a test should have.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), env.Patience)
	t.Cleanup(cancel)
	return ctx
}
