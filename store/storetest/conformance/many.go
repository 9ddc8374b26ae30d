package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
)

// Together runs f at the same time in n goroutines and waits for all.
func Together(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}

func countsConcurrently(t *testing.T, e record.Engine) {
	const racers, each = 64, 2
	for n, limit := range []int{1, 2, 3, 5, 100} {
		p := LivePush(1+n, 0)
		p.ViewLimit = limit
		Must(t, Made(e.CreatePush(t.Context(), p, Payload(1+n), Creation(p))))
		var delivered atomic.Int32
		Together(racers, func(int) {
			for range each {
				c, err := e.Change(t.Context(), p.ID, View)
				switch {
				case err == nil:
					delivered.Add(1)
					Same(t, "payload", c.Payload, Payload(1+n))
				case !errors.Is(err, ErrLimit):
					t.Error(err)
				}
			}
		})
		Same(t, "views delivered", int(delivered.Load()), limit)
		kept := got(Push(t.Context(), e, p.ID)).of(t)
		Same(t, "views counted", kept.Views, limit)
		Same(t, "state", kept.State, record.Expired)
	}
}

func isolatesFailures(t *testing.T, e record.Engine) {
	create(t, e, 1000, 0)
	Together(64, func(i int) {
		switch i % 4 {
		case 0: // fails while it writes, where an engine cannot keep an empty address
			if id, err := cold.CreateAccount(t.Context(), e, record.Account{}, Told); err == nil && id == 0 {
				t.Error("an account got no ID")
			}
		case 1:
			_, err := e.Change(t.Context(), PushID(1000), func(record.Push) (record.Push, record.Entry, error) {
				panic("no")
			})
			if err == nil {
				t.Error("a rule that panicked returned no error")
			}
		case 2:
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			p := LivePush(i, 0)
			err := Made(e.CreatePush(ctx, p, Payload(i), Creation(p)))
			_, found := Push(t.Context(), e, p.ID)
			if (err == nil) != (found == nil) {
				t.Errorf("create returned %v, look-up %v", err, found)
			}
		default:
			p := LivePush(i, 0)
			if err := Made(e.CreatePush(t.Context(), p, Payload(i), Creation(p))); err != nil {
				t.Errorf("create beside failures: %v", err)
			}
			if got, err := Push(t.Context(), e, p.ID); err != nil || got.ID != p.ID {
				t.Errorf("a created push is not found: %v", err)
			}
		}
	})
}

func ordersOwnership(t *testing.T, e record.Engine) {
	for round := range 8 {
		owner := account(t, e, fmt.Sprint(round))
		var created, removed atomic.Bool
		Together(2, func(i int) {
			if i == 0 {
				p := LivePush(round, owner)
				created.Store(Made(e.CreatePush(t.Context(), p, Payload(round), Creation(p))) == nil)
			} else {
				removed.Store(cold.RemoveAccount(t.Context(), e, owner, Told) == nil)
			}
		})
		if created.Load() == removed.Load() {
			t.Errorf("push created: %t, owner removed: %t", created.Load(), removed.Load())
		}
	}
}

func isLinear(t *testing.T, e record.Engine) {
	create(t, e, 1, 0)
	var seen atomic.Int64
	Together(16, func(int) {
		for range 8 {
			before := seen.Load()
			p, err := Push(t.Context(), e, PushID(1))
			if err != nil || int64(p.Seq) < before {
				t.Errorf("entry %d was acknowledged, and the push read after has %d: %v", before, p.Seq, err)
			}
			c, err := e.Change(t.Context(), PushID(1), fail)
			if err != nil {
				t.Error(err)
			}
			for now := int64(c.Push.Seq); ; {
				old := seen.Load()
				if old >= now || seen.CompareAndSwap(old, now) {
					break
				}
			}
		}
	})
	Same(t, "number of entries", len(got(e.Entries(t.Context(), PushID(1), 0, 1000)).of(t)), 1+16*8)
}

// Uploads, in large steps, run beside creates and views, which are small.
func uploadsConcurrently(t *testing.T, e record.Engine) {
	const uploads, steps, small = 8, 6, 100
	create(t, e, 1000, 0)
	Together(uploads+small, func(i int) {
		if i >= uploads {
			p := LivePush(i, 0)
			if err := Made(e.CreatePush(t.Context(), p, Payload(i), Creation(p))); err != nil {
				t.Errorf("create beside uploads: %v", err)
			}
			if _, err := e.Change(t.Context(), PushID(1000), fail); err != nil {
				t.Errorf("change beside uploads: %v", err)
			}
			return
		}
		p := filePush(i, 0)
		p.Stored = 0
		for n := range steps {
			step := [][]byte{make([]byte, 100_000), make([]byte, 100_000)}
			p.Stored += 200_000
			step[0][0], step[1][0] = byte(i), byte(i)
			if err := e.PutChunks(t.Context(), p.ID, 0, n*len(step), step); err != nil {
				t.Errorf("upload %d: %v", i, err)
			}
		}
		if err := Made(e.CreatePush(t.Context(), p, Payload(i), Creation(p))); err != nil {
			t.Errorf("create with files: %v", err)
		}
	})
	wantOrphans(t, e)
	Same(t, "entries beside uploads", int(mustPush(t, e, 1000).Seq), 1+small)
	for n := range uploads {
		g := issue(t, e, n, 1)
		_, sealed, err := e.Chunk(t.Context(), g.Digest, 0, 2*steps-1, nil)
		Must(t, err)
		Same(t, "chunk", [2]int{len(sealed), int(sealed[0])}, [2]int{100_000, n})
	}
}

func ordersAdoption(t *testing.T, e record.Engine) {
	for n := range 8 {
		upload(t, e, n)
		var created error
		Together(2, func(i int) {
			if i == 0 {
				p := filePush(n, 0)
				created = Made(e.CreatePush(t.Context(), p, Payload(n), Creation(p)))
			} else if more, err := e.FreeOrphans(t.Context(), PushID(n), 100); more || err != nil {
				t.Errorf("more: %t, error %v", more, err)
			}
		})
		if created == nil {
			wantChunks(t, e, n, issue(t, e, n, 1))
		} else {
			WantErr(t, created, record.ErrCorrupt)
		}
	}
	wantOrphans(t, e)
}

func ordersRelease(t *testing.T, e record.Engine) {
	for n := range 8 {
		CreateFiles(t, e, n, 0)
		g := issue(t, e, n, 1)
		var mu sync.Mutex
		grants := []record.Grant{g}
		var gone atomic.Bool
		Together(4, func(i int) {
			switch i {
			case 0:
				if _, err := e.Change(t.Context(), PushID(n), Release); err != nil {
					t.Error(err)
				}
				gone.Store(true)
			case 1:
				_, err := e.ChangeGrant(t.Context(), g.Digest, slide(time.Hour))
				if err != nil && !errors.Is(err, record.ErrNotFound) {
					t.Error(err)
				}
			case 2:
				before := gone.Load()
				_, sealed, err := e.Chunk(t.Context(), g.Digest, 0, 0, nil)
				if err == nil && (before || string(sealed) != string(chunkOf(n, 0, 0))) || err != nil && !errors.Is(err, record.ErrNotFound) {
					t.Errorf("files were given up: %t, and chunk %q was read, error %v", before, sealed, err)
				}
			default:
				k := newGrant(n, 2)
				if _, err := e.Change(t.Context(), PushID(n), retrieve(k)); err != nil && !errors.Is(err, ErrLimit) {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				grants = append(grants, k.Grant)
			}
		})
		for _, g := range grants {
			WantErr(t, third(e.Grant(t.Context(), g.Digest)), record.ErrNotFound)
		}
	}
	wantOrphans(t, e, 0, 1, 2, 3, 4, 5, 6, 7)
}
