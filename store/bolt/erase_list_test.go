package bolt

import (
	"maps"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
)

// freePages are the free pages by bbolt's public functions, held ones too.
func freePages(t *testing.T, b *bbolt.Tx) map[uint64]bool {
	t.Helper()
	free := make(map[uint64]bool)
	for id := 2; id < int(b.Size())/b.DB().Info().PageSize; id++ {
		info, err := b.Page(id)
		env.OK(t, err)
		if info.Type == "free" {
			free[uint64(id)] = true
		}
	}
	return free
}

// The fields of bbolt that are read by reflection say what its public functions say. If
// this test fails after bbolt was changed, read its free list again before the eraser.
func TestTheListOfFreePagesIsThatOfBbolt(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{NoErase: true})
	for n := range 20 {
		env.OK(t, createSize(t, db, n, 10_000))
	}
	for n := range 9 {
		if _, err := db.Change(t.Context(), testPush(2*n).ID, end); err != nil {
			t.Fatal(err)
		}
	}
	db.FoldJournal(t)
	h := db.current.Load()
	want := func(held int) {
		t.Helper()
		db.writing.Lock()
		defer db.writing.Unlock()
		err := h.free(func(b *bbolt.Tx) error {
			listed := make(map[uint64]bool)
			h.eraser.list.each(func(id uint64) {
				if listed[id] {
					t.Errorf("page %d is listed twice", id)
				}
				listed[id] = true
			})
			if free := freePages(t, b); !maps.Equal(listed, free) || len(free) < 20 {
				t.Errorf("listed: %v; free: %v", slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(free)))
			}
			return nil
		})
		env.OK(t, err)
		if n := len(h.eraser.list.held()); n < held || (n > 0) != (held > 0) || n != h.bolt.Stats().PendingPageN {
			t.Errorf("%d pages are held for a reader, bbolt says %d", n, h.bolt.Stats().PendingPageN)
		}
	}
	want(0)
	reader, err := h.bolt.Begin(false)
	env.OK(t, err)
	if _, err := db.Change(t.Context(), testPush(19).ID, end); err != nil {
		t.Fatal(err)
	}
	freed := 0
	db.writing.Lock()
	held := h.eraser.list.held()
	h.eraser.list.freedBy(db.TxID(t), func(id uint64) {
		if freed++; !held[id] {
			t.Errorf("page %d was freed, but is not held for the reader", id)
		}
	})
	db.writing.Unlock()
	if freed < 4 {
		t.Errorf("a delete freed %d pages", freed)
	}
	want(4)
	env.OK(t, reader.Rollback())
	want(0)
}

func TestAnUnknownListOfFreePagesIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := newFreeList(new(bbolt.DB)); err == nil {
		t.Error("a file that is not open has a list")
	}
}

func TestASetOfPages(t *testing.T) {
	t.Parallel()
	var s, other pageSet
	for _, id := range []uint64{5, 64, 63, 1000, 5} {
		s.add(id)
	}
	s.remove(63)
	s.remove(63)
	s.remove(1 << 40)
	other.add(2)
	other.add(64)
	s.addAll(&other)
	var got []uint64
	for id, ok := s.next(0); ok; id, ok = s.next(id + 1) {
		got = append(got, id)
	}
	if want := []uint64{2, 5, 64, 1000}; !slices.Equal(got, want) || s.count != len(want) || s.has(63) || !s.has(1000) {
		t.Errorf("%v, %d", got, s.count)
	}
	if _, ok := other.next(0); ok || other.count != 0 {
		t.Error("the other set is not empty")
	}
}
