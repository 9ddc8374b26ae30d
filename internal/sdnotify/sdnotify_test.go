//go:build unix

package sdnotify_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"pushbox/internal/sdnotify"
	"pushbox/internal/testkit/env"
)

// manager is a service manager that listens on a socket of that name.
func manager(t *testing.T, name string) (receive func() string) {
	t.Helper()
	c := env.Must(net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"}))(t)
	t.Cleanup(func() { _ = c.Close() })
	return func() string {
		t.Helper()
		env.OK(t, c.SetReadDeadline(time.Now().Add(env.Patience)))
		b := make([]byte, 1000)
		n := env.Must(c.Read(b))(t)
		return string(b[:n])
	}
}

// socketPath is short enough for a socket.
func socketPath(t *testing.T) string {
	t.Helper()
	dir := env.Must(os.MkdirTemp("", "sd"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "notify")
}

func TestMessagesArriveAsTheProtocolHasThem(t *testing.T) {
	t.Parallel()
	names := map[string]string{"a path": socketPath(t)}
	if runtime.GOOS == "linux" {
		names["an abstract socket"] = fmt.Sprintf("@pushbox-test-%d", os.Getpid())
	}
	for what, name := range names {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			receive := manager(t, name)
			n := env.Must(sdnotify.From([]string{"NOTIFY_SOCKET=" + name}))(t)
			for _, step := range []struct {
				send func() error
				want string
			}{
				{n.Ready, `\AREADY=1\z`},
				{n.Alive, `\AWATCHDOG=1\z`},
				{n.Reloading, `\ARELOADING=1\nMONOTONIC_USEC=\d+\z`},
				{n.Stopping, `\ASTOPPING=1\z`},
			} {
				env.OK(t, step.send())
				if got := receive(); !regexp.MustCompile(step.want).MatchString(got) {
					t.Errorf("%q is not %s", got, step.want)
				}
			}
		})
	}
}

func TestAReloadIsStampedWithTheMonotonicClock(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has systemd")
	}
	name := socketPath(t)
	receive := manager(t, name)
	n := env.Must(sdnotify.From([]string{"NOTIFY_SOCKET=" + name}))(t)
	uptime := func() float64 { // the same as that clock, except for suspends
		b, err := os.ReadFile("/proc/uptime")
		if err != nil {
			t.Skip(err)
		}
		return env.Must(strconv.ParseFloat(strings.Fields(string(b))[0], 64))(t)
	}
	var stamps []float64
	for range 2 {
		env.OK(t, n.Reloading())
		usec := env.Must(strconv.ParseFloat(strings.TrimPrefix(receive(), "RELOADING=1\nMONOTONIC_USEC="), 64))(t)
		stamps = append(stamps, usec/1e6)
	}
	if stamps[0] > stamps[1] || stamps[0] <= 0 || stamps[1] > uptime()+1 {
		t.Errorf("stamps %v beside an uptime of %v", stamps, uptime())
	}
}

func TestTheEnvironmentNamesTheSocketAndTheWatchdog(t *testing.T) {
	t.Parallel()
	own := "WATCHDOG_PID=" + strconv.Itoa(os.Getpid())
	for _, c := range []struct {
		environ []string
		want    time.Duration
		fault   string
	}{
		{nil, 0, ""},
		{[]string{"WATCHDOG_USEC=30000000"}, 0, ""}, // no socket
		{[]string{"NOTIFY_SOCKET=/run/x"}, 0, ""},
		{[]string{"NOTIFY_SOCKET=/run/x", "WATCHDOG_USEC=30000000"}, 30 * time.Second, ""},
		{[]string{"NOTIFY_SOCKET=/run/x", "WATCHDOG_USEC=30000000", own}, 30 * time.Second, ""},
		{[]string{"NOTIFY_SOCKET=/run/x", "WATCHDOG_USEC=30000000", "WATCHDOG_PID=1"}, 0, ""},
		{[]string{"NOTIFY_SOCKET=/run/x", "WATCHDOG_USEC=0"}, 0, "WATCHDOG_USEC"},
		{[]string{"NOTIFY_SOCKET=/run/x", "WATCHDOG_USEC=-5"}, 0, "WATCHDOG_USEC"},
		{[]string{"NOTIFY_SOCKET=/run/x", "WATCHDOG_USEC=9223372036854776"}, 0, "WATCHDOG_USEC"},
		{[]string{"NOTIFY_SOCKET=/run/x", "WATCHDOG_USEC=soon"}, 0, "WATCHDOG_USEC"},
		{[]string{"NOTIFY_SOCKET=run/x"}, 0, "NOTIFY_SOCKET"},
		{[]string{"NOTIFY_SOCKET=vsock:2:1234"}, 0, "NOTIFY_SOCKET"},
	} {
		n, err := sdnotify.From(c.environ)
		if n.Watchdog() != c.want || (err == nil) != (c.fault == "") || err != nil && !strings.HasPrefix(err.Error(), c.fault) {
			t.Errorf("%v: %v, %v", c.environ, n.Watchdog(), err)
		}
	}
}

func TestNothingIsSentWithoutASocket(t *testing.T) {
	t.Parallel()
	var n sdnotify.Notifier
	for _, send := range []func() error{n.Ready, n.Stopping, n.Alive, n.Reloading} {
		env.OK(t, send())
	}
	gone := env.Must(sdnotify.From([]string{"NOTIFY_SOCKET=" + socketPath(t)}))(t)
	if err := gone.Ready(); err == nil {
		t.Error("a message to a missing manager did not fail")
	}
}
