package daemon

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/internal/instance"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A running is a daemon that runs.
type running struct {
	address string
	stop    context.CancelFunc
	ended   chan error
	log     *bytes.Buffer // to be read once it has ended
	close   func()        // what it runs on, once it has ended; nil: nothing
}

// daemonOn runs a daemon on a store, which the test closes.
func daemonOn(t *testing.T, cfg config.Config, s *store.Store) *running {
	t.Helper()
	control := env.Must(admin.Listen(t.Context(), admin.SocketPath(cfg.DataDir)))(t)
	web := env.Must(net.Listen("tcp", cfg.Listen))(t)
	ctx, stop := context.WithCancel(t.Context())
	r := &running{address: web.Addr().String(), stop: stop, ended: make(chan error, 1), log: new(bytes.Buffer)}
	log := zerolog.New(zerolog.SyncWriter(r.log))
	handler, _, err := newHandler(t.Context(), optionsFor(cfg), s, log)
	env.OK(t, err)
	mailer := env.Must(newMailer(cfg, s, log))(t)
	d := daemon{cfg: cfg, watch: new(watch), store: s, log: log, mail: mailer, control: control, endpoints: []endpoint{{listener: web, handler: handler}}}
	go func() { r.ended <- d.run(ctx) }()
	t.Cleanup(stop)
	return r
}

const upload = `{"push":{"payload":"slow secret"}}`

// begin sends the head of a create, and returns when the server reads the body.
func (r *running) begin(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	return r.beginAt(t, "/api/v2/pushes", "application/json", len(upload))
}

// beginAt sends the head of a POST to a path, for a body of that type and length.
func (r *running) beginAt(t *testing.T, path, media string, length int) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn := env.Must(net.Dial("tcp", r.address))(t)
	t.Cleanup(func() { _ = conn.Close() })
	env.OK(t, conn.SetDeadline(time.Now().Add(env.Patience)))
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", path, media, length)
	env.Must(io.WriteString(conn, head))(t)
	answers := bufio.NewReader(conn)
	line, err := answers.ReadString('\n')
	if err != nil || !strings.Contains(line, "100") {
		t.Fatalf("the server said %q, %v", line, err)
	}
	env.Must(answers.ReadString('\n'))(t)
	return conn, answers
}

// refused returns when connections are no longer accepted.
func (r *running) refused(t *testing.T) {
	t.Helper()
	for ctx := soon(t); ctx.Err() == nil; {
		conn, err := net.Dial("tcp", r.address)
		if err != nil {
			return
		}
		_ = conn.Close()
	}
	t.Fatal("connections are still taken")
}

// daemonFor runs a daemon on a store of its own; end closes both.
func daemonFor(t *testing.T, cfg config.Config) *running {
	t.Helper()
	s := opened(t, cfg)
	r := daemonOn(t, cfg, s)
	r.close = func() { closed(t, s) }
	return r
}

// end stops the daemon, which must end well, and returns its log.
func (r *running) end(t *testing.T) string {
	t.Helper()
	r.stop()
	return r.await(t)
}

// await waits for the end of the daemon, which must be a good one, and returns its log.
func (r *running) await(t *testing.T) string {
	t.Helper()
	if err := <-r.ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	if r.close != nil {
		r.close()
	}
	return r.log.String()
}

func TestAStopLetsTheRequestThatRunsFinish(t *testing.T) {
	t.Parallel()
	r := daemonFor(t, settingsFor(env.ShortDir(t)))
	conn, answers := r.begin(t)
	r.stop()
	r.refused(t)
	env.Must(io.WriteString(conn, upload))(t)
	res := env.Must(http.ReadResponse(answers, nil))(t)
	if res.StatusCode != http.StatusCreated || !res.Close {
		t.Errorf("the answer is %s, closing: %v", res.Status, res.Close)
	}
	env.OK(t, res.Body.Close())
	if log := r.await(t); strings.Contains(log, "slow secret") || !strings.Contains(log, `"message":"stopped"`) {
		t.Errorf("the log is\n%s", log)
	}
}

func TestAStopDoesNotWaitLongerThanItMay(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	cfg.Limits.DrainTimeout = 50 * time.Millisecond
	r := daemonFor(t, cfg)
	conn, _ := r.begin(t)
	env.Contains(t, "the log", r.end(t), "running requests were aborted")
	if b, _ := io.ReadAll(conn); bytes.Contains(b, []byte(" 201 ")) {
		t.Errorf("the request that was cut off was answered with %q", b)
	}
}

// A failing engine fails when it is told to.
type failing struct {
	record.Engine
	failed chan struct{}
}

func (f failing) Failed() <-chan struct{} { return f.failed }

func TestAStoreThatFailsEndsTheServer(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	engine, _, err := bolt.Open(t.Context(), bolt.Options{Path: instance.Database(cfg)})
	env.OK(t, err)
	f := failing{engine, make(chan struct{})}
	s := env.Must(store.Open(t.Context(), f, seal.NewRootKey(), instance.StoreOptions(cfg)))(t)
	r := daemonOn(t, cfg, s)
	close(f.failed)
	env.ErrorIs(t, "it", <-r.ended, record.ErrFailed)
	closed(t, s)
	env.Contains(t, "the log", r.log.String(), "the store has failed")
}

func TestAListenerThatBreaksEndsTheServer(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(env.ShortDir(t))
	s := opened(t, cfg)
	defer closed(t, s)
	control := env.Must(admin.Listen(t.Context(), admin.SocketPath(cfg.DataDir)))(t)
	web := env.Must(net.Listen("tcp", cfg.Listen))(t)
	env.OK(t, web.Close())
	d := daemon{cfg: cfg, watch: new(watch), store: s, log: zerolog.Nop(), control: control, endpoints: []endpoint{{listener: web}}}
	env.ErrorIs(t, "it", d.run(t.Context()), net.ErrClosed)
}

func TestTheWebServerHasEveryLimit(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{time.Second, time.Minute} {
		cfg := config.Default()
		cfg.Limits.RequestTimeout = timeout
		srv := (&daemon{cfg: cfg}).server(nil)
		if srv.ReadHeaderTimeout <= 0 || srv.ReadHeaderTimeout > timeout || srv.ReadTimeout != timeout ||
			srv.WriteTimeout <= timeout || srv.HTTP2.WriteByteTimeout != cfg.Limits.StallTimeout || srv.IdleTimeout <= 0 || srv.MaxHeaderBytes != 32<<10 {
			t.Errorf("%v: %+v", timeout, srv)
		}
	}
}

func TestEveryAnswerIsOurs(t *testing.T) {
	t.Parallel()
	r := daemonFor(t, settingsFor(env.ShortDir(t)))
	for _, line := range []string{"OPTIONS *", "OPTIONS /", "GET /nothing"} {
		conn := env.Must(net.Dial("tcp", r.address))(t)
		env.OK(t, conn.SetDeadline(time.Now().Add(env.Patience)))
		env.Must(io.WriteString(conn, line+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))(t)
		if answer, err := io.ReadAll(conn); err != nil || !strings.Contains(string(answer), "\r\nX-Robots-Tag: noindex, nofollow\r\n") {
			t.Errorf("%s is answered %q, %v", line, answer, err)
		}
		_ = conn.Close()
	}
	r.end(t)
}

// A mistake that ends the first start leaves no key and no database.
func TestAFirstStartThatFailsMakesNothing(t *testing.T) {
	t.Parallel()
	taken := env.Listen(t)
	for name, change := range map[string]func(cfg *config.Config){
		"a port in use":  func(cfg *config.Config) { cfg.Listen = taken.Addr().String() },
		"no certificate": func(cfg *config.Config) { cfg.TLS.CertFile, cfg.TLS.KeyFile = "nowhere.crt", "nowhere.key" },
		"no logo":        func(cfg *config.Config) { cfg.Brand.LogoFile = "nowhere.svg" },
	} {
		dir := filepath.Join(t.TempDir(), "data")
		cfg := settingsFor(dir)
		change(&cfg)
		if err := Run(t.Context(), optionsFor(cfg)); err == nil || hint.Of(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
		_, err := os.Stat(dir)
		env.ErrorIs(t, name+": the data directory is there", err, fs.ErrNotExist)
	}
}

// A server on a disk that is nearly full says so when it starts.
func TestTooLittleRoomIsToldAtTheStart(t *testing.T) {
	t.Parallel()
	for least, tells := range map[config.Size]bool{1: false, 1 << 62: true} {
		cfg := settingsFor(t.TempDir())
		cfg.Limits.MinFreeSpace = least
		var log bytes.Buffer
		d := daemon{cfg: cfg, log: zerolog.New(&log)}
		d.warnOfRoom()
		if said := log.String(); tells != (strings.Contains(said, `"level":"warn"`) && strings.Contains(said, "nothing can be created")) || !tells && said != "" {
			t.Errorf("with %v: %s", least, said)
		}
	}
}

// An instance whose accounts are all members' is told to doctor.
func TestDoctorIsToldThatNoAccountAdministers(t *testing.T) {
	t.Parallel()
	cfg := settingsFor(t.TempDir())
	s := opened(t, cfg)
	defer closed(t, s)
	wants := func(when string, want bool) {
		t.Helper()
		f, err := Examine(t.Context(), s, cfg, "3.0.0")
		if err != nil || f.NoAdmin != want {
			t.Errorf("%s: %v, %v", when, f.NoAdmin, err)
		}
	}
	wants("without accounts", false)
	operator := store.Actor{Role: store.Operator}
	env.Must(s.AddAccount(t.Context(), operator, alice, secret.New(password)))(t)
	wants("with a member", true)
	env.OK(t, s.SetAdmin(t.Context(), operator, alice, true, false))
	wants("with an administrator", false)
}
