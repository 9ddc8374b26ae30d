package limit

import (
	"crypto/sha256"
	"strings"
	"time"
)

// maxKey is the length in bytes of the longest key that is kept as it is. Of a longer
// key the SHA-256 digest is kept, so that long keys do not make a table large.
const maxKey = 64

// A table holds a value for each of the most recently used keys, in bounded memory. It
// drops entries that were idle for long. It is not safe for concurrent use; times must
// not run backwards.
type table[V any] struct {
	max     int
	idle    time.Duration // after which an entry is dropped
	entries map[string]*entry[V]
	root    entry[V] // of the ring: root.next was used last, root.prev first
}

type entry[V any] struct {
	prev, next *entry[V]
	key        string
	used       time.Duration
	value      V
}

func newTable[V any](max int, idle time.Duration) *table[V] {
	t := &table[V]{max: max, idle: idle, entries: make(map[string]*entry[V])}
	if t.max < 1 {
		t.max = 1
	}
	t.root.prev, t.root.next = &t.root, &t.root
	return t
}

// get returns the entry of a key, or nil. It does not count as a use.
func (t *table[V]) get(key string, now time.Duration) *entry[V] {
	e := t.entries[tableKey(key)]
	if e != nil && now-e.used >= t.idle {
		t.drop(e)
		return nil
	}
	return e
}

func (t *table[V]) use(key string, now time.Duration) *entry[V] {
	e := t.get(key, now)
	if e == nil {
		e = &entry[V]{key: strings.Clone(tableKey(key))} // a part of a long header would keep all of it in memory
		t.entries[e.key] = e
	} else {
		e.unlink()
	}
	e.used = now
	e.prev, e.next = &t.root, t.root.next
	e.prev.next, e.next.prev = e, e
	t.trim(now)
	return e
}

// trim drops the oldest entries that are idle, a few at a time, and the oldest of all
// if there are too many.
func (t *table[V]) trim(now time.Duration) {
	for range 4 {
		oldest := t.root.prev
		if now-oldest.used < t.idle {
			break
		}
		t.drop(oldest)
	}
	if len(t.entries) > t.max {
		t.drop(t.root.prev)
	}
}

func (t *table[V]) drop(e *entry[V]) {
	delete(t.entries, e.key)
	e.unlink()
}

func (e *entry[V]) unlink() { e.prev.next, e.next.prev = e.next, e.prev }

func tableKey(key string) string {
	if len(key) <= maxKey {
		return key
	}
	digest := sha256.Sum256([]byte(key))
	return string(digest[:])
}
