package bolt

import (
	"bytes"
	"encoding/binary"
	"slices"
	"time"

	"pushbox/store/record"
)

// schemaNumber is the layout written here. Opening a file of an older one upgrades it
// (migrations); a file of any other is refused. A change of the layout, or of a record in
// it, takes the next number, released or not: testdata/formats.txt holds each to its own. A table
// that was added says its number itself; namedSchema is that of the last other change.
var schemaNumber = func() uint32 {
	n := namedSchema
	for _, of := range added {
		n = max(n, of.Added.Bolt)
	}
	return uint32(n)
}()

const namedSchema = 9

// A bucket is a top-level bucket of the file. Numbers in keys are big endian, so that they sort;
// times are milliseconds since 1970.
type bucket uint8

// The buckets. IDs begin with the creation time, so rows of pushes that are created at
// the same time lie side by side in each of them.
const (
	pushes        bucket = iota // ID → record
	payloads                    // ID, digest → sealed payload; of older schemas: ID → the same
	audit                       // ID, number as uint32 → entry
	owners                      // owner as uint64, 1 if live or 0, ID → nothing
	expiry                      // queue, time as uint64, ID → nothing
	chunks                      // ID, file as uint16, number as uint32 → sealed chunk; and pads, with digests
	orphans                     // ID of chunks without a push → nothing
	grants                      // digest → record
	grantPushes                 // ID, digest → when the grant ends, as uint64
	accounts                    // account ID → record; its sequence assigns IDs
	emails                      // address → account ID
	identities                  // digest of an identity → account ID
	tokens                      // digest → record; its sequence assigns IDs
	tokenIDs                    // token ID → digest
	tokenOwners                 // owner as uint64, token ID → digest
	sessions                    // digest → record; its sequence assigns IDs
	sessionOwners               // owner as uint64, session ID → digest
	journalRows                 // number → counts, end and audit entry of a push, not folded yet
	outbox                      // time as uint64, number as uint64 → sealed message; its sequence assigns numbers
	hooks                       // owner as uint64, number as uint64 → sealed record; its sequence assigns numbers
	requests                    // ID → record
	requestOwners               // owner as uint64, 1 if it has no end yet or 0, ID → nothing
	quotas                      // account ID, or 0 for all; or an addressee (record.Quota.Key) → day as uint64, how much as uint64
	room                        // whose → number of live pushes as uint64, bytes as uint64; see room.go
	events                      // number as uint64 → event of the instance log
	meta                        // the names below → their values
	firstAdded                  // and those behind it: the key of a record → record; its sequence assigns numbers if the table does
)

// added are the tables that have no bucket of their own name above.
var added = slices.DeleteFunc(record.Tables(), func(of *record.Table) bool { return of.Added.Bolt == 0 })

// bucketCount is the number of buckets, and mostBuckets what there is room for in memory.
var bucketCount = firstAdded + bucket(len(added))

const mostBuckets = 32

// addedBuckets calls note with the bucket of each added table.
func addedBuckets(note func(b bucket, of *record.Table)) {
	for i, of := range added {
		note(firstAdded+bucket(i), of)
	}
}

var bucketNames = withAdded([firstAdded][]byte{
	pushes:        []byte("pushes"),
	payloads:      []byte("payloads"),
	audit:         []byte("audit"),
	owners:        []byte("owners"),
	expiry:        []byte("expiry"),
	chunks:        []byte("chunks"),
	orphans:       []byte("orphans"),
	grants:        []byte("grants"),
	grantPushes:   []byte("grant_pushes"),
	accounts:      []byte("accounts"),
	emails:        []byte("emails"),
	identities:    []byte("identities"),
	tokens:        []byte("tokens"),
	tokenIDs:      []byte("token_ids"),
	tokenOwners:   []byte("token_owners"),
	sessions:      []byte("sessions"),
	sessionOwners: []byte("session_owners"),
	journalRows:   []byte("journal"),
	outbox:        []byte("outbox"),
	hooks:         []byte("hooks"),
	requests:      []byte("requests"),
	requestOwners: []byte("request_owners"),
	quotas:        []byte("quotas"),
	room:          []byte("room"),
	events:        []byte("events"),
	meta:          []byte("meta"),
})

// withAdded are the names of all buckets: that of an added table is its name, as of several.
func withAdded(named [firstAdded][]byte) [][]byte {
	all := named[:]
	addedBuckets(func(_ bucket, of *record.Table) { all = append(all, []byte(of.Name+"s")) })
	return all
}

// fillPercents are the fill of pages after a split, if it is not the usual half. Keys grow, so most
// splits are at the end of a bucket, and later rows do not come before it: with these figures
// creates were a tenth faster and used a fifth less space (at 814e5bb). Audit rows are inserted
// everywhere, and pushes change their length.
var fillPercents = [mostBuckets]float64{pushes: 0.75, payloads: 0.9, owners: 0.75, expiry: 0.75, journalRows: 1, events: 1}

// Keys of the meta bucket.
const (
	metaSchema     = "schema"      // uint32
	metaKeyRing    = "key_ring"    // sealed
	metaLatestTime = "latest_time" // milliseconds as uint64
	metaSums       = "sums"        // sums
	metaEvents     = "events"      // record.LogHead
)

const (
	idLen      = len(record.ID{})
	sumLen     = 4
	payloadLen = idLen + sumLen
	auditLen   = idLen + 4
	ownerLen   = 8 + 1 + idLen
	expiryLen  = 1 + 8 + idLen
	chunkLen   = idLen + 2 + 4
	padLen     = chunkLen + 1
	digestLen  = len(record.GrantDigest{})
)

// String is the bucket's name in the file.
func (b bucket) String() string { return bucketTexts[b] }

var bucketTexts = func() (texts [mostBuckets]string) {
	for b, name := range bucketNames {
		texts[b] = string(name)
	}
	return texts
}()

func uint64Key(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func auditKey(id record.ID, number uint32) []byte {
	return binary.BigEndian.AppendUint32(append(make([]byte, 0, auditLen), id[:]...), number)
}

func chunkKey(id record.ID, file, n int) []byte {
	k := binary.BigEndian.AppendUint16(append(make([]byte, 0, padLen), id[:]...), uint16(file))
	return binary.BigEndian.AppendUint32(k, uint32(n))
}

// padKey is the key of a pad behind a chunk.
func padKey(id record.ID, file, n, pad int) []byte {
	return append(chunkKey(id, file, n), byte(pad))
}

// grantRow is the key of a grant's row in grantPushes.
func grantRow(g record.Grant) []byte {
	return append(append(make([]byte, 0, idLen+digestLen), g.Push[:]...), g.Digest[:]...)
}

// ownerPrefix is the prefix of the owner rows of an account's live pushes, or of its
// others.
func ownerPrefix(owner record.AccountID, live bool) []byte {
	k := binary.BigEndian.AppendUint64(make([]byte, 0, ownerLen), uint64(owner))
	if live {
		return append(k, 1)
	}
	return append(k, 0)
}

// ownerRow is the key of a push's row in owners; nil if it has no owner.
func ownerRow(p record.Push) []byte {
	if p.Owner == 0 {
		return nil
	}
	return append(ownerPrefix(p.Owner, p.Live()), p.ID[:]...)
}

// expiryRow is the key of a push's row in expiry.
func expiryRow(p record.Push) []byte {
	queue, t := p.ExpiryQueue()
	return expiryKey(queue, record.ExpiryPlace{At: t, ID: p.ID})
}

func expiryKey(s record.ExpiryQueue, at record.ExpiryPlace) []byte {
	k := append(make([]byte, 0, expiryLen), byte(s))
	return append(binary.BigEndian.AppendUint64(k, milliseconds(at.At)), at.ID[:]...)
}

func expiryTime(row []byte) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(row[1:]))).UTC()
}

// milliseconds returns t in the form of keys. A time before 1970 counts as 1970, so that keys still
// sort.
func milliseconds(t time.Time) uint64 { return uint64(max(0, t.UnixMilli())) }

// lastID is the push ID at the end of an index row's key.
func lastID(row []byte) record.ID { return record.ID(row[len(row)-idLen:]) }

// after is the least key greater than every key with that prefix; nil if there is none.
func after(prefix []byte) []byte {
	n := len(prefix)
	for n > 0 && prefix[n-1] == 0xff {
		n--
	}
	if n == 0 {
		return nil
	}
	k := bytes.Clone(prefix[:n])
	k[n-1]++
	return k
}
