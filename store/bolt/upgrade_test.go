package bolt

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/store"
)

// newTestUpgrade holds the file of a database of schema 4.
func newTestUpgrade(t *testing.T) *upgrade {
	t.Helper()
	image, err := os.ReadFile("../../testdata/databases/schema-4/pushbox.db")
	path := filepath.Join(t.TempDir(), "pushbox.db")
	if err == nil {
		err = os.WriteFile(path, image, 0o640)
	}
	if err != nil {
		t.Fatal(err)
	}
	h, err := openNamed(path, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.close() })
	return newUpgrade(&DB{path: path}, h, 4, nil)
}

func TestAnUpgradeWithoutRoomForTheCopyIsRefused(t *testing.T) {
	t.Parallel()
	u := newTestUpgrade(t)
	info, err := u.handle.file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	need := info.Size() + copyReserve
	for _, c := range []struct {
		free  int64
		known bool
		fits  bool
	}{{need - 1, true, false}, {0, true, false}, {0, false, true}, {need, true, true}} {
		u.free = func(string) (int64, bool, error) { return c.free, c.known, nil }
		path, err := u.keepCopy()
		if (err == nil) != c.fits || !c.fits && (!errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "33 MiB free")) {
			t.Errorf("%+v: %v", c, err)
		}
		info, statErr := os.Stat(path)
		if (statErr == nil) != c.fits || c.fits && info.Mode().Perm() != 0o600 {
			t.Errorf("%+v: the copy: %v", c, statErr)
		}
		_ = os.Remove(path)
	}
	u.free = func(string) (int64, bool, error) { return 0, false, os.ErrPermission }
	if _, err := u.keepCopy(); !errors.Is(err, os.ErrPermission) {
		t.Errorf("free space that is not told: %v", err)
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
