package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pushbox/internal/testenv"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/seal"
)

const fileClients = 64

// A stash is the file pushes that were acknowledged: url_token and what is in
// the file.
type stash struct {
	mu   sync.Mutex
	all  []stashed
	next uint64
}

type stashed struct {
	token string
	seed  uint64
	size  int64
}

func (s *stash) add(x stashed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, x)
}

func (s *stash) seed() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	return s.next
}

// take removes one, so that nobody else uses up its views.
func (s *stash) take() (x stashed, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return stashed{}, false
	}
	i := rand.IntN(len(s.all))
	x = s.all[i]
	s.all[i] = s.all[len(s.all)-1]
	s.all = s.all[:len(s.all)-1]
	return x, true
}

// TestAKillLosesNoFileAndLeavesNone kills a server at random moments while 64
// clients send and fetch files. PUSHBOX_TEST_FILE_KILLS sets how often.
func TestAKillLosesNoFileAndLeavesNone(t *testing.T) {
	t.Parallel()
	kills := testenv.Length(t, "PUSHBOX_TEST_FILE_KILLS", 3, 1)
	dir := t.TempDir()
	v := startVictim(t, dir)
	token := apiToken(t, dir)
	var kept stash
	for range kills {
		c := newFiler(t, v.url, token)
		ctx, cancel := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		for range fileClients {
			clients.Go(func() { work(ctx, t, c, &kept) })
		}
		v.killAfter(200*time.Millisecond + rand.N(800*time.Millisecond))
		cancel()
		clients.Wait()
		v = startVictim(t, dir)
		for _, x := range kept.all {
			if err := newFiler(t, v.url, token).compare(t.Context(), x); err != nil {
				t.Errorf("after a kill: %v", err)
			}
		}
		v.stop()
		checkFile(t, dir)
		wantNoOrphans(t, dir)
		v = startVictim(t, dir)
	}
	t.Logf("%d files, of which %d were sent in the last round and not fetched", kept.next, len(kept.all))
	if kept.next < kills {
		t.Error("nothing was sent")
	}
	v.stop()
}

// work sends a file or fetches one, until the server is gone.
func work(ctx context.Context, t *testing.T, c *filer, kept *stash) {
	for ctx.Err() == nil {
		if x, ok := kept.take(); ok && rand.IntN(2) == 0 {
			err := c.compare(ctx, x)
			if err == nil || isTransport(err) {
				kept.add(x)
			}
			if err != nil {
				if !isTransport(err) {
					t.Errorf("fetch: %v", err)
				}
				return
			}
			continue
		} else if ok {
			kept.add(x)
		}
		x := stashed{seed: kept.seed(), size: rand.Int64N(3 << 20)}
		var err error
		if x.token, err = c.push(ctx, asMultipart, content(x.seed, x.size)); err != nil {
			if !isTransport(err) {
				t.Errorf("push: %v", err)
			}
			return
		}
		kept.add(x)
	}
}

// isTransport reports whether an error is of a connection that ended.
func isTransport(err error) bool {
	var gone *url.Error
	var broken *net.OpError
	return errors.As(err, &gone) || errors.As(err, &broken) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.Canceled)
}

// compare fetches a file and compares it with what was sent.
func (c *filer) compare(ctx context.Context, x stashed) error {
	urls, err := c.show(ctx, x.token)
	if err != nil {
		return err
	}
	if len(urls) != 1 {
		return fmt.Errorf("%d files", len(urls))
	}
	got, n, err := c.fetch(ctx, urls[0])
	if err != nil {
		return err
	}
	if want, _, _ := digest(content(x.seed, x.size)); got != want || n != x.size {
		return fmt.Errorf("%d bytes of %d came, or others than were sent", n, x.size)
	}
	return nil
}

// wantNoOrphans fails the test if a sweep leaves chunks that are of no push.
func wantNoOrphans(t *testing.T, dir string) {
	t.Helper()
	withStore(t, dir, func(s *store.Store, e store.Engine) error {
		_, err := s.Sweep(t.Context())
		ids, listErr := e.Orphans(t.Context(), store.ID{}, 100)
		if len(ids) > 0 {
			t.Errorf("%d uploads left something behind", len(ids))
		}
		return errors.Join(err, listErr)
	})
}

// orphans counts the uploads that have left chunks in the file, up to 100.
func orphans(t *testing.T, dir string) (n int) {
	t.Helper()
	withStore(t, dir, func(_ *store.Store, e store.Engine) error {
		ids, err := e.Orphans(t.Context(), store.ID{}, 100)
		n = len(ids)
		return err
	})
	return n
}

// withStore opens the store in dir, which no server has open, for use.
func withStore(t *testing.T, dir string, use func(*store.Store, store.Engine) error) {
	t.Helper()
	data := filepath.Join(dir, "data")
	key, err := seal.LoadKeyFile(filepath.Join(data, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	engine, _, err := bolt.Open(t.Context(), bolt.Options{Path: filepath.Join(data, "pushbox.db")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), engine, key, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(use(s, engine), s.Close(t.Context())); err != nil {
		t.Error(err)
	}
}
