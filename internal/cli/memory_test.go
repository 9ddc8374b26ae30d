package cli

import (
	"runtime/debug"
	"testing"

	"pushbox/server"
)

// Not parallel: the collector is the whole process's.
func TestTheCollectorIsTunedUnlessTheEnvironmentDoes(t *testing.T) {
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(1<<40)
	defer func() { debug.SetGCPercent(percent); debug.SetMemoryLimit(limit) }()
	for _, test := range []struct {
		environ []string
		percent int
		limit   int64
	}{
		{[]string{"GOGC=100", "GOMEMLIMIT=1TiB"}, 100, 1 << 40},
		{[]string{"PATH=/bin"}, server.GCPercent, server.MemoryLimit},
	} {
		tuneMemory(test.environ)
		if got := debug.SetGCPercent(100); got != test.percent {
			t.Errorf("%v: GC percent %d", test.environ, got)
		}
		if got := debug.SetMemoryLimit(1 << 40); got != test.limit {
			t.Errorf("%v: memory limit %d", test.environ, got)
		}
	}
}
