package bolt

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt/page"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func newHandle(t *testing.T) *handle {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	env.OK(t, os.WriteFile(path, nil, 0o600))
	h, err := openCopy(path)
	env.OK(t, err)
	return h
}

func TestAHandleIsClosedWhenItsLastUserLeaves(t *testing.T) {
	t.Parallel()
	h := newHandle(t)
	for range 2 {
		if !h.enter() {
			t.Fatal("it is closed")
		}
	}
	closed := make(chan error, 1)
	go func() { closed <- h.close() }()
	h.leave()
	for h.users.Load() > 1 { // until close has left it, too
		select {
		case err := <-closed:
			t.Fatalf("closed while it was in use: %v", err)
		default:
		}
	}
	if err := h.read(func(*tx) error { return nil }); err != nil {
		t.Errorf("the last user cannot read: %v", err)
	}
	h.leave()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if h.enter() {
		t.Error("a closed handle was entered")
	}
}

// A panic may leave bbolt's locks held, with users that wait for them.
func TestADamagedHandleIsClosedWithoutItsUsers(t *testing.T) {
	t.Parallel()
	h := newHandle(t)
	if !h.enter() {
		t.Fatal("it is closed")
	}
	for range 2 {
		if !h.noteDamage(&damageError{"a panic"}) || h.noteDamage(record.ErrFull) {
			t.Error("another error is taken for damage, or damage for another error")
		}
	}
	if err := h.close(); err != nil {
		t.Error(err)
	}
	if _, err := h.file.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("its file is still open: %v", err)
	}
}

func TestAReaderOfAReplacedHandleEntersTheNewOne(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{})
	old := db.current.Load()
	env.OK(t, db.Compact(t.Context(), func(_, _ int64) {}))
	<-old.idle
	h := db.enter()
	if h == nil || h == old {
		t.Fatal("the new handle was not entered")
	}
	h.leave()
	env.OK(t, db.Close())
	if db.enter() != nil {
		t.Error("a closed DB was entered")
	}
}

func TestChangesRecordWhatWasWrittenAndHowMuch(t *testing.T) {
	t.Parallel()
	var none *changes
	none.note(pushes, []byte("key"), 1) // no compaction runs
	c := newChanges()
	c.note(pushes, []byte("b"), 10)
	c.note(pushes, []byte("a"), 10)
	c.note(audit, []byte("a"), 0)
	c.note(pushes, []byte("b"), 4)
	want := []string{string(rune(pushes)) + "a", string(rune(pushes)) + "b", string(rune(audit)) + "a"}
	if got := c.sorted(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if bytes, memory := c.bytes.Load(), c.memory.Load(); bytes != 3+14 || memory != 3*(rowMemory+1) {
		t.Errorf("%d bytes, %d of memory", bytes, memory)
	}
	if n := c.memory.Load(); c.exceed(n) || !c.exceed(n-1) {
		t.Error("memory is not bounded where it should be")
	}
	c.note(pushes, []byte("b"), 1000)
	if n := c.bytes.Load(); c.exceed(n) || !c.exceed(n-1) {
		t.Error("bytes are not bounded where they should be")
	}
}

func TestChangesAreGivenUpWhenThereAreTooMany(t *testing.T) {
	t.Parallel()
	key := make([]byte, maxChanges-rowMemory)
	c := newChanges()
	c.note(pushes, key, 1)
	if c.lost.Load() {
		t.Error("changes that fit were given up")
	}
	c.note(pushes, nil, 1)
	c.note(pushes, []byte("more"), 1)
	if !c.lost.Load() || c.rows != nil {
		t.Error("changes that do not fit were kept")
	}
	if err := (&compaction{}).copyChanges(c); !errors.Is(err, record.ErrBusy) {
		t.Errorf("a compaction would go on without them: %v", err)
	}
}

func TestARowIsAheadUntilItWasPassed(t *testing.T) {
	t.Parallel()
	begun := position{bucket: audit, last: []byte("c"), end: []byte("m")}
	for _, c := range []struct {
		at     position
		bucket bucket
		key    string
		want   bool
	}{
		{begun, payloads, "d", false},
		{begun, owners, "a", true},
		{begun, audit, "b", false},
		{begun, audit, "c", false},
		{begun, audit, "ca", true},
		{begun, audit, "m", true},
		{begun, audit, "ma", false},
		{position{bucket: audit}, audit, "", true},
		{position{bucket: audit}, payloads, "", false},
		{position{bucket: bucketCount}, meta, "z", false},
	} {
		if got := c.at.ahead(c.bucket, []byte(c.key)); got != c.want {
			t.Errorf("%s %q at %v: %t", c.bucket, c.key, c.at, got)
		}
	}
}

func TestAValueIsTheSameReadFromTheFile(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{})
	sizes := []int{1, longValue - 1, longValue, longValue + 1, 64 << 10, 3 << 20}
	for n, size := range sizes {
		payload := make([]byte, size)
		for i := range payload {
			payload[i] = byte(i % 251)
		}
		env.OK(t, conformance.Made(db.CreatePush(t.Context(), testPush(n), payload, record.Entry{})))
	}
	err := db.view(t.Context(), func(u *tx) error {
		for n, size := range sizes {
			id := testPush(n).ID
			_, v := u.payload(id)
			at, ok := page.Offset(u.bolt, v)
			fromFile, copied := make([]byte, size), make([]byte, size)
			_, err := u.file().ReadAt(fromFile, at)
			if err := errors.Join(err, u.copyValue(copied, v)); err != nil || !ok {
				t.Errorf("%d bytes at %d, %t: %v", size, at, ok, err)
			}
			u.dropMapped() // values that were read can be read again
			if !slices.Equal(fromFile, v) || !slices.Equal(copied, v) {
				t.Errorf("%d bytes differ", size)
			}
		}
		for name, v := range map[string][]byte{"none": nil, "memory of Go": make([]byte, 9000)} {
			if _, ok := page.Offset(u.bolt, v); ok {
				t.Errorf("%s has a place in the file", name)
			}
		}
		other := make([]byte, 9000)
		return u.copyValue(other, append(make([]byte, 8999), 1))
	})
	if err != nil {
		t.Error(err)
	}
}

func TestACopyThatDiffersFromWhatWasWrittenIsRefused(t *testing.T) {
	t.Parallel()
	h := newHandle(t)
	defer func() {
		if err := h.close(); err != nil {
			t.Error(err)
		}
	}()
	there := row{bucket: emails, key: []byte("key"), value: []byte("value")}
	env.OK(t, h.write(func(t *tx) error { return put(t, there) }))
	for _, c := range []struct {
		row  row
		want bool
	}{
		{there, true},
		{row{bucket: emails, key: []byte("key"), value: []byte("valu3")}, false},
		{row{bucket: emails, key: []byte("key"), gone: true}, false},
		{row{bucket: emails, key: []byte("another"), value: []byte{}}, false},
		{row{bucket: emails, key: []byte("another"), gone: true}, true},
	} {
		b := batch{rows: []row{c.row}}
		if err := h.read(b.compare); (err == nil) != c.want {
			t.Errorf("%q, gone %t: %v", c.row.key, c.row.gone, err)
		}
	}
}

func TestABucketInABucketIsDamage(t *testing.T) {
	t.Parallel()
	db := newDB(t, Options{})
	env.OK(t, db.Raw(func(b *bbolt.Tx) error {
		_, err := b.Bucket([]byte("emails")).CreateBucket([]byte("inner"))
		return err
	}))
	if err := db.Compact(t.Context(), func(_, _ int64) {}); !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("got error %v", err)
	}
}
