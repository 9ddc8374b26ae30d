package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/internal/testkit/env"
	"pushbox/server"
)

// withEndpoints is a daemon on a store that the test closes, with both endpoints open.
func withEndpoints(t *testing.T, cfg config.Config) (*daemon, *bytes.Buffer) {
	t.Helper()
	s := opened(t, cfg)
	t.Cleanup(func() { closed(t, s) })
	log := new(bytes.Buffer)
	handler := env.Must(server.New(server.Options{Config: cfg, Store: s, Log: zerolog.Nop(), Version: "3.0.0"}))(t)
	control := env.Must(admin.Listen(t.Context(), admin.SocketPath(cfg.DataDir)))(t)
	endpoints := env.Must(openEndpoints(t.Context(), optionsFor(cfg), handler))(t)
	if len(endpoints) != 2 || endpoints[0].public || !endpoints[1].public {
		t.Fatalf("the endpoints are %+v", endpoints)
	}
	return &daemon{cfg: cfg, watch: new(watch), store: s, log: zerolog.New(zerolog.SyncWriter(log)), control: control, endpoints: endpoints}, log
}

func twoEndpoints(t *testing.T) config.Config {
	t.Helper()
	cfg := settingsFor(env.ShortDir(t))
	cfg.PublicListen = "127.0.0.1:0"
	return cfg
}

// hold begins a request that its server waits for, and returns what ends it.
func hold(t *testing.T, address, target, media, body string) (finish func() *http.Response) {
	t.Helper()
	r := &running{address: address}
	conn, answers := r.beginAt(t, target, media, len(body))
	return func() *http.Response {
		env.Must(io.WriteString(conn, body))(t)
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		return res
	}
}

func TestAStopDrainsAllEndpoints(t *testing.T) {
	t.Parallel()
	d, log := withEndpoints(t, twoEndpoints(t))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- d.run(ctx) }()
	inner, outer := d.endpoints[0].listener.Addr().String(), d.endpoints[1].listener.Addr().String()
	const form, unknown = "application/x-www-form-urlencoded", "/p/abcdefghijklmnopqrstuvwxyz234567ab"
	ends := map[int]func() *http.Response{
		http.StatusCreated:  hold(t, inner, "/api/v2/pushes", "application/json", upload),
		http.StatusNotFound: hold(t, outer, unknown, form, "passphrase=x"),
	}
	stop()
	for _, address := range []string{inner, outer} {
		(&running{address: address}).refused(t)
	}
	for status, finish := range ends {
		if res := finish(); res.StatusCode != status || res.Body.Close() != nil {
			t.Errorf("a request that ran is answered %s", res.Status)
		}
	}
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	env.Contains(t, "the log", log.String(), `"address":"`+inner+`","public_address":"`+outer+`"`)
}

func TestAnEntryThatBreaksEndsAllOthers(t *testing.T) {
	t.Parallel()
	for broken := range 2 {
		d, _ := withEndpoints(t, twoEndpoints(t))
		env.OK(t, d.endpoints[broken].listener.Close())
		ctx := soon(t)
		if err := d.run(ctx); !errors.Is(err, net.ErrClosed) || ctx.Err() != nil {
			t.Errorf("endpoint %d: it ended with %v, by itself: %v", broken, err, ctx.Err() == nil)
		}
		if c, err := d.endpoints[1-broken].listener.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("without endpoint %d the other one is open: %v, %v", broken, c, err)
		}
	}
}

func TestABadEntryIsNamedAndTheOthersAreClosedAgain(t *testing.T) {
	t.Parallel()
	cfg := twoEndpoints(t)
	taken, socket := env.Listen(t).Addr().String(), filepath.Join(cfg.DataDir, "s")
	cfg.Listen, cfg.PublicListen = config.UnixPrefix+socket, taken
	_, err := openEndpoints(t.Context(), optionsFor(cfg), new(server.Server))
	if err == nil || !strings.Contains(err.Error(), "public_listen: listen tcp") || !strings.Contains(hint.Of(err), "set public_listen to another address") {
		t.Errorf("%v", err)
	}
	_, err = os.Stat(socket)
	env.ErrorIs(t, "the first socket stays", err, fs.ErrNotExist)
	cfg.Listen, cfg.PublicListen = taken, ""
	_, err = openEndpoints(t.Context(), optionsFor(cfg), new(server.Server))
	if err == nil || !strings.HasPrefix(err.Error(), "listen: listen tcp") || !strings.Contains(hint.Of(err), "--listen") {
		t.Errorf("%v", err)
	}
}

func TestAListenerWithoutTheRightSaysHowToGetIt(t *testing.T) {
	t.Parallel()
	err := error(&net.OpError{Op: "listen", Err: fs.ErrPermission})
	for address, want := range map[string]string{"127.0.0.1:443": "CAP_NET_BIND_SERVICE", "unix:/x": "the directory of the socket"} {
		if got := hint.Of(badListener("listen", address, err)); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

// A recipient of a link may get to the public endpoint and to no other.
func TestPlainHTTPIsSentOnToThePublicEntry(t *testing.T) {
	t.Parallel()
	cfg := withPair(t, env.ShortDir(t))
	cfg.PublicListen, cfg.TLS.RedirectListen = "127.0.0.1:0", "127.0.0.1:0"
	d, _ := withEndpoints(t, cfg)
	d.tls = env.Must(openTLS(t.Context(), cfg, zerolog.Nop()))(t)
	env.Run(t, d.run)
	res, _ := env.Ask(t, http.MethodGet, "http://"+d.tls.redirect.Addr().String()+"/p/x", "", "Host: example.com")
	env.Equal(t, "it leads to", res.Header.Get("Location"), fmt.Sprintf("https://example.com:%d/p/x", portOf(d.endpoints[1].listener.Addr())))
}
