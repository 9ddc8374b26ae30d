package bolt_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/humanize"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func TestACompactionNeedsSpaceForItsCopy(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db := open(t, bolt.Options{Path: path, MinFree: 3 << 20}) // a compaction need not keep it free
	used := inUse(t, db)
	need := used + used/8 + bolt.CopyReserve
	for _, c := range []struct {
		free  int64
		known bool
		want  error
	}{
		{need, true, nil},
		{need - 1, true, record.ErrFull},
		{0, false, nil},
	} {
		used = inUse(t, db)
		c.free += used + used/8 + bolt.CopyReserve - need
		err := db.CompactWith(t.Context(), bolt.CompactOptions{Free: func(string) (int64, bool, error) { return c.free, c.known, nil }})
		if !errors.Is(err, c.want) {
			t.Errorf("%d of %d bytes free, known %t: %v", c.free, need, c.known, err)
		}
		if c.want != nil && !strings.Contains(err.Error(), "needs "+humanize.Size(int64(used+used/8+bolt.CopyReserve))) {
			t.Errorf("the error does not say how much it needs: %v", err)
		}
		wantOnlyFile(t, path)
	}
}

// inUse is how many bytes of the file are in use.
func inUse(t *testing.T, db *bolt.DB) int64 {
	t.Helper()
	return db.UsedPages(t) * pageSize
}

func TestACompactionStopsWhenOthersNeedTheSpace(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db := open(t, bolt.Options{Path: path, MinFree: 3 << 20})
	for _, c := range []struct {
		short int64
		want  error
	}{{0, nil}, {1, record.ErrFull}} {
		asked := 0
		err := db.CompactWith(t.Context(), bolt.CompactOptions{Bounds: bolt.TinyBounds(), Free: func(string) (int64, bool, error) {
			if asked++; asked < 10 {
				return 1 << 40, true, nil
			}
			return bolt.CopyReserve - c.short, true, nil
		}})
		if !errors.Is(err, c.want) || asked < 10 {
			t.Errorf("%d bytes short from the tenth of %d times on: %v", c.short, asked, err)
		}
		wantOnlyFile(t, path)
		conformance.CheckFilled(t, db)
	}
}

func TestADiskThatFillsUpEndsACompactionAndLosesNothing(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=5m")
	path := filepath.Join(dir, "pushbox.db")
	db := open(t, bolt.Options{Path: path})
	conformance.Fill(t, db)
	for n := range 5 {
		payloadPush(t, db, 100+n, 500<<10)
	}
	if err := db.Compact(t.Context(), func(_, _ int64) {}); !errors.Is(err, record.ErrFull) {
		t.Errorf("there was no space for a copy: %v", err)
	}
	unknown := bolt.CompactOptions{Free: func(string) (int64, bool, error) { return 0, false, nil }}
	if err := db.CompactWith(t.Context(), unknown); !errors.Is(err, record.ErrFull) {
		t.Errorf("the disk is full: %v", err)
	}
	wantOnlyFile(t, path)
	conformance.CheckFilled(t, db)
	mustCreate(t, db, 1)
	remount(t, dir, "size=16m")
	if err := db.CompactWith(t.Context(), unknown); err != nil {
		t.Errorf("after there was space: %v", err)
	}
	conformance.CheckFilled(t, db)
	closeDB(t, db)
}

func TestACompactionGivesUpWhenWritesAreFasterThanItsCopy(t *testing.T) {
	t.Parallel()
	path := filled(t)
	db := open(t, bolt.Options{Path: path})
	n := 0
	bounds := bolt.Bounds{Batch: 1 << 20, Rows: 1 << 20, Unsynced: 1 << 20, Pending: 1 << 20, Behind: 1 << 20} // no rows may be left for the last step
	err := db.CompactWith(t.Context(), bolt.CompactOptions{Bounds: &bounds, Free: func(string) (int64, bool, error) {
		n++ // asked after each sync of the copy
		mustCreate(t, db, n)
		return 0, false, nil
	}})
	if !errors.Is(err, record.ErrBusy) {
		t.Errorf("got error %v", err)
	}
	wantOnlyFile(t, path)
	for i := range n {
		if !has(t, db, i+1) {
			t.Errorf("push %d is gone", i+1)
		}
	}
	mustCompact(t, db)
}
