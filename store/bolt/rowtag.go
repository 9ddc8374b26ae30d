package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"pushbox/store/record"
)

// tagLen is the length of the tag at the end of a row that affects decisions.
const tagLen = record.TagLen

// tagged are the buckets whose rows have tags. The others do not need them. Payloads and chunks are
// sealed for their place. Rows of owners and expiry only lead to a record, and orphans only to
// chunks; each is compared with the record.
var tagged = withTags([mostBuckets]bool{
	pushes: true, audit: true, journalRows: true,
	grants: true, grantPushes: true,
	accounts: true, emails: true, identities: true,
	tokens: true, tokenIDs: true, tokenOwners: true,
	sessions: true, sessionOwners: true,
	outbox: true, hooks: true, requests: true, requestOwners: true, quotas: true, room: true, events: true,
	meta: true,
})

// withTags adds the buckets of added tables.
func withTags(all [mostBuckets]bool) [mostBuckets]bool {
	addedBuckets(func(b bucket, _ *record.Table) { all[b] = true })
	return all
}

// hasTag reports whether a row has a tag. Rows of meta that are read before there are keys have
// none: the sealed key ring needs none, and the schema says how to read the rest.
func hasTag(b bucket, key []byte) bool {
	return tagged[b] && (b != meta || string(key) != metaSchema && string(key) != metaKeyRing)
}

// errRow is the cause of the error for a row that pushbox did not write.
var errRow = errors.New("a row was not written by pushbox")

// A share is the part of a row in the sum of its bucket: the second half of the row's own sum,
// which is not stored.
type share struct{ high, low uint64 }

func (s *share) add(o share) {
	low, carry := bits.Add64(s.low, o.low, 0)
	s.high, _ = bits.Add64(s.high, o.high, carry)
	s.low = low
}

func (s *share) subtract(o share) {
	low, borrow := bits.Sub64(s.low, o.low, 0)
	s.high, _ = bits.Sub64(s.high, o.high, borrow)
	s.low = low
}

func shareOf(s record.RowShare) share {
	return share{binary.BigEndian.Uint64(s[:]), binary.BigEndian.Uint64(s[8:])}
}

// sealRow appends a row's value and its tag to dst, in the form of the file.
func sealRow(dst []byte, keys record.RowKeys, b bucket, key, value []byte) ([]byte, share) {
	dst, s := record.SealRow(dst, keys, b.String(), key, value)
	return dst, shareOf(s)
}

// hasRoom reports whether a stored row is long enough for a tag, and no longer than rows can be: to
// sum a damaged row could use all memory.
func hasRoom(key, stored []byte) bool {
	return len(key) <= maxKey && len(stored) >= tagLen && len(stored) <= maxValue
}

// openRow verifies a stored row and returns its value. The error is record.ErrCorrupt and names
// only the bucket.
func openRow(keys record.RowKeys, b bucket, key, stored []byte) (value []byte, s share, err error) {
	if !hasRoom(key, stored) {
		return nil, share{}, fmt.Errorf("%w: %s: %w", record.ErrCorrupt, b, errRow)
	}
	value, rest, ok := record.OpenRow(keys, b.String(), key, stored)
	if !ok {
		return nil, share{}, fmt.Errorf("%w: %s: %w", record.ErrCorrupt, b, errRow)
	}
	return value, shareOf(rest), nil
}

// shareIn returns a stored row's share of its bucket's sum without verifying it; zero if its key
// version is unknown.
func shareIn(keys record.RowKeys, b bucket, key, stored []byte) share {
	if !hasRoom(key, stored) {
		return share{}
	}
	s, ok := record.ShareOf(keys, b.String(), key, stored)
	if !ok {
		return share{}
	}
	return shareOf(s)
}

// sums are the sums of the tagged rows of a file, bucket by bucket, with the last number of each
// bucket. They show that a row was removed, or comes from another time, which its tag cannot show.
// Each commit rewrites them, under a tag.
type sums struct {
	rows [mostBuckets]share
	last [mostBuckets]uint64
}

// inSums reports whether the sums include a row: all rows with a tag, except the sums.
func inSums(b bucket, key []byte) bool {
	return hasTag(b, key) && (b != meta || string(key) != metaSums)
}

// AppendBinary appends the sums to dst.
func (s *sums) AppendBinary(dst []byte) ([]byte, error) {
	for b := range bucketCount {
		if tagged[b] {
			dst = binary.BigEndian.AppendUint64(dst, s.rows[b].high)
			dst = binary.BigEndian.AppendUint64(dst, s.rows[b].low)
			dst = binary.BigEndian.AppendUint64(dst, s.last[b])
		}
	}
	return dst, nil
}

// UnmarshalBinary reads what AppendBinary wrote.
func (s *sums) UnmarshalBinary(v []byte) error {
	*s = sums{}
	for b := range bucketCount {
		if !tagged[b] {
			continue
		}
		if len(v) == 0 && b >= firstAdded { // the file was written before the table was added
			break
		}
		if len(v) < 24 {
			return errors.New("the sums are too short")
		}
		s.rows[b] = share{binary.BigEndian.Uint64(v), binary.BigEndian.Uint64(v[8:])}
		s.last[b], v = binary.BigEndian.Uint64(v[16:]), v[24:]
	}
	if len(v) > 0 {
		return errors.New("the sums are too long")
	}
	return nil
}

// unreadable is the panic of a transaction for a row that pushbox did not write. So a caller cannot
// ignore it and treat the row as missing. The function that began the work of the transaction turns
// the panic into its error.
type unreadable struct{ err error }

// catchUnreadable turns the panic of the function that defers it into err.
func catchUnreadable(err *error) {
	switch reason := recover().(type) {
	case nil:
	case unreadable:
		*err = reason.err
	default:
		panic(reason)
	}
}

// A ledger has the sums in a transaction that writes.
type ledger struct {
	sums
	known   bool  // sums has been read from the file
	changed bool  // the transaction changed them
	broken  error // why they cannot be read; then they stay unchanged, and a check reports them
	recent  [mostBuckets]recentRow
}

// A recentRow is the last row that was read from a bucket. It is a cache for subtract, since most
// replaced rows were read just before.
type recentRow struct {
	key   []byte
	tag   [tagLen]byte
	share share
}

// sums returns the sums of the file with the changes of the transaction, which may change them
// further.
func (t *tx) sums() (*sums, error) {
	l := t.ledger
	if !l.known {
		l.known, l.broken = true, t.readSums(&l.sums)
	}
	l.changed = true
	return &l.sums, l.broken
}

// readSums reads the sums of the file; zero for a new file, which has none.
func (t *tx) readSums(s *sums) (err error) {
	defer catchUnreadable(&err)
	if err := t.find(meta, []byte(metaSums), s); !errors.Is(err, record.ErrNotFound) {
		return err
	}
	return nil
}

// putSums writes the sums if the transaction changed them.
func (t *tx) putSums() error {
	if !t.ledger.changed || t.ledger.broken != nil {
		return nil
	}
	return putRecord(t, meta, []byte(metaSums), &t.ledger.sums)
}

// unlocked returns the keys of rows.
func (t *tx) unlocked() record.RowKeys {
	if t.keys == nil {
		panic(unreadable{record.ErrNoKeys})
	}
	return t.keys
}

// open verifies a row with a tag and returns its value.
func (t *tx) open(b bucket, key, stored []byte) []byte {
	v, s, err := openRow(t.unlocked(), b, key, stored)
	if err != nil {
		panic(unreadable{err})
	}
	if t.ledger != nil {
		r := &t.ledger.recent[b]
		r.key, r.tag, r.share = append(r.key[:0], key...), [tagLen]byte(stored[len(v):]), s
	}
	return v
}

// seal returns a row with its tag, in memory that lasts until the transaction ends, and
// adds it to the sums.
func (t *tx) seal(b bucket, key, value []byte) []byte {
	start := len(t.arena)
	stored, added := sealRow(t.arena, t.unlocked(), b, key, value)
	t.arena = stored
	if inSums(b, key) {
		s, _ := t.sums()
		s.rows[b].add(added)
	}
	return stored[start:len(stored):len(stored)]
}

// subtract subtracts a row that will be replaced or deleted, if there is one, from the sums,
// without verifying it.
func (t *tx) subtract(b bucket, key []byte) {
	if !inSums(b, key) {
		return
	}
	stored, ok := t.findStored(b, key)
	if !ok {
		return
	}
	s, _ := t.sums()
	if r := &t.ledger.recent[b]; bytes.Equal(key, r.key) && bytes.HasSuffix(stored, r.tag[:]) {
		s.rows[b].subtract(r.share)
		return
	}
	s.rows[b].subtract(shareIn(t.unlocked(), b, key, stored))
}
