package bolt

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/store/record"
)

func TestOneOfManyFirstOpensCreatesTheFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pushbox.db")
	var opened, created atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			db, first, err := OpenUnlocked(context.Background(), Options{Path: path, Timeout: 50 * time.Millisecond})
			if err != nil {
				if !errors.Is(err, record.ErrInUse) {
					t.Error(err)
				}
				return
			}
			opened.Add(1)
			if first {
				created.Add(1)
			}
			t.Cleanup(func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
	wg.Wait()
	if opened.Load() != 1 || created.Load() > 1 {
		t.Errorf("%d opened it, %d created it", opened.Load(), created.Load())
	}
}
