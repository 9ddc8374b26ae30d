package daemon

import (
	"runtime"
	"runtime/debug"
	"testing"
)

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
