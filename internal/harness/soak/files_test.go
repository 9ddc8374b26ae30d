package soak

import (
	"context"
	"net/http"
	"os"
	"testing"

	"golang.org/x/sync/errgroup"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
)

// fileSize is the size of a single file: PUSHBOX_TEST_FILE_MIB, or more than the memory
// that a server may take.
func fileSize(t *testing.T) int64 {
	t.Helper()
	n := env.Length(t, "PUSHBOX_TEST_FILE_MIB")
	if env.UnderRace {
		n = min(n, 32)
	}
	return int64(n) << 20
}

// of is the size of each of eight files: a third of a single one, unless
// PUSHBOX_TEST_FILE_MIB sets the size.
func of(size int64) int64 {
	if os.Getenv("PUSHBOX_TEST_FILE_MIB") != "" {
		return size
	}
	return size / 3
}

// The most memory that the process may take, in MiB.
const (
	mostForOne   = 160
	mostForEight = 256
)

func TestMemoryDoesNotGrowWithFiles(t *testing.T) {
	t.Parallel()
	size := fileSize(t)
	for name, test := range map[string]struct {
		as       proctest.Form
		atOnce   int
		size     int64
		mostMiB  int
		postgres bool
	}{
		"multipart":           {proctest.Multipart, 1, size, mostForOne, false},
		"base64":              {proctest.Base64, 1, size, mostForOne, false},
		"eight":               {proctest.Multipart, 8, of(size), mostForEight, false},
		"eight base64":        {proctest.Base64, 8, of(size), mostForEight, false},
		"postgres":            {proctest.Multipart, 1, size, mostForOne, true},
		"postgres base64":     {proctest.Base64, 1, size, mostForOne, true},
		"eight over postgres": {proctest.Multipart, 8, of(size), mostForEight, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var environ []string
			if test.postgres {
				environ = append(environ, "PUSHBOX_DATABASE_URL="+pgtest.URL(t).Reveal())
			}
			v := proctest.StartServer(t, dir, environ...)
			c := proctest.NewFileClient(t, v.URL, proctest.APIToken(t, dir))
			ctx, cancel := context.WithTimeout(t.Context(), proctest.Within(2*int64(test.atOnce)*test.size))
			defer cancel()
			var all errgroup.Group
			for i := range test.atOnce {
				all.Go(func() error { return c.RoundTrip(ctx, test.as, uint64(i), test.size) })
			}
			env.OK(t, all.Wait())
			peak := proctest.PeakMiB(v.Pid())
			t.Logf("%d of %d MiB each: at most %d MiB of memory", test.atOnce, test.size>>20, peak)
			if peak >= test.mostMiB && !env.UnderRace {
				t.Errorf("it took %d MiB", peak)
			}
			env.OK(t, expireAll(ctx, c))
			if peak = proctest.PeakMiB(v.Pid()); peak >= test.mostMiB && !env.UnderRace {
				t.Errorf("it took %d MiB to expire them", peak)
			}
			proctest.CheckFile(t, dir)
			v.Stop()
		})
	}
}

// expireAll deletes every active push.
func expireAll(ctx context.Context, c *proctest.FileClient) error {
	var active []proctest.Record
	if err := c.Call(ctx, http.MethodGet, proctest.PushesPath+"/active", "", nil, http.StatusOK, &active); err != nil {
		return err
	}
	for _, p := range active {
		if err := c.Call(ctx, http.MethodDelete, proctest.PushesPath+"/"+p.Token, "", nil, http.StatusOK, &p); err != nil {
			return err
		}
	}
	return nil
}
