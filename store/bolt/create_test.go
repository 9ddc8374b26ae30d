package bolt

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/store"
)

func TestPublishingNeverReplacesAFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	temp, path := filepath.Join(dir, "new"), filepath.Join(dir, "old")
	for name, content := range map[string]string{temp: "new", path: "old"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if done, err := publish(temp, path); done || err != nil {
		t.Errorf("published %t, error %v", done, err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("the file holds %q, error %v", b, err)
	}
}

func TestPublishingNeedsTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if done, err := publish(filepath.Join(dir, "none"), filepath.Join(dir, "path")); done || err == nil {
		t.Errorf("published %t, error %v", done, err)
	}
}

func TestOfManyFirstOpensOneWins(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pushbox.db")
	var opened, created atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			db, first, err := Open(context.Background(), Options{Path: path, Timeout: 50 * time.Millisecond})
			if err != nil {
				if !errors.Is(err, store.ErrInUse) {
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
