package clientip_test

import (
	"testing"

	"pushbox/internal/clientip"
)

func TestLoopbackHosts(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.1.2.3": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "0.0.0.0": false, "::": false, "192.0.2.1": false, "2001:db8::1": false, "::ffff:192.0.2.1": false,
		"localhost.example.com": false, "127.0.0.1:25": false, "[::1]": false,
	} {
		if got := clientip.IsLoopback(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}
