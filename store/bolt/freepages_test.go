package bolt_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// With a wrong list of free pages, pages in use would be overwritten, or millions of
// pages freed.
func TestADamagedListOfFreePagesIsRefused(t *testing.T) {
	t.Parallel()
	path := filled(t)
	list, root := freelistPage(t, path), rootPage(t, path)
	n := binary.NativeEndian
	for name, spoil := range map[string]func(page []byte){
		"a page in use":        func(p []byte) { n.PutUint64(p[16:], root) },
		"a header":             func(p []byte) { n.PutUint64(p[16:], 1) },
		"a page beyond":        func(p []byte) { n.PutUint64(p[16:], 1<<40) },
		"not in order":         func(p []byte) { n.PutUint64(p[24:], n.Uint64(p[16:])) },
		"too long":             func(p []byte) { n.PutUint16(p[10:], 1000) },
		"far too long":         func(p []byte) { n.PutUint16(p[10:], 1<<16-1); n.PutUint64(p[16:], 1<<20) },
		"of millions of pages": func(p []byte) { n.PutUint32(p[12:], 1<<25) },
		"no list":              func(p []byte) { n.PutUint16(p[8:], 2) },
		"another page":         func(p []byte) { n.PutUint64(p, root) },
	} {
		b := env.Read(t, path)
		spoil(b[list*4096:])
		copied := newPath(t)
		write(t, copied, b)
		if _, _, err := bolt.OpenUnlocked(t.Context(), bolt.Options{Path: copied}); !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	db := open(t, bolt.Options{Path: path})
	conformance.CheckClean(t, db)
}
