package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/server"
)

// withDoors is a daemon on a store that the test closes, with both doors open.
func withDoors(t *testing.T, cfg config.Config) (*daemon, *bytes.Buffer) {
	t.Helper()
	s := opened(t, cfg)
	t.Cleanup(func() { closed(t, s) })
	log := new(bytes.Buffer)
	handler, err := server.New(server.Options{Config: cfg, Store: s, Log: zerolog.Nop(), Version: release})
	if err != nil {
		t.Fatal(err)
	}
	control, err := admin.Listen(t.Context(), admin.SocketPath(cfg.DataDir))
	if err != nil {
		t.Fatal(err)
	}
	doors, err := (&app{stderr: io.Discard}).openDoors(t.Context(), cfg, handler)
	if err != nil {
		t.Fatal(err)
	}
	if len(doors) != 2 || doors[0].public || !doors[1].public {
		t.Fatalf("the doors are %+v", doors)
	}
	return &daemon{cfg: cfg, store: s, log: zerolog.New(zerolog.SyncWriter(log)), control: control, doors: doors}, log
}

func tcpListener(t *testing.T) *net.TCPListener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.(*net.TCPListener)
}

func twoDoors(t *testing.T) config.Config {
	t.Helper()
	cfg := settingsFor(shortDir(t))
	cfg.PublicListen = "127.0.0.1:0"
	return cfg
}

// hold begins a request that its server waits for, and returns what ends it.
func hold(t *testing.T, address, target, media, body string) (finish func() *http.Response) {
	t.Helper()
	r := &running{address: address}
	conn, answers := r.beginAt(t, target, media, len(body))
	return func() *http.Response {
		if _, err := io.WriteString(conn, body); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		return res
	}
}

func TestAStopDrainsAllDoors(t *testing.T) {
	t.Parallel()
	d, log := withDoors(t, twoDoors(t))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- d.run(ctx) }()
	inner, outer := d.doors[0].listener.Addr().String(), d.doors[1].listener.Addr().String()
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
	if !strings.Contains(log.String(), `"address":"`+inner+`","public_address":"`+outer+`"`) {
		t.Errorf("the log is\n%s", log)
	}
}

func TestADoorThatBreaksEndsAllOthers(t *testing.T) {
	t.Parallel()
	for broken := range 2 {
		d, _ := withDoors(t, twoDoors(t))
		if err := d.doors[broken].listener.Close(); err != nil {
			t.Fatal(err)
		}
		ctx := soon(t)
		if err := d.run(ctx); !errors.Is(err, net.ErrClosed) || ctx.Err() != nil {
			t.Errorf("door %d: it ended with %v, by itself: %v", broken, err, ctx.Err() == nil)
		}
		if c, err := net.DialTimeout("tcp", d.doors[1-broken].listener.Addr().String(), time.Second); err == nil {
			_ = c.Close()
			t.Errorf("without door %d the other one is open", broken)
		}
	}
}

func TestABadDoorIsNamedAndTheOthersAreClosedAgain(t *testing.T) {
	t.Parallel()
	cfg := twoDoors(t)
	taken := tcpListener(t).Addr().String()
	free := tcpListener(t)
	cfg.Listen, cfg.PublicListen = free.Addr().String(), taken
	_ = free.Close()
	_, err := (&app{stderr: io.Discard}).openDoors(t.Context(), cfg, new(server.Server))
	if err == nil || !strings.Contains(err.Error(), "public_listen: listen tcp") || !strings.Contains(hint(nil, err), "set public_listen to another address") {
		t.Errorf("%v", err)
	}
	(&running{address: cfg.Listen}).refused(t)
	cfg.Listen, cfg.PublicListen = taken, ""
	_, err = (&app{stderr: io.Discard}).openDoors(t.Context(), cfg, new(server.Server))
	if err == nil || !strings.HasPrefix(err.Error(), "listen: listen tcp") || !strings.Contains(hint(nil, err), "--listen") {
		t.Errorf("%v", err)
	}
}

// Whoever was sent a link may get to the public door and to no other.
func TestPlainHTTPIsSentOnToThePublicDoor(t *testing.T) {
	t.Parallel()
	cfg := withPair(t, shortDir(t))
	cfg.PublicListen, cfg.TLS.RedirectListen = "127.0.0.1:0", "127.0.0.1:0"
	d, _ := withDoors(t, cfg)
	var err error
	if d.tls, err = openTLS(t.Context(), cfg, zerolog.Nop()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- d.run(ctx) }()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+d.tls.redirect.Addr().String()+"/p/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "example.com"
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if want := fmt.Sprintf("https://example.com:%d/p/x", portOf(d.doors[1].listener.Addr())); res.Header.Get("Location") != want {
		t.Errorf("it leads to %s, not %s", res.Header.Get("Location"), want)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
