package admin_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pushbox/internal/admin"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// raw asks the server at path without the help of Client.
func raw(t *testing.T, path, method, name, body string) (status int, answer string) {
	t.Helper()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		},
	}
	req := env.Must(http.NewRequestWithContext(t.Context(), method, "http://pushbox/v1/"+name, strings.NewReader(body)))(t)
	res := env.Must(transport.RoundTrip(req))(t)
	text, err := io.ReadAll(res.Body)
	err = errors.Join(err, res.Body.Close())
	env.OK(t, err)
	return res.StatusCode, string(text)
}

func TestRequestsThatMakeNoSenseDoNothing(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	path := serve(t, f)
	for _, test := range []struct{ name, method, op, body, want string }{
		{"an operation that is not there", "POST", "user/promote", "{}", "unknown"},
		{"another method", "GET", "user/list", "", "unknown"},
		{"no JSON", "POST", "user/add", "secret-marker", "is malformed"},
		{"no input", "POST", "user/add", "", "is malformed"},
		{"a field that is not there", "POST", "user/add", `{"Email":"` + alice + `","Secret-marker":1}`, "is malformed"},
		{"an input without end", "POST", "user/add", `{"Email":"` + strings.Repeat("x", 64<<10) + `"}`, "is malformed"},
	} {
		status, answer := raw(t, path, test.method, test.op, test.body)
		if status != http.StatusUnprocessableEntity || !strings.Contains(answer, test.want) || strings.Contains(answer, "marker") {
			t.Errorf("%s: %d %s", test.name, status, answer)
		}
	}
	if list, err := f.Accounts(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("there are accounts: %v %v", list, err)
	}
}

// fake answers whatever is asked with the same.
func fake(t *testing.T, handler http.HandlerFunc) *admin.Client {
	t.Helper()
	path := admin.SocketPath(env.ShortDir(t))
	l := env.Must(net.Listen("unix", path))(t)
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l) }()
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	return client(t, path)
}

func TestAnswersThatMakeNoSenseAreErrors(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"is malformed":             func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") },
		"status 502":               func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"ended before it answered": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"ended while it answered": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "[")
		},
	} {
		_, err := admin.UserList.Call(t.Context(), fake(t, handler), admin.None{})
		if err == nil || !strings.Contains(err.Error(), name) || errors.Is(err, admin.ErrNoServer) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestAnOlderServerSaysThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	c := fake(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"Code":"unknown","Message":"what?"}`)
	})
	_, err := admin.Check.Call(t.Context(), c, admin.None{})
	env.ErrorIs(t, "it", err, admin.ErrUnknown)
}

func TestAStoreThatIsClosedSaysSoThroughTheSocket(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	c := client(t, serve(t, f))
	f.Reopen() // the server still has the store as it was before: closed
	_, err := admin.UserList.Call(t.Context(), c, admin.None{})
	env.ErrorIs(t, "it", err, record.ErrClosed)
}

const (
	alice    = "alice@example.com"
	password = "correct horse battery"
)

// serve answers on a new socket until the test ends.
func serve(t *testing.T, f *storetest.Fixture) (path string) {
	t.Helper()
	path = admin.SocketPath(env.ShortDir(t))
	l := env.Must(admin.Listen(t.Context(), path))(t)
	serveOn(t, f, l)
	return path
}

func serveOn(t *testing.T, f *storetest.Fixture, l net.Listener) {
	t.Helper()
	s := f.Store // as it is now, whatever the test does to the fixture
	env.Run(t, func(ctx context.Context) error { return admin.Serve(ctx, l, s) })
}

func client(t *testing.T, path string) *admin.Client {
	t.Helper()
	return env.Must(admin.NewClient(path))(t)
}

func clear(text string) admin.Clear { return admin.Clear{Text: secret.New(text)} }

func TestTheSocketIsForItsOwnerAloneAndGoesWithItsServer(t *testing.T) {
	t.Parallel()
	path := admin.SocketPath(env.ShortDir(t))
	l := env.Must(admin.Listen(t.Context(), path))(t)
	info := env.Must(os.Stat(path))(t)
	env.Equal(t, "its mode is", info.Mode(), fs.ModeSocket|0o600)
	env.OK(t, l.Close())
	_, err := os.Stat(path)
	env.ErrorIs(t, "after Close the socket is still there", err, fs.ErrNotExist)
}

// leaveStale leaves the socket of a server that was killed.
func leaveStale(t *testing.T, path string) {
	t.Helper()
	l := env.Must(net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}))(t)
	l.SetUnlinkOnClose(false)
	env.OK(t, l.Close())
}

func TestAStaleSocketIsReplaced(t *testing.T) {
	t.Parallel()
	path := admin.SocketPath(env.ShortDir(t))
	leaveStale(t, path)
	l := env.Must(admin.Listen(t.Context(), path))(t)
	serveOn(t, storetest.New(t), l)
	if _, err := admin.UserList.Call(t.Context(), client(t, path), admin.None{}); err != nil {
		t.Errorf("the new socket does not answer: %v", err)
	}
}

func TestWhatIsNoSocketIsNotRemoved(t *testing.T) {
	t.Parallel()
	path := admin.SocketPath(env.ShortDir(t))
	env.OK(t, os.WriteFile(path, []byte("mine"), 0o600))
	_, err := admin.Listen(t.Context(), path)
	env.ErrorIs(t, "it", err, admin.ErrNotSocket)
	if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
		t.Errorf("the file holds %q now (%v)", text, err)
	}
}

func TestNoAnswerComesWithoutAServer(t *testing.T) {
	t.Parallel()
	stale := admin.SocketPath(env.ShortDir(t))
	leaveStale(t, stale)
	for name, path := range map[string]string{
		"no directory": filepath.Join(env.ShortDir(t), "none", "control.sock"),
		"no socket":    admin.SocketPath(env.ShortDir(t)),
		"stale socket": stale,
	} {
		_, err := admin.UserList.Call(t.Context(), client(t, path), admin.None{})
		env.ErrorIs(t, name, err, admin.ErrNoServer)
	}
}

func TestAPathAsLongAsItMayBeWorksAndALongerOneIsRefusedWithTheLimit(t *testing.T) {
	t.Parallel()
	limit := len(syscall.RawSockaddrUnix{}.Path) - 1
	dir := env.ShortDir(t)
	path := filepath.Join(dir, strings.Repeat("s", limit-len(dir)-1))
	l, err := admin.Listen(t.Context(), path)
	if err != nil {
		t.Fatalf("%d bytes: %v", len(path), err)
	}
	serveOn(t, storetest.New(t), l)
	if _, err := admin.UserList.Call(t.Context(), client(t, path), admin.None{}); err != nil {
		t.Errorf("%d bytes: %v", len(path), err)
	}

	path += "s"
	_, listen := admin.Listen(t.Context(), path)
	_, dial := admin.NewClient(path)
	for _, err := range []error{listen, dial} {
		if !errors.Is(err, admin.ErrPathTooLong) || !strings.Contains(err.Error(), "allows "+strconv.Itoa(limit)) {
			t.Errorf("%d bytes: got %v", len(path), err)
		}
	}
}
