package admin_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pushbox/internal/admin"
	"pushbox/internal/testkit/env"
	"pushbox/store/storetest"
)

func TestTheSocketIsForItsOwnerAloneAndGoesWithItsServer(t *testing.T) {
	t.Parallel()
	path := admin.SocketPath(env.ShortDir(t))
	l, err := admin.Listen(t.Context(), path)
	env.OK(t, err)
	info, err := os.Stat(path)
	env.OK(t, err)
	if got := info.Mode(); got != fs.ModeSocket|0o600 {
		t.Errorf("its mode is %v", got)
	}
	env.OK(t, l.Close())
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Close the socket is still there: %v", err)
	}
}

// leaveStale leaves the socket of a server that was killed.
func leaveStale(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	env.OK(t, err)
	l.SetUnlinkOnClose(false)
	env.OK(t, l.Close())
}

func TestAStaleSocketIsReplaced(t *testing.T) {
	t.Parallel()
	path := admin.SocketPath(env.ShortDir(t))
	leaveStale(t, path)
	l, err := admin.Listen(t.Context(), path)
	env.OK(t, err)
	serveOn(t, storetest.New(t), l)
	if _, err := admin.UserList.Call(t.Context(), client(t, path), admin.None{}); err != nil {
		t.Errorf("the new socket does not answer: %v", err)
	}
}

func TestWhatIsNoSocketIsNotRemoved(t *testing.T) {
	t.Parallel()
	path := admin.SocketPath(env.ShortDir(t))
	env.OK(t, os.WriteFile(path, []byte("mine"), 0o600))
	if _, err := admin.Listen(t.Context(), path); !errors.Is(err, admin.ErrNotSocket) {
		t.Errorf("got %v", err)
	}
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
		if _, err := admin.UserList.Call(t.Context(), client(t, path), admin.None{}); !errors.Is(err, admin.ErrNoServer) {
			t.Errorf("%s: got %v", name, err)
		}
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
