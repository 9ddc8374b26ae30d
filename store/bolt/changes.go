package bolt

import (
	"maps"
	"slices"
	"sync/atomic"
)

const (
	rowMemory  = 96       // about what it takes to remember a row, beside its key
	maxChanges = 48 << 20 // memory for rows
)

// changes are the rows that were written since a compaction last asked. Guarded
// by DB.writing, but for its sizes.
type changes struct {
	rows   map[string]int // bucket and key → length of the value
	key    []byte         // room to put one together
	memory atomic.Int64   // about what the rows take
	bytes  atomic.Int64   // of keys and values
	lost   atomic.Bool    // there were too many: rows does not tell of all
}

func newChanges() *changes { return &changes{rows: make(map[string]int)} }

// note remembers that a row was written, or is about to be; a value of no bytes
// stands for a deletion, too.
func (c *changes) note(b bucket, key []byte, value int) {
	if c == nil || c.lost.Load() {
		return
	}
	c.key = append(append(c.key[:0], byte(b)), key...)
	old, known := c.rows[string(c.key)]
	c.bytes.Add(int64(value - old))
	if known && old == value {
		return
	}
	c.rows[string(c.key)] = value
	if known {
		return
	}
	c.bytes.Add(int64(len(key)))
	if c.memory.Add(int64(len(key)+rowMemory)) > maxChanges {
		c.lost.Store(true)
		c.rows = nil
	}
}

// exceed reports whether what was written, or the memory to remember it, is more
// than n bytes.
func (c *changes) exceed(n int64) bool { return max(c.bytes.Load(), c.memory.Load()) > n }

// sorted are the buckets and keys of the rows, in order.
func (c *changes) sorted() []string { return slices.Sorted(maps.Keys(c.rows)) }
