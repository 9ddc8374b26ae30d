package page

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"pushbox/internal/testkit/env"
)

// headerPages are the two header pages of a new database.
func headerPages(t testing.TB) (first, second []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pushbox.db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err == nil {
		err = db.Update(func(b *bbolt.Tx) error {
			_, err := b.CreateBucket([]byte("a bucket"))
			return err
		})
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	env.OK(t, err)
	size := os.Getpagesize()
	return b[:size], b[size : 2*size]
}

func TestAHeaderWithAnyBitSpoiledIsNotWhole(t *testing.T) {
	t.Parallel()
	page, _ := headerPages(t)
	if _, ok := parseHeader(page); !ok {
		t.Fatal("a header of bbolt's does not pass")
	}
	for i := headerAt; i < headerAt+headerLen; i++ {
		for bit := range 8 {
			spoiled := bytes.Clone(page)
			spoiled[i] ^= 1 << bit
			if _, ok := parseHeader(spoiled); ok {
				t.Errorf("byte %d, bit %d: the header passes", i, bit)
			}
		}
	}
}

func TestAHeaderCutShortIsNotWhole(t *testing.T) {
	t.Parallel()
	page, _ := headerPages(t)
	for n := range headerAt + headerLen {
		if _, ok := parseHeader(page[:n]); ok {
			t.Errorf("%d bytes pass for a header", n)
		}
	}
	if _, ok := parseHeader(page[:headerAt+headerLen]); !ok {
		t.Error("a header that ends with its last byte does not pass")
	}
}

func TestTheNewestWholeHeaderCounts(t *testing.T) {
	t.Parallel()
	first, second := headerPages(t)
	torn := make([]byte, len(first))
	a, _ := parseHeader(first)
	b, _ := parseHeader(second)
	if a.txid == b.txid {
		t.Fatal("both headers are of the same transaction")
	}
	newer := a
	if b.txid > a.txid {
		newer = b
	}
	for name, c := range map[string]struct {
		first, second []byte
		want          header
		ok            bool
	}{
		"both whole":  {first, second, newer, true},
		"swapped":     {second, first, newer, true},
		"first torn":  {torn, second, b, true},
		"second torn": {first, torn, a, true},
		"both torn":   {torn, torn, header{}, false},
	} {
		got, ok, err := newestHeader(bytes.NewReader(append(bytes.Clone(c.first), c.second...)))
		if err != nil || ok != c.ok || ok && got != c.want {
			t.Errorf("%s: got %+v, %t, %v; want %+v, %t", name, got, ok, err, c.want, c.ok)
		}
	}
}
