package daemon

import "testing"

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
		if got := network(listen); got != want {
			t.Errorf("%s: %s", listen, got)
		}
	}
}
