package daemon

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/hint"
	"pushbox/internal/testkit/env"
)

// listenAt listens on a Unix socket.
func listenAt(t *testing.T, path string, mode fs.FileMode) (net.Listener, error) {
	t.Helper()
	all, err := listen(t.Context(), config.UnixPrefix+path, mode, &sockets{})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = all[0].Close() })
	return all[0], nil
}

func TestASocketHasItsModeAndGoesWithItsListener(t *testing.T) {
	t.Parallel()
	path := filepath.Join(env.ShortDir(t), "s")
	for _, mode := range []fs.FileMode{0o600, 0o660, 0o666} {
		l := env.Must(listenAt(t, path, mode))(t)
		if info, err := os.Stat(path); err != nil || info.Mode() != fs.ModeSocket|mode {
			t.Errorf("%v, %v, not %o", info.Mode(), err, mode)
		}
		env.OK(t, l.Close())
		_, err := os.Stat(path)
		env.ErrorIs(t, "after Close it is there", err, fs.ErrNotExist)
	}
}

func TestAClientOfASocketCountsAsThisMachine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(env.ShortDir(t), "s")
	l := env.Must(listenAt(t, path, 0o600))(t)
	client := env.Must(net.Dial("unix", path))(t)
	defer client.Close()
	conn := env.Must(l.Accept())(t)
	defer conn.Close()
	env.Equal(t, "its address is", conn.RemoteAddr().String(), "127.0.0.1:0")
	env.Equal(t, "the listener's is", addressOf(l), "unix:"+path)
}

func TestOnlyASocketWithoutAServerIsReplaced(t *testing.T) {
	t.Parallel()
	dir := env.ShortDir(t)
	leftover, used, file := filepath.Join(dir, "leftover"), filepath.Join(dir, "used"), filepath.Join(dir, "file")
	for _, path := range []string{leftover, used} {
		l := env.Must(net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}))(t)
		l.SetUnlinkOnClose(false)
		if path == used {
			defer l.Close()
		} else if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	env.OK(t, os.WriteFile(file, []byte("mine"), 0o600))
	for ctx := soon(t); ctx.Err() == nil; { // a program that another test starts may hold the socket for a moment, between fork and exec
		c, err := net.Dial("unix", leftover)
		if err != nil {
			break
		}
		_ = c.Close() // it was only tried
		time.Sleep(time.Millisecond)
	}
	if _, err := listenAt(t, leftover, 0o600); err != nil {
		t.Errorf("what was left over: %v", err)
	}
	_, err := listenAt(t, used, 0o600)
	env.ErrorIs(t, "what is used", err, errAnswered)
	if c, err := net.Dial("unix", used); err != nil || c.Close() != nil {
		t.Errorf("its owner answers no more: %v", err)
	}
	_, err = listenAt(t, file, 0o600)
	env.ErrorIs(t, "a file", err, admin.ErrNotSocket)
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if _, err := listenAt(t, filepath.Join(dir, "none", "s"), 0o600); !strings.Contains(hint.Of(err), "make the directory") {
		t.Errorf("no directory: %v", err)
	}
}

func TestThePathOfASocketHasALimit(t *testing.T) {
	t.Parallel()
	dir := env.ShortDir(t)
	longest := filepath.Join(dir, strings.Repeat("s", len(syscall.RawSockaddrUnix{}.Path)-1-len(dir)-1))
	if _, err := listenAt(t, longest, 0o600); err != nil {
		t.Errorf("%d bytes: %v", len(longest), err)
	}
	_, err := listenAt(t, longest+"s", 0o600)
	if !errors.Is(err, admin.ErrPathTooLong) || !strings.Contains(hint.Of(err), "choose a shorter path") {
		t.Errorf("%d bytes: %v", len(longest)+1, err)
	}
}

func TestAnIPv4AddressListensOnIPv4Alone(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"0.0.0.0:80":     "tcp4",
		"127.0.0.1:0":    "tcp4",
		"[::]:80":        "tcp",
		"[::1]:80":       "tcp",
		":80":            "tcp",
		"localhost:5100": "tcp",
	} {
		env.Equal(t, listen, network(listen), want)
	}
}

// Not parallel: the collector is the whole process's.
func TestTheCollectorIsTunedUnlessTheEnvironmentDoes(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(1<<40)
	cores := runtime.GOMAXPROCS(0)
	defer func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit); runtime.GOMAXPROCS(cores) }()
	for _, test := range []struct {
		environ []string
		cores   int
		percent int
		limit   int64
	}{
		{[]string{"GOGC=100", "GOMEMLIMIT=1TiB"}, 1, 100, 1 << 40},
		{[]string{"PATH=/bin"}, 1, gcPercent, MemoryLimit + 20<<20},
		{[]string{"PATH=/bin"}, 16, gcPercent, MemoryLimit + 320<<20},
	} {
		runtime.GOMAXPROCS(test.cores)
		tuneMemory(test.environ)
		if got := debug.SetGCPercent(100); got != test.percent {
			t.Errorf("%v: GC percent %d", test.environ, got)
		}
		if got := debug.SetMemoryLimit(1 << 40); got != test.limit {
			t.Errorf("%v: memory limit %d", test.environ, got)
		}
	}
}
