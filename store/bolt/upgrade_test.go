package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// asIs is a converter that leaves what is sealed as it is, except what a test changes.
type asIs struct {
	push    func(record.Push) (record.Push, error)
	message func(record.Message) (record.Message, error)
}

func (c asIs) ConvertPush(id record.ID, raw []byte, size int64) (record.Push, error) {
	p := record.Push{ID: id}
	if err := p.UnmarshalBinary(withLink(raw)); err != nil {
		return record.Push{}, err
	}
	p.Size = size
	if p.Link = nil; p.Owner != 0 && p.Live() {
		p.Link = []byte("sealed link")
	}
	if c.push == nil {
		return p, nil
	}
	return c.push(p)
}

// withLink makes the record of a push of schema 5 one of schema 6, which has a count of no
// wrong passphrases behind the others, an empty link behind the sealed key, and no size and
// no holder at the end.
func withLink(raw []byte) []byte {
	at := 4               // version, kind, state and flags
	for range 1 + 4 + 5 { // the owner, times and counts
		_, n := binary.Uvarint(raw[at:])
		at += n
	}
	counts := at
	length, n := binary.Uvarint(raw[at:])
	at += n + int(length)
	return slices.Concat([]byte{2}, raw[1:counts], []byte{0}, raw[counts:at], []byte{0}, raw[at:], []byte{0, 0})
}

func (asIs) ConvertToken(raw []byte) (t record.APIToken, err error) {
	return t, t.UnmarshalBinary(append([]byte{2, byte(record.AllScopes)}, raw[1:]...))
}

func (asIs) ConvertHook(h record.Hook) (record.Hook, error) { return h, nil }

func (c asIs) ConvertMessage(m record.Message) (record.Message, error) {
	if c.message == nil {
		return m, nil
	}
	return c.message(m)
}

// newTestUpgrade opens a copy of the database of a schema and makes its upgrade.
func newTestUpgrade(t *testing.T, schema int, c record.Converter) *upgrade {
	t.Helper()
	image, err := os.ReadFile(fmt.Sprintf("../../testdata/databases/schema-%d/pushbox.db", schema))
	path := filepath.Join(t.TempDir(), "pushbox.db")
	if err == nil {
		err = os.WriteFile(path, image, 0o600)
	}
	if err == nil {
		err = os.Chmod(path, 0o640)
	}
	env.OK(t, err)
	db, _, err := Open(t.Context(), Options{Path: path})
	env.OK(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil && !errors.Is(err, record.ErrFailed) {
			t.Errorf("close: %v", err)
		}
	})
	keys := record.RowKeys(conformance.Keys{})
	db.keys.Store(&keys)
	return newUpgrade(context.WithoutCancel(t.Context()), db, c)
}

// wantUnchanged fails the test unless the old file is alone and as it was.
func (u *upgrade) wantUnchanged(t *testing.T, schema int) {
	t.Helper()
	was, err := os.ReadFile(fmt.Sprintf("../../testdata/databases/schema-%d/pushbox.db", schema))
	env.OK(t, err)
	is, err := os.ReadFile(u.path)
	if err != nil || !bytes.Equal(was, is) {
		t.Errorf("the file has changed: %v", err)
	}
	u.wantNames(t, "pushbox.db")
}

func (u *upgrade) wantNames(t *testing.T, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(u.path))
	env.OK(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("there are %q", names)
	}
}

func TestAnUpgradeWithoutSpaceIsRefusedBeforeItBegins(t *testing.T) {
	t.Parallel()
	u := newTestUpgrade(t, 5, asIs{})
	env.OK(t, u.measure())
	need := u.total + u.total/upgradeGrowth + copyReserve
	for _, c := range []struct {
		free        int64
		known, fits bool
	}{{need - 1, true, false}, {0, true, false}, {0, false, true}, {need, true, true}} {
		u.free = func(string) (int64, bool, error) { return c.free, c.known, nil }
		if err := u.measureUpgrade(); (err == nil) != c.fits || !c.fits && !errors.Is(err, record.ErrFull) {
			t.Errorf("%+v: %v", c, err)
		}
		if c.fits {
			continue
		}
		if err := u.run(); !errors.Is(err, record.ErrFull) || !strings.Contains(err.Error(), "MiB free") {
			t.Errorf("%+v: %v", c, err)
		}
		u.wantUnchanged(t, 5)
	}
	u.free = func(string) (int64, bool, error) { return 0, false, os.ErrPermission }
	if err := u.run(); !errors.Is(err, os.ErrPermission) {
		t.Errorf("unknown free space: %v", err)
	}
}

// What ends an upgrade before its last step leaves the old file, and nothing else. Then
// it can begin anew.
func TestAnUpgradeThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	odd := errors.New("odd")
	for name, c := range map[string]struct {
		convert record.Converter
		harm    func(u *upgrade)
		want    error
	}{
		"a push that cannot be converted":    {asIs{push: func(record.Push) (record.Push, error) { return record.Push{}, odd }}, nil, odd},
		"a message that cannot be converted": {asIs{message: func(m record.Message) (record.Message, error) { return m, odd }}, nil, odd},
		"no space in the middle": {asIs{}, func(u *upgrade) {
			n := 0
			u.free = func(string) (int64, bool, error) { n++; return 1 << 40 >> (8 * n), true, nil }
			u.bounds.unsynced = 1
		}, record.ErrFull},
		"a file that has lost its name": {asIs{}, func(u *upgrade) {
			u.link = func(from, _ string) error { return os.Rename(from, from+".new-7") } // as if it had worked
		}, fs.ErrNotExist},
		"a name that cannot be replaced": {asIs{}, func(u *upgrade) {
			u.link = func(from, to string) error { return nil }
			u.replace = func(string, string) (bool, error) { return false, syscall.EPERM }
		}, syscall.EPERM},
		"no link and no space for a copy": {asIs{}, func(u *upgrade) {
			wide := true
			u.link = func(string, string) error { wide = false; return syscall.EPERM }
			u.free = func(string) (int64, bool, error) {
				if wide {
					return 1 << 40, true, nil
				}
				return copyReserve, true, nil
			}
		}, record.ErrFull},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newTestUpgrade(t, 5, c.convert)
			if c.harm != nil {
				c.harm(u)
			}
			if err := u.run(); !errors.Is(err, c.want) || strings.Contains(err.Error(), "sealed") {
				t.Errorf("it ends with %v", err)
			}
			_ = os.Rename(u.path+".new-7", u.path)
			u.wantUnchanged(t, 5)
			if err := newUpgrade(context.Background(), u.db, asIs{}).run(); err != nil {
				t.Errorf("the next one: %v", err)
			}
			u.wantNames(t, "pushbox.db", "pushbox.db.schema5")
		})
	}
}

func TestAnUpgradeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	u := newTestUpgrade(t, 5, asIs{})
	ctx, cancel := context.WithCancel(t.Context())
	u.ctx, u.bounds.rows = ctx, 3
	u.report = func(_, _ int64) { cancel() }
	if err := u.run(); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v", err)
	}
	u.wantUnchanged(t, 5)
}

// The old file stays under its second name, whatever way leads there.
func TestAnUpgradeKeepsTheOldFile(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(u *upgrade){
		"by a link":                        func(*upgrade) {},
		"by a copy":                        func(u *upgrade) { u.link = func(string, string) error { return syscall.EPERM } },
		"that a cut upgrade linked":        func(u *upgrade) { _ = os.Link(u.path, u.path+".schema5") },
		"where open files have to be shut": func(u *upgrade) { u.closeFirst = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newTestUpgrade(t, 5, asIs{})
			was, err := os.ReadFile(u.path)
			env.OK(t, err)
			harm(u)
			env.OK(t, u.run())
			u.wantNames(t, "pushbox.db", "pushbox.db.schema5")
			is, err := os.ReadFile(u.path + ".schema5")
			if err != nil || !bytes.Equal(was, is) {
				t.Errorf("the old file has changed: %v", err)
			}
			for name, mode := range map[string]fs.FileMode{u.path: 0o640, u.path + ".schema5": 0o600} {
				if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
					t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
				}
			}
			if other, _, err := Open(t.Context(), Options{Path: u.path, Timeout: 1}); !errors.Is(err, record.ErrInUse) {
				t.Errorf("another process opens it: %v, %v", other, err)
			}
		})
	}
}

// RemoveCopies goes by the time of the old file, which must be that of the upgrade, and
// not that of the last write, whatever way leads there.
func TestTheTimeOfTheOldFileIsThatOfTheUpgrade(t *testing.T) {
	t.Parallel()
	long := time.Now().AddDate(-1, 0, 0)
	ahead := time.Now().Add(24 * time.Hour).Truncate(time.Second)
	refuse := func(of string) func(u *upgrade) {
		return func(u *upgrade) {
			u.setTime = func(path string, read, changed time.Time) error {
				if strings.HasSuffix(path, of) {
					return syscall.EPERM
				}
				return os.Chtimes(path, read, changed)
			}
		}
	}
	for name, c := range map[string]struct {
		harm func(u *upgrade)
		kept string
		want time.Time
	}{
		"by a link":                 {func(*upgrade) {}, ".schema5", time.Time{}},
		"by a copy":                 {func(u *upgrade) { u.link = func(string, string) error { return syscall.EPERM } }, ".schema5", time.Time{}},
		"that a cut upgrade linked": {func(u *upgrade) { _ = os.Link(u.path, u.path+".schema5") }, ".schema5", time.Time{}},
		"of which a copy is there": {func(u *upgrade) {
			image, _ := os.ReadFile(u.path)
			_ = os.WriteFile(u.path+".schema5", image, 0o600)
			_ = os.Chtimes(u.path+".schema5", long, long)
		}, ".schema5", time.Time{}},
		"that cannot be dated": {refuse("pushbox.db"), ".schema5", time.Time{}},
		"with a link that cannot be dated": {func(u *upgrade) {
			_ = os.Link(u.path, u.path+".schema5")
			refuse(".schema5")(u)
		}, ".schema5-2", time.Time{}},
		"that was written after now": {func(u *upgrade) { _ = os.Chtimes(u.path, ahead, ahead) }, ".schema5", ahead},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newTestUpgrade(t, 5, asIs{})
			env.OK(t, os.Chtimes(u.path, long, long))
			c.harm(u)
			begun := time.Now().Add(-time.Minute) // not all file systems keep the same part of a second
			env.OK(t, u.run())
			info, err := os.Stat(u.path + c.kept)
			env.OK(t, err)
			if at := info.ModTime(); at.Before(begun) || !c.want.IsZero() && !at.Equal(c.want) {
				t.Errorf("it has the time %v", at)
			}
			u.db.unlocked.Store(true)
			defer u.db.unlocked.Store(false)
			if n, err := u.db.RemoveCopies(t.Context(), begun); n != 0 || err != nil {
				t.Errorf("it is taken for older: %d, %v", n, err)
			}
		})
	}
}

// rowsOf are the numbers of rows of the buckets of a file.
func rowsOf(t *testing.T, h *handle) map[string]int {
	t.Helper()
	rows := make(map[string]int)
	err := h.bolt.View(func(b *bbolt.Tx) error {
		return b.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
			rows[string(name)] = bucket.Stats().KeyN
			return nil
		})
	})
	env.OK(t, err)
	return rows
}

// liveSenders are the rows of room of what is live in the old files: all anonymous
// clients, of whom none is known, and two accounts.
const liveSenders = 3

// With bounds so small that each bucket takes several steps, nothing is lost between
// them. The journal is folded.
func TestAnUpgradeConvertsEveryRow(t *testing.T) {
	t.Parallel()
	for _, schema := range []int{4, 5} {
		u := newTestUpgrade(t, schema, asIs{})
		u.bounds.rows, u.bounds.unsynced = 2, 1
		was := rowsOf(t, u.from)
		if was["journal"] == 0 || schema > 4 && was["outbox"] < 2 {
			t.Errorf("the old file has %v", was)
		}
		env.OK(t, u.run())
		is := rowsOf(t, u.db.current.Load())
		was["audit"] += was["journal"]
		was["journal"] = 0
		was["meta"]++ // the sums
		was["room"] = liveSenders
		for _, name := range bucketNames {
			if was[string(name)] != is[string(name)] {
				t.Errorf("schema %d: %d rows of %s became %d", schema, was[string(name)], name, is[string(name)])
			}
		}
	}
}

func TestAnUpgradeNotesItsProgress(t *testing.T) {
	t.Parallel()
	var notes []string
	tell := progressNotes(func(say string) { notes = append(notes, say) }, 0)
	tell(0, 0)
	tell(1<<20, 4<<20)
	seldom := progressNotes(func(string) { t.Error("it notes too often") }, upgradeReports)
	seldom(1<<20, 4<<20)
	if len(notes) != 1 || notes[0] != "upgrading the database: 1 MiB of at most 4 MiB are written" {
		t.Errorf("it notes %q", notes)
	}
}

func TestFilesAreTheSameOnlyWhereAllBytesAre(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"", "", true},
		{"a", "a", true},
		{long, long, true},
		{"", "a", false},
		{"a", "b", false},
		{long, long + "x", false},
		{long + "x", long + "y", false},
		{"y" + long, "x" + long, false},
		{long[:64<<10], long[:64<<10], true},
		{long[:64<<10], long[:64<<10-1], false},
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if same, err := sameBytes(strings.NewReader(pair[0]), strings.NewReader(pair[1])); err != nil || same != c.same {
				t.Errorf("%d and %d bytes: %t, %v", len(pair[0]), len(pair[1]), same, err)
			}
		}
	}
}
