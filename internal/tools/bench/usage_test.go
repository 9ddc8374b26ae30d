package main

import (
	"math"
	"os"
	"runtime"
	"testing"
)

func TestTheSystemTellsWhatAProcessUses(t *testing.T) {
	t.Parallel()
	known := func(n float64) bool { return !math.IsNaN(n) }
	u := usageOf([]int{os.Getpid(), os.Getpid()})
	if on := runtime.GOOS == "linux"; known(u.cpu) != on || known(u.resident) != on || on && u.resident < 2<<20 {
		t.Errorf("got %+v", u)
	}
	if u := usageOf(nil); known(u.cpu) || known(u.written) {
		t.Errorf("of no process: %+v", u)
	}
	if u := usageOf([]int{os.Getpid(), 1 << 30}); known(u.cpu) || known(u.resident) {
		t.Errorf("of a process that does not exist: %+v", u)
	}
}
