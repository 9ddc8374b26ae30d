package soak

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
)

// mostWaiting is how many pushes wait to be read again. A quarter of all pushes wait,
// so the oldest has expired by time when its turn comes.
const mostWaiting = 15 * 60 * soakRate * 5 / 16

// waiting are pushes that were left alone, the oldest first.
type waiting struct {
	mu  sync.Mutex
	all []*knownPush
}

// add adds a push, and returns the oldest if there are too many.
func (w *waiting) add(p *knownPush) *knownPush {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, p)
	if len(w.all) <= mostWaiting {
		return nil
	}
	oldest := w.all[0]
	w.all[0] = nil
	w.all = w.all[1:]
	return oldest
}

// wait leaves a push alone, and comes back to one that was left long ago.
func (s *soak) wait(p *knownPush) error {
	if oldest := s.waiting.add(p); oldest != nil {
		return s.comeBack(oldest)
	}
	return nil
}

// comeBack reads a push that was left alone: it must be unchanged, unless its time is
// over.
func (s *soak) comeBack(p *knownPush) error {
	const doubt = proctest.Patience // between this clock and the moment of the answer
	switch left := time.Until(p.endsAt); {
	case left < -doubt:
		s.expired.Add(1)
		return s.verifyEnded(p)
	case left < doubt:
		return nil
	}
	if err := s.view(p, false); err != nil {
		return fmt.Errorf("after %v: %w", time.Until(p.endsAt), err)
	}
	if p.kind == "url" && !p.owned { // no client may delete it
		return s.useUp(p)
	}
	if p.left > 0 || len(p.files) > 0 {
		p.deleted = p.left > 0
		return s.Call(http.MethodDelete, proctest.PushesPath+"/"+p.token, s.bearerOf(p), nil, http.StatusOK, &proctest.Record{})
	}
	return nil
}

// endAll comes back to all pushes that were left alone.
func (s *soak) endAll() {
	s.t.Helper()
	work := make(chan *knownPush)
	var all sync.WaitGroup
	for range soakClients {
		all.Go(func() {
			for p := range work {
				if err := s.comeBack(p); err != nil {
					s.t.Error(err)
				}
			}
		})
	}
	for _, p := range s.waiting.all {
		work <- p
	}
	close(work)
	all.Wait()
}

// downloadAll downloads the files of a push that was shown.
func (s *soak) downloadAll(p *knownPush, r proctest.Record) error {
	for i, f := range r.Files {
		at, err := url.Parse(f.URL)
		if err != nil {
			return err
		}
		got, err := s.fetch(http.MethodGet, at.Path, "", http.StatusOK)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, p.files[i].Bytes()) {
			return fmt.Errorf("P7: file %d of %d bytes came as %d other bytes", i, p.files[i].Size, len(got))
		}
		s.downloads.Add(1)
		p.grant = at.Path
	}
	return nil
}

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
