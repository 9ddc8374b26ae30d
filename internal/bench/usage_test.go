package main

import (
	"os"
	"runtime"
	"testing"
)

func TestTheSystemTellsWhatAProcessUses(t *testing.T) {
	t.Parallel()
	u := usageOf([]int{os.Getpid(), os.Getpid()})
	if on := runtime.GOOS == "linux"; u.cpu.known != on || u.resident.known != on || on && u.resident.n < 2<<20 {
		t.Errorf("got %+v", u)
	}
	if u := usageOf(nil); u.cpu.known || u.written.known {
		t.Errorf("of nobody: %+v", u)
	}
	if u := usageOf([]int{os.Getpid(), 1 << 30}); u.cpu.known || u.resident.known {
		t.Errorf("of a process that is not there: %+v", u)
	}
}

func TestCPUTimeIsRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		stat string
		want amount
	}{
		{"12 (bench) S 1 2 3 0 -1 4 5 6 7 8 150 50 0 0 20 0", known(2)},
		{"12 (a) R (b) S 1 2 3 0 -1 4 5 6 7 8 1 2 0 0 20 0", known(0.03)},
		{"12 (bench) S 1 2 3 0 -1 4 5 6 7 8 150", amount{}},
		{"12 (bench) S 1 2 3 0 -1 4 5 6 7 8 x 50", amount{}},
		{"", amount{}},
	} {
		if got := cpuOf(test.stat); got.known != test.want.known || got.known && got != test.want {
			t.Errorf("%q: got %+v", test.stat, got)
		}
	}
}

func TestCountersAreRead(t *testing.T) {
	t.Parallel()
	const text = "cancelled_write_bytes: 7\nwrite_bytes: 4096\nVmRSS:\t   20 kB\nodd: x\n"
	for _, test := range []struct {
		name string
		unit float64
		want amount
	}{
		{"write_bytes:", 1, known(4096)},
		{"VmRSS:", 1 << 10, known(20 << 10)},
		{"odd:", 1, amount{}},
		{"none:", 1, amount{}},
	} {
		if got := counterOf(text, test.name, test.unit); got != test.want {
			t.Errorf("%s: got %+v", test.name, got)
		}
	}
}
