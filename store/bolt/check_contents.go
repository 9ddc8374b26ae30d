package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"pushbox/store/record"
)

// Bounds of one step of reading contents, in one transaction.
const (
	contentStep  = 1 << 20 // bytes
	contentRows  = 512
	contentGroup = 64 // chunks without a pad behind them, after which no pad is expected
)

// CheckContents reads every payload and every chunk of a file, in short transactions
// between which commits continue, and reports those that do not match their digest. It
// calls progress with bytes.
func (db *DB) CheckContents(ctx context.Context, report func(problem string), progress func(done, total int64)) (record.Coverage, error) {
	space, err := viewed(ctx, db, (*tx).space)
	if err != nil {
		return record.Coverage{}, err
	}
	c := contents{report: report, progress: progress, total: space.Size - space.Unused}
	for _, walk := range []struct {
		bucket bucket
		row    func(t *tx, k, v []byte) error
	}{{payloads, c.payload}, {chunks, c.chunk}} {
		c.at = nil
		for more := true; more; {
			if err := db.view(ctx, func(t *tx) (err error) {
				more, err = c.guarded(t, walk.bucket, walk.row)
				return err
			}); err != nil {
				return c.cover, err
			}
			c.advance()
		}
		c.countUnverified()
	}
	progress(c.done, c.done)
	c.cover.Bytes = c.done
	return c.cover, nil
}

// contents is a pass over all payloads and chunks.
type contents struct {
	report      func(string)
	progress    func(done, total int64)
	done, total int64
	cover       record.Coverage
	at          []byte     // the last row that was read
	group       []chunkSum // chunks read since the last pad
	buffer      []byte
}

// A chunkSum is the digest of a chunk that was read.
type chunkSum struct {
	id      record.ID
	file, n int
	sum     []byte
}

func (c *contents) notef(format string, args ...any) { c.report(fmt.Sprintf(format, args...)) }

// guarded runs a step. Damage does not fail the store: guarded reports it, and ends the reading of
// the bucket.
func (c *contents) guarded(t *tx, b bucket, row func(*tx, []byte, []byte) error) (more bool, err error) {
	err = guard(func() error {
		more, err = c.step(t, b, row)
		return err
	})
	if errors.Is(err, record.ErrCorrupt) {
		c.notef("%s: %v; the rows after it were not read", b, err)
		return false, nil
	}
	return more, err
}

// step continues after the last step, and reports whether there are more rows. It ends after a pad,
// so that it sees chunks together with their digests.
func (c *contents) step(t *tx, b bucket, row func(*tx, []byte, []byte) error) (more bool, err error) {
	cur := t.cursor(b)
	k, v := cur.Seek(c.at)
	if c.at != nil && bytes.Equal(k, c.at) {
		k, v = cur.Next()
	}
	start := c.done
	for n := 0; k != nil; n++ {
		if len(c.group) == 0 && (n >= contentRows || c.done-start >= contentStep) {
			return true, nil
		}
		if bytes.Compare(k, c.at) <= 0 && c.at != nil {
			return false, fmt.Errorf("%w: keys are not in order", record.ErrCorrupt)
		}
		if err := row(t, k, v); err != nil {
			return false, err
		}
		if c.at, err = cloneKey(b, k); err != nil {
			return false, err
		}
		k, v = cur.Next()
	}
	return false, nil
}

// payload compares a payload with the digest in its key.
func (c *contents) payload(t *tx, k, v []byte) error {
	sum, err := c.read(t, v)
	if err != nil || len(k) < idLen {
		return err
	}
	switch id := record.ID(k[:idLen]); {
	case len(k) != payloadLen:
		c.cover.Without++
	case !bytes.Equal(sum, k[idLen:]):
		c.notef("push %s: its payload has changed since it was written", id)
		fallthrough
	default:
		c.cover.Payloads++
	}
	return nil
}

// chunk adds a chunk to the group, or compares the group with the digests in the first
// pad behind it.
func (c *contents) chunk(t *tx, k, v []byte) error {
	switch {
	case len(k) == chunkLen:
		sum, err := c.read(t, v)
		if err != nil {
			return err
		}
		if len(c.group) >= contentGroup {
			c.countUnverified()
		}
		id, file, n := splitChunkKey(k)
		c.group = append(c.group, chunkSum{id, file, n, sum})
	case len(k) == padLen && k[chunkLen] == 0:
		c.compare(t, k, v)
	}
	return nil
}

func splitChunkKey(k []byte) (id record.ID, file, n int) {
	return record.ID(k[:idLen]), int(binary.BigEndian.Uint16(k[idLen:])), int(binary.BigEndian.Uint32(k[idLen+2:]))
}

// compare compares the group with the digests in a pad. The first chunks of orphans may be missing,
// because they are removed one by one.
func (c *contents) compare(t *tx, pad, sums []byte) {
	id, file, last := splitChunkKey(pad)
	for n := last - len(sums)/sumLen + 1; len(sums) >= sumLen; n, sums = n+1, sums[sumLen:] {
		i := slices.IndexFunc(c.group, func(s chunkSum) bool { return s.id == id && s.file == file && s.n == n })
		if i < 0 {
			if !t.has(orphans, id[:]) {
				c.notef("push %s: chunk %d of file %d is missing", id, n, file)
			}
			continue
		}
		c.cover.Chunks++
		if !bytes.Equal(c.group[i].sum, sums[:sumLen]) {
			c.notef("push %s: chunk %d of file %d has changed since it was written", id, n, file)
		}
		c.group = slices.Delete(c.group, i, i+1)
	}
	c.countUnverified()
}

// countUnverified counts the group as chunks without digests.
func (c *contents) countUnverified() {
	c.cover.Without += int64(len(c.group))
	c.group = c.group[:0]
}

// read reads a value and returns its digest.
func (c *contents) read(t *tx, v []byte) ([]byte, error) {
	if len(v) > maxValue {
		return nil, fmt.Errorf("%w: a value of %d bytes", record.ErrCorrupt, len(v))
	}
	c.buffer = slices.Grow(c.buffer[:0], len(v))[:len(v)]
	if err := t.copyValue(c.buffer, v); err != nil {
		return nil, fmt.Errorf("read the database: %w", err)
	}
	t.noteRead(len(v))
	c.done += int64(len(v))
	return appendSum(nil, c.buffer), nil
}

// advance reports progress. The total was a guess.
func (c *contents) advance() {
	c.total = max(c.total, c.done)
	c.progress(c.done, c.total)
}
