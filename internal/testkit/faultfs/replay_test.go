package faultfs_test

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/faultfs"
)

// image makes an image before entry at of a log and returns the files by name.
func image(t *testing.T, log []faultfs.Entry, at int, keep faultfs.Keep) map[string]string {
	t.Helper()
	r, dir, files := faultfs.NewReplay(log), t.TempDir(), make(map[string]string)
	r.Advance(at)
	env.OK(t, r.Image(dir, keep))
	names := env.Must(filepath.Glob(filepath.Join(dir, "*")))(t)
	for _, n := range names {
		b := env.Read(t, n)
		files[filepath.Base(n)] = string(b)
	}
	return files
}

func all(int, int) bool  { return true }
func none(int, int) bool { return false }

func block(c string, n int) []byte { return []byte(strings.Repeat(c, n)) }

func TestAnImageHasSyncedAndKeptChanges(t *testing.T) {
	t.Parallel()
	const sector = faultfs.SectorSize
	log := []faultfs.Entry{
		{Kind: faultfs.Create, Node: 2, Name: "new"},
		{Kind: faultfs.Write, Node: 2, Data: block("a", 2*sector)},
		{Kind: faultfs.Sync, Node: 2},
		{Kind: faultfs.SyncDir, Node: 1},
		{Kind: faultfs.Write, Node: 2, Offset: sector - 2, Data: block("b", 4)},      // 4: two sectors
		{Kind: faultfs.Write, Node: 2, Offset: 2 * sector, Data: block("c", sector)}, // 5: it grows
		{Kind: faultfs.Rename, Node: 2, Name: "new", To: "db"},                       // 6
		{Kind: faultfs.Sync, Node: 2},
		{Kind: faultfs.Remove, Node: 2, Name: "db"}, // 8
		{Kind: faultfs.SyncDir, Node: 1},
	}
	a, old := string(block("a", 2*sector)), string(block("a", sector-2))
	grown := old + "bbbb" + old + string(block("c", sector))
	for name, c := range map[string]struct {
		at   int
		keep faultfs.Keep
		want map[string]string
	}{
		"no name":              {4 - 1, none, map[string]string{}},
		"a name is kept":       {4 - 1, all, map[string]string{"new": a}},
		"synced":               {4, none, map[string]string{"new": a}},
		"all is lost":          {7, none, map[string]string{"new": a}},
		"all is kept":          {7, all, map[string]string{"db": grown}},
		"a torn write":         {5, func(_, s int) bool { return s == 1 }, map[string]string{"new": string(block("a", sector)) + "bb" + old}},
		"bytes without a size": {6, func(i, s int) bool { return i == 1 && s == 0 }, map[string]string{"new": a}},
		"a size without bytes": {6, func(i, s int) bool { return i == 1 && s == faultfs.Whole }, map[string]string{"new": a + string(make([]byte, sector))}},
		"a rename alone":       {7, func(i, _ int) bool { return i == 2 }, map[string]string{"db": a}},
		"bytes are synced":     {8, none, map[string]string{"new": grown}},
		"a removal is kept":    {9, func(i, _ int) bool { return i == 1 }, map[string]string{"new": grown}},
		"names are synced":     {10, none, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := image(t, log, c.at, c.keep); !maps.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestATruncatedFileGrowsByZeros(t *testing.T) {
	t.Parallel()
	log := []faultfs.Entry{
		{Kind: faultfs.Create, Node: 2, Name: "a"},
		{Kind: faultfs.Write, Node: 2, Data: block("a", 10)},
		{Kind: faultfs.Resize, Node: 2, Offset: 4},
		{Kind: faultfs.Resize, Node: 2, Offset: 8},
		{Kind: faultfs.Write, Node: 2, Offset: 7, Data: block("b", 3)},
	}
	want := "aaaa\x00\x00\x00bbb"
	env.Equal(t, "kept", image(t, log, len(log), all)["a"], want)
	log = append(log, faultfs.Entry{Kind: faultfs.Sync, Node: 2}, faultfs.Entry{Kind: faultfs.SyncDir, Node: 1})
	env.Equal(t, "synced", image(t, log, len(log), none)["a"], want)
}

func TestAWriteTouchesItsSectors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ offset, length, want int64 }{
		{0, 1, 1}, {0, 512, 1}, {0, 513, 2}, {511, 1, 1}, {511, 2, 2}, {100, 4096, 9}, {512, 0, 0},
	} {
		e := faultfs.Entry{Kind: faultfs.Write, Offset: c.offset, Data: bytes.Repeat([]byte("x"), int(c.length))}
		if got := e.Sectors(); int64(got) != c.want {
			t.Errorf("%d bytes at %d are %d sectors, want %d", c.length, c.offset, got, c.want)
		}
	}
	kinds := []faultfs.Entry{{Kind: faultfs.Resize, Offset: 512}, {Kind: faultfs.Mark, Node: 3}}
	if slices.ContainsFunc(kinds, func(e faultfs.Entry) bool { return e.Sectors() != 0 }) {
		t.Error("something else has sectors")
	}
}
