package daemon

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/instance"
	"pushbox/internal/testkit/env"
)

// An attended is a daemon that runs, with all that is there for the programs that watch it.
type attended struct {
	*running
	watch *watch
	web   net.Listener
}

// watchedDaemon runs a daemon as serve does.
func watchedDaemon(t *testing.T, cfg config.Config, environ ...string) *attended {
	t.Helper()
	r := &attended{running: &running{ended: make(chan error, 1), log: new(bytes.Buffer)}}
	log := zerolog.New(zerolog.SyncWriter(r.log))
	o := optionsFor(cfg)
	o.Source.Environ = environ
	var err error
	r.watch = env.Must(newWatch(t.Context(), o, log))(t)
	s, _, err := instance.Open(t.Context(), instance.Options{Config: cfg, Create: true, Wait: env.Patience, Wrap: r.watch.observed, Committed: r.watch.committed(), Note: func(string) {}})
	env.OK(t, err)
	handler, _, err := newHandler(t.Context(), optionsFor(cfg), s, log, r.watch.options)
	env.OK(t, err)
	control := env.Must(admin.Listen(t.Context(), admin.SocketPath(cfg.DataDir)))(t)
	web := env.Must(net.Listen("tcp", cfg.Listen))(t)
	ctx, stop := context.WithCancel(t.Context())
	r.address, r.stop, r.web = web.Addr().String(), stop, web
	d := daemon{cfg: cfg, store: s, log: log, control: control, endpoints: []endpoint{{listener: web, handler: handler}}, watch: r.watch}
	r.watch.attach(handler, d.sources(handler, nil))
	go func() {
		err := d.run(ctx)
		closed(t, s)
		r.ended <- err
	}()
	t.Cleanup(stop)
	return r
}

// ask sends a request and returns its status and body.
func ask(t *testing.T, method, url, body string, headers ...string) (status int, text string) {
	t.Helper()
	answer, text := env.Ask(t, method, url, body, headers...)
	return answer.StatusCode, text
}

// scrape returns what the listener for metrics tells.
func (r *attended) scrape(t *testing.T) string {
	t.Helper()
	status, text := ask(t, http.MethodGet, "http://"+r.watch.listener.Addr().String()+"/metrics", "")
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, text)
	}
	return text
}

// settled is scrape once no request runs: an answer may be read a moment before its
// request has ended.
func (r *attended) settled(t *testing.T) string {
	t.Helper()
	for ctx := soon(t); ctx.Err() == nil; {
		if text := r.scrape(t); value(text, "pushbox_http_requests_in_flight") == "0" {
			return text
		}
	}
	t.Fatal("a request does not end")
	return ""
}

// serviceManager listens as systemd does. It returns the value for NOTIFY_SOCKET, and
// what waits for the next message.
func serviceManager(t *testing.T) (environ string, next func() string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no such sockets")
	}
	name := filepath.Join(env.ShortDir(t), "notify")
	c := env.Must(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"}))(t)
	t.Cleanup(func() { _ = c.Close() })
	return "NOTIFY_SOCKET=" + name, func() string {
		t.Helper()
		env.OK(t, c.SetReadDeadline(time.Now().Add(env.Patience)))
		b := make([]byte, 100)
		n := env.Must(c.Read(b))(t)
		return string(b[:n])
	}
}
