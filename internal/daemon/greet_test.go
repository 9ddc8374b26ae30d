package daemon

import (
	"net"
	"testing"
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
		if err != nil {
			t.Fatal(err)
		}
		if got := localURL(addr); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	if got := localURL(&net.UnixAddr{Name: "/run/x", Net: "unix"}); got != "http://localhost" {
		t.Errorf("a Unix socket: %s", got)
	}
}
