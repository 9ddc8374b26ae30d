package daemon

import (
	"bytes"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
)

func TestTheGreetingNamesAnAddressThatThisMachineReaches(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"127.0.0.1:5100": "http://127.0.0.1:5100",
		"192.0.2.7:80":   "http://192.0.2.7:80",
		"0.0.0.0:5100":   "http://127.0.0.1:5100",
		"[::]:5100":      "http://localhost:5100",
		"[::1]:5100":     "http://[::1]:5100",
	} {
		addr, err := net.ResolveTCPAddr("tcp", address)
		env.OK(t, err)
		if got := localURL(addr); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	if got := localURL(&net.UnixAddr{Name: "/run/x", Net: "unix"}); got != "http://localhost" {
		t.Errorf("a Unix socket: %s", got)
	}
}

// A person who starts the server for the first time reads where to open it, first.
func TestTheFirstLineOnATerminalSaysWhereToOpenThePages(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o := optionsFor(settingsFor(filepath.Join(t.TempDir(), "data")))
	o.Stderr, o.Config.Log.Format = &out, "console"
	d, err := open(t.Context(), o)
	env.OK(t, err)
	url := localURL(d.endpoints[0].listener.Addr())
	if err := d.abandon(t.Context()); err != nil {
		t.Error(err)
	}
	first, rest, _ := strings.Cut(out.String(), "\n")
	if want := "pushbox: open " + url + "/ in a browser"; first != want || !strings.Contains(rest, "pushbox: made the data directory ") {
		t.Errorf("%q, and then\n%s", first, rest)
	}
}

// What the first start made is told even where it then fails.
func TestAFirstStartThatFailsSaysWhatItMade(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	o := optionsFor(settingsFor(filepath.Join(t.TempDir(), "data")))
	o.Stderr, o.Config.Log.Format, o.Config.Listen = &out, "console", "unix:"+filepath.Join(t.TempDir(), "missing", "socket")
	if _, err := open(t.Context(), o); err == nil || !strings.Contains(out.String(), "pushbox: made the key file ") {
		t.Errorf("%v; it says %q", err, &out)
	}
}
