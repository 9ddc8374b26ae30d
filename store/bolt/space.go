package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"pushbox/store/record"
)

// limits bound the size of the file.
type limits struct {
	dir     string
	maxSize int64 // 0: no limit
	minFree int64 // 0: no limit
	room    record.RoomLimits
}

// SetSpaceLimits bounds additions to the file from the next transaction on.
func (db *DB) SetSpaceLimits(r record.SpaceLimits) {
	db.limits.Store(&limits{dir: db.limits.Load().dir, maxSize: r.MaxSize, minFree: r.MinFree, room: r.Room})
}

// An allowance is how many bytes creates may still add in one transaction.
type allowance struct {
	known bool
	left  int64
	rest  int64  // until only operations that end pushes may write
	gaps  int64  // of main, in gaps between pages that are too small for a chunk
	whole int64  // with what is in use
	bound string // why there is no more, for error messages
}

// reserve refuses a create of n bytes if there is no space for it. Views, expiry and deletes may
// use the space that the limits reserve.
func (t *tx) reserve(n int, l limits, free freeSpace) error {
	if err := t.knowAllowance(l, free); err != nil {
		return err
	}
	return t.allowance.use(int64(n), 0)
}

// knowAllowance measures the allowance, once in a transaction.
func (t *tx) knowAllowance(l limits, free freeSpace) (err error) {
	if !t.allowance.known {
		t.allowance, err = t.measureAllowance(l, free)
	}
	return err
}

// reserveLong is reserve for chunks of files, which do not fit into gaps.
func (t *tx) reserveLong(n int, l limits, free freeSpace) error {
	if err := t.reserve(0, l, free); err != nil {
		return err
	}
	return t.allowance.use(int64(n), t.allowance.gaps)
}

// reserveRest refuses n bytes for operations that do not end a push, once most of the space is used
// that creates leave free: the rest is for operations that end pushes.
func (t *tx) reserveRest(n int, l limits, free freeSpace) error {
	if err := t.knowAllowance(l, free); err != nil {
		return err
	}
	if t.allowance.rest -= int64(n); t.allowance.rest < 0 {
		return fmt.Errorf("%w: the remaining space of its file system is reserved for deletes and expiry", record.ErrFull)
	}
	return nil
}

// isScarce reports whether half of that rest is used, too: then even the end of a push must use
// little more space than it frees.
func (t *tx) isScarce(l limits, free freeSpace) (bool, error) {
	err := t.knowAllowance(l, free)
	return t.allowance.rest < -l.minFree/restShare/2, err
}

// restShare is the divisor of limits.min_free_space for that rest: 1/restShare.
const restShare = 8

func (r *allowance) use(n, gaps int64) error {
	if n > r.left-gaps {
		return fmt.Errorf("%w: %s", record.ErrFull, r.bound)
	}
	r.left -= n
	return nil
}

// gapShare bounds the part of a file that counts as gaps: 1/gapShare. After long concurrent
// uploads, a quarter of the file was gaps; if more is unused, chunks fit.
const gapShare = 4

// A freeSpace returns how many bytes of a directory's file system this process may use; false if
// that is unknown.
type freeSpace func(dir string) (int64, bool, error)

// measureAllowance returns how many bytes a transaction may add before it reaches a
// limit.
func (t *tx) measureAllowance(l limits, free freeSpace) (allowance, error) {
	r := allowance{known: true, left: math.MaxInt64, rest: math.MaxInt64}
	unused := t.unused()
	if l.maxSize > 0 {
		r.left, r.bound = l.maxSize-(t.bolt.Size()-unused), "the database has reached its largest size"
	}
	if l.minFree > 0 {
		bytes, known, err := free(l.dir)
		if err != nil {
			return allowance{}, fmt.Errorf("free space of %s: %w", l.dir, err)
		}
		backed, err := t.backed(unused)
		if err != nil {
			return allowance{}, fmt.Errorf("size of the database: %w", err)
		}
		if known {
			r.rest = bytes + backed - l.minFree/restShare
		}
		if left := bytes + backed - l.minFree; known && left < r.left {
			r.left, r.bound = left, "too little space is free on its file system"
			r.gaps = min(backed, t.bolt.Size()/gapShare)
		}
	}
	if r.bound != "" {
		r.whole = max(0, t.bolt.Size()-unused) + max(0, r.left)
	}
	return r, nil
}

// unused is the size of the free pages of the file in bytes, after the last commit.
func (t *tx) unused() int64 {
	s := t.bolt.DB().Stats()
	return int64(s.FreePageN+s.PendingPageN) * int64(t.bolt.DB().Info().PageSize)
}

// backed is how many of the unused bytes have blocks of the file system. The others are holes,
// whose blocks already count as free.
func (t *tx) backed(unused int64) (int64, error) {
	blocks, err := allocated(t.file())
	return max(0, min(unused, blocks-(t.bolt.Size()-unused))), err
}

func (t *tx) space() (record.Space, error) {
	info, err := t.file().Stat()
	if err != nil {
		return record.Space{}, fmt.Errorf("size of the database: %w", err)
	}
	return record.Space{Size: info.Size(), Unused: t.unused()}, nil
}

// Stats returns figures of the file after the last commit that readers see. It does not wait for a
// commit.
func (db *DB) Stats(ctx context.Context) (s record.EngineStats, err error) {
	if err := db.admit(ctx); err != nil {
		return record.EngineStats{}, err
	}
	h := db.enter()
	if h == nil {
		return record.EngineStats{}, record.ErrClosed
	}
	defer h.leave()
	err = h.read(func(t *tx) (err error) {
		if s.Space, err = t.space(); err != nil {
			return err
		}
		s.FreePages = int(s.Unused) / t.bolt.DB().Info().PageSize
		t.overlay = db.journal.latest(nil)
		s.Live = t.countLive()
		_, s.Oldest, err = t.due(record.Expiring, record.ExpiryPlace{}, 0, 0)
		return err
	})
	if h.noteDamage(err) {
		return record.EngineStats{}, db.fail(err)
	}
	s.Journal = int(db.journal.waiting.Load())
	return s, err
}

// countLive adds up the rows of room of accounts and of all anonymous clients together. It takes them as
// they are in the file: a damaged row is for a check to report, and takes no other figure away.
func (t *tx) countLive() (n int64) {
	add := func(stored []byte) {
		if len(stored) >= roomLen {
			n += int64(binary.BigEndian.Uint64(stored))
		}
	}
	c, ofAccounts := t.stored(room), []byte{roomOfAccount}
	for k, stored := c.Seek(ofAccounts); bytes.HasPrefix(k, ofAccounts); k, stored = c.Next() {
		add(stored)
	}
	stored, _ := t.findStored(room, []byte{roomOfAnonymous})
	add(stored)
	return n
}
