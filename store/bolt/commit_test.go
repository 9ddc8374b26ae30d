package bolt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
)

func TestOnlyErrorsOfAFullDiskCountAsSuch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&os.PathError{Op: "write", Err: syscall.ENOSPC}, true},
		{fmt.Errorf("sync: %w", syscall.EDQUOT), true},
		{fmt.Errorf("write: %w", syscall.EFBIG), true},
		{io.ErrShortWrite, true},
		{syscall.EIO, false},
		{&damageError{"no space left on device"}, false},
		{os.ErrClosed, false},
		{errors.New("file resize error: no space left on device"), false},
	} {
		if got := diskFull(c.err); got != c.want {
			t.Errorf("%v: %t, want %t", c.err, got, c.want)
		}
	}
}

func TestAFailedCommitIsUndoneOnlyIfItsHeaderIsNotThere(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{NoErase: true}) // the eraser makes commits of its own
	last := db.TxID(t)
	for _, c := range []struct {
		name string
		err  error
		txid int
		want bool
	}{
		{"disk full, not visible", syscall.ENOSPC, last + 1, true},
		{"disk full, but visible", syscall.ENOSPC, last, false},
		{"another error, not visible", syscall.EIO, last + 1, false},
	} {
		if got := db.undone(c.err, c.txid); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}

func TestCreatesGiveWayFirstOnAFullDisk(t *testing.T) {
	t.Parallel()
	newOp := func(bytes int, wrote bool) *op {
		return &op{bytes: bytes, wrote: wrote, done: make(chan struct{}, 1)}
	}
	create, change, other, look, refused := newOp(9, true), newOp(0, true), newOp(0, true), newOp(0, false), newOp(9, false)
	for name, c := range map[string]struct{ batch, rest []*op }{
		"a create and others": {[]*op{look, create, change, refused}, []*op{look, change, refused}},
		"a change alone":      {[]*op{look, change, refused}, []*op{look, refused}},
		"changes alone":       {[]*op{look, change, other}, []*op{look, change, other}}, // fewer of them may fit
		"one":                 {[]*op{look}, nil},
		"no writer":           {[]*op{look, refused}, []*op{look, refused}},
	} {
		rest := refuseWriters(slices.Clone(c.batch))
		if !slices.Equal(rest, c.rest) {
			t.Errorf("%s: %d of %d are left", name, len(rest), len(c.batch))
		}
		for _, o := range c.batch {
			if slices.Contains(rest, o) {
				continue
			}
			if <-o.done; !errors.Is(o.err, record.ErrFull) {
				t.Errorf("%s: got error %v", name, o.err)
			}
		}
	}
}

func TestAnOpWhoseContextEndedIsAnsweredAndNotRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	db := &DB{}
	ended := &op{ctx: ctx, bytes: 5, done: make(chan struct{}, 1)}
	left := &op{ctx: t.Context(), bytes: 5, done: make(chan struct{}, 1)}
	left.state.Store(opWithdrawn)
	for _, o := range []*op{ended, left} {
		if n := db.begin(o); n != 0 || len(db.batch) != 0 {
			t.Errorf("it was taken into the batch, with %d bytes", n)
		}
	}
	if <-ended.done; !errors.Is(ended.err, context.Canceled) {
		t.Errorf("got error %v", ended.err)
	}
}

func TestMemoryForRecordsIsKeptWithinBounds(t *testing.T) {
	t.Parallel()
	for size, kept := range map[int]bool{keptArena: true, keptArena + 1: false} {
		u := tx{arena: make([]byte, size), writes: 3, allowance: allowance{known: true}}
		u.reset(nil)
		if len(u.arena) != 0 || (cap(u.arena) > 0) != kept || u.writes != 0 || u.allowance.known {
			t.Errorf("%d bytes: %d of %d are left, %d writes", size, len(u.arena), cap(u.arena), u.writes)
		}
	}
}

// A compaction may fail after the new file has the name: commits to the old file would
// be lost.
func TestNothingIsCommittedOnceTheStoreHasFailed(t *testing.T) {
	t.Parallel()
	db, _, err := OpenUnlocked(t.Context(), Options{Path: filepath.Join(t.TempDir(), "pushbox.db")})
	env.OK(t, err)
	_ = db.fail(errors.New("the directory was not synced"))
	ran := false
	o := &op{ctx: t.Context(), done: make(chan struct{}, 1), run: func(*tx) error {
		ran = true
		return nil
	}}
	if db.commit([]*op{o}) || !errors.Is(o.err, record.ErrFailed) || ran {
		t.Errorf("it ran: %t, and was answered %v", ran, o.err)
	}
	_ = db.Close()
}
