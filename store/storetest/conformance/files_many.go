package conformance

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/store/record"
)

// Uploads, in large steps, run beside creates and views, which are small.
func uploadsConcurrently(t *testing.T, e record.Engine) {
	const uploads, steps, small = 8, 6, 100
	create(t, e, 1000, 0)
	Together(uploads+small, func(i int) {
		if i >= uploads {
			p := livePush(i, 0)
			if err := e.CreatePush(t.Context(), p, payloadOf(i), creation(p)); err != nil {
				t.Errorf("create beside uploads: %v", err)
			}
			if _, err := e.Change(t.Context(), pushID(1000), fail); err != nil {
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
		if err := e.CreatePush(t.Context(), p, payloadOf(i), creation(p)); err != nil {
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
				created = e.CreatePush(t.Context(), p, payloadOf(n), creation(p))
			} else if more, err := e.FreeOrphans(t.Context(), pushID(n), 100); more || err != nil {
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
		createFiles(t, e, n, 0)
		g := issue(t, e, n, 1)
		var mu sync.Mutex
		grants := []record.Grant{g}
		var gone atomic.Bool
		Together(4, func(i int) {
			switch i {
			case 0:
				if _, err := e.Change(t.Context(), pushID(n), release); err != nil {
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
				if _, err := e.Change(t.Context(), pushID(n), retrieve(k)); err != nil && !errors.Is(err, errLimit) {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				grants = append(grants, k.Grant)
			}
		})
		for _, g := range grants {
			_, _, err := e.Grant(t.Context(), g.Digest)
			WantErr(t, err, record.ErrNotFound)
		}
	}
	wantOrphans(t, e, 0, 1, 2, 3, 4, 5, 6, 7)
}
