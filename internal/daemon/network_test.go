package daemon

import (
	"runtime"
	"runtime/debug"
	"testing"
)

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
