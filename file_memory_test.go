package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
)

// fileSize is how large the files of the tests are that are about that:
// PUSHBOX_TEST_FILE_MIB, or more than the memory that a server may take.
func fileSize(t *testing.T) int64 {
	t.Helper()
	n := 192
	if s := os.Getenv("PUSHBOX_TEST_FILE_MIB"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	if underRace {
		n = min(n, 32)
	}
	return int64(n) << 20
}

// of is how large each of eight files is: a third as large as one, unless it is
// said how large they are to be.
func of(size int64) int64 {
	if os.Getenv("PUSHBOX_TEST_FILE_MIB") != "" {
		return size
	}
	return size / 3
}

// Most that the process may take, in MiB.
const (
	mostForOne   = 160
	mostForEight = 256
)

func TestMemoryDoesNotGrowWithFiles(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("what it measures is measured at the ordinary length, and not by the race detector")
	}
	size := fileSize(t)
	for name, test := range map[string]struct {
		as      form
		atOnce  int
		size    int64
		mostMiB int
	}{
		"multipart":    {asMultipart, 1, size, mostForOne},
		"base64":       {asBase64, 1, size, mostForOne},
		"eight":        {asMultipart, 8, of(size), mostForEight},
		"eight base64": {asBase64, 8, of(size), mostForEight},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			v := startVictim(t, dir)
			c := newFiler(t, v.url, apiToken(t, dir))
			ctx, cancel := context.WithTimeout(t.Context(), within(2*int64(test.atOnce)*test.size))
			defer cancel()
			var all errgroup.Group
			for i := range test.atOnce {
				all.Go(func() error { return c.roundTrip(ctx, test.as, uint64(i), test.size) })
			}
			if err := all.Wait(); err != nil {
				t.Fatal(err)
			}
			peak := peakMiB(v.cmd.Process.Pid)
			t.Logf("%d of %d MiB each: at most %d MiB of memory", test.atOnce, test.size>>20, peak)
			if peak >= test.mostMiB && !underRace {
				t.Errorf("it took %d MiB", peak)
			}
			if err := c.expireAll(ctx); err != nil {
				t.Fatal(err)
			}
			if peak = peakMiB(v.cmd.Process.Pid); peak >= test.mostMiB && !underRace {
				t.Errorf("to expire them it took %d MiB", peak)
			}
			v.stop()
			checkFile(t, dir)
		})
	}
}

// peakMiB is the most memory that a process has had, files that it has mapped
// included; 0 where the system does not tell.
func peakMiB(pid int) int {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kib, _ := strconv.Atoi(strings.Fields(rest + " 0")[0])
	return kib >> 10
}
