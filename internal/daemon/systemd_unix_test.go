//go:build unix

package daemon

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"pushbox/internal/hint"
	"pushbox/internal/testkit/env"
)

// handOver leaves descriptors side by side, as systemd does, and returns the first.
// The reader of the environment closes them.
func handOver(t *testing.T, files ...*os.File) (first int) {
	t.Helper()
	const high = 700 // where nothing of a test is
	for i, f := range files {
		fd := env.Must(unix.FcntlInt(f.Fd(), unix.F_DUPFD, high+i))(t)
		if i == 0 {
			first = fd
		}
		if fd != first+i {
			t.Fatalf("descriptor %d is not beside %d", fd, first)
		}
	}
	return first
}

// descriptorOf is the descriptor of a listener or a connection.
func descriptorOf(t *testing.T, l interface{ File() (*os.File, error) }) *os.File {
	t.Helper()
	f := env.Must(l.File())(t)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestSocketsAreTakenByName(t *testing.T) { // not parallel: no other test may take the descriptors
	one, two, three := env.Listen(t).(*net.TCPListener), env.Listen(t).(*net.TCPListener), env.Listen(t).(*net.TCPListener)
	first := handOver(t, descriptorOf(t, one), descriptorOf(t, two), descriptorOf(t, three))
	s := env.Must(socketsOf([]string{"LISTEN_PID=7", "LISTEN_FDS=3", "LISTEN_FDNAMES=web:other:web"}, 7, first))(t)
	web, err := s.take("web")
	if err != nil || len(web) != 2 || web[0].Addr().String() != one.Addr().String() || web[1].Addr().String() != three.Addr().String() {
		t.Fatalf("web: %v, %v", web, err)
	}
	for _, l := range web {
		c := env.Must(net.Dial("tcp", l.Addr().String()))(t)
		if got, err := l.Accept(); err != nil || got.Close() != nil {
			t.Errorf("no connection: %v", err)
		}
		_ = c.Close()
		_ = l.Close()
	}
	if _, err := s.take("web"); err == nil {
		t.Error("it was given away twice")
	}
	if rest := s.closeRest(); len(rest) != 1 || rest[0] != "other" {
		t.Errorf("the rest is %v", rest)
	}
	for fd := first; fd < first+3; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); !errors.Is(err, unix.EBADF) {
			t.Errorf("descriptor %d is open: %v", fd, err)
		}
	}
}

func TestSocketsWithoutNamesAreUnknown(t *testing.T) {
	s := env.Must(socketsOf([]string{"LISTEN_PID=7", "LISTEN_FDS=1"}, 7, handOver(t, descriptorOf(t, env.Listen(t).(*net.TCPListener)))))(t)
	all, err := s.take("unknown")
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	_ = all[0].Close()
}

func TestWhatTakesNoConnectionsIsRefused(t *testing.T) {
	l := env.Listen(t).(*net.TCPListener)
	client := env.Must(net.Dial("tcp", l.Addr().String()))(t)
	defer client.Close()
	packets := env.Must(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	defer packets.Close()
	file := env.Must(os.Open(os.DevNull))(t)
	defer file.Close()
	for name, f := range map[string]*os.File{
		"a connection": descriptorOf(t, client.(*net.TCPConn)), "a datagram socket": descriptorOf(t, packets.(*net.UDPConn)), "a file": file,
	} {
		s, err := socketsOf([]string{"LISTEN_PID=7", "LISTEN_FDS=1", "LISTEN_FDNAMES=web"}, 7, handOver(t, f))
		if s != nil || err == nil || !strings.Contains(err.Error(), `the socket "web" of systemd`) || !strings.Contains(hint.Of(err), "Accept=yes") {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

func TestSocketsOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ environ, want string }{
		"no sockets at all":   {"", `passed no socket, so there is none named "web"`},
		"another process":     {"LISTEN_PID=8 LISTEN_FDS=1", "to another process: LISTEN_PID is not 7"},
		"no process":          {"LISTEN_FDS=1", "to another process"},
		"none for this one":   {"LISTEN_PID=7 LISTEN_FDS=0 LISTEN_FDNAMES=", `passed no socket, so there is none named "web"`},
		"a number that is no": {"LISTEN_PID=7 LISTEN_FDS=x", "LISTEN_FDS is not a number of sockets from 0 to 1000"},
		"less than none":      {"LISTEN_PID=7 LISTEN_FDS=-1", "LISTEN_FDS is not a number"},
		"too many":            {"LISTEN_PID=7 LISTEN_FDS=1001", "LISTEN_FDS is not a number"},
		"a name too many":     {"LISTEN_PID=7 LISTEN_FDS=1 LISTEN_FDNAMES=a:b", "LISTEN_FDNAMES names 2 sockets"},
	} {
		s, err := socketsOf(strings.Fields(c.environ), 7, 1<<20)
		if err == nil {
			_, err = s.take("web")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheVariablesOfSocketsAreForgotten(t *testing.T) {
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		t.Setenv(name, "1")
	}
	forgetSockets()
	for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		if v, ok := os.LookupEnv(name); ok {
			t.Errorf("%s is %q", name, v)
		}
	}
}

func TestASocketOfSystemdStaysWhenItIsClosedHere(t *testing.T) {
	path := env.ShortDir(t) + "/s"
	l := env.Must(net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}))(t)
	defer l.Close()
	s := env.Must(socketsOf([]string{"LISTEN_PID=7", "LISTEN_FDS=1", "LISTEN_FDNAMES=web"}, 7, handOver(t, descriptorOf(t, l))))(t)
	all := env.Must(s.take("web"))(t)
	client := env.Must(net.Dial("unix", path))(t)
	defer client.Close()
	if c, err := all[0].Accept(); err != nil || c.RemoteAddr().String() != "127.0.0.1:0" || c.Close() != nil {
		t.Errorf("a client's address is %v, %v", c.RemoteAddr(), err)
	}
	env.OK(t, all[0].Close())
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("it is gone: %v", err)
	}
	if _, err := io.WriteString(c, "x"); err != nil {
		t.Error(err)
	}
	_ = c.Close()
}
