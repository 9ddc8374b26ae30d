package bolt

import (
	"bytes"
	"encoding/binary"
	"time"

	"pushbox/store"
)

// schemaNumber is the layout written here. A file of an older one is brought to it
// when it is opened (migrations), and one of any other is refused.
const schemaNumber = 5

// A bucket is one of the file's flat buckets. Numbers in keys are big endian,
// so that they sort; times are milliseconds since 1970.
type bucket uint8

// The buckets. IDs begin with the creation time, so what is made now lies side
// by side in each of them.
const (
	pushes        bucket = iota // ID → record
	payloads                    // ID, digest → sealed payload; of older schemas: ID → the same
	audit                       // ID, number as uint32 → entry
	owners                      // owner as uint64, 1 if live or 0, ID → nothing
	expiry                      // shelf, time as uint64, ID → nothing
	chunks                      // ID, file as uint16, number as uint32 → sealed chunk; and pads, with digests
	orphans                     // ID whose chunks are of no push, yet or any more → nothing
	grants                      // digest → record
	grantPushes                 // ID, digest → when the grant ends, as uint64
	accounts                    // account ID → record; its sequence gives IDs out
	emails                      // address → account ID
	tokens                      // digest → record; its sequence gives IDs out
	tokenIDs                    // token ID → digest
	tokenOwners                 // owner as uint64, token ID → digest
	sessions                    // digest → record; its sequence gives IDs out
	sessionOwners               // owner as uint64, session ID → digest
	journalRows                 // number → counts and audit entry of a push, not yet in their places
	outbox                      // time as uint64, number as uint64 → sealed message; its sequence gives numbers out
	hooks                       // owner as uint64, number as uint64 → sealed record; its sequence gives numbers out
	quotas                      // account ID, or 0 for all → day as uint64, how much as uint64
	meta                        // the names below → what they stand for
	bucketCount
)

var bucketNames = [bucketCount][]byte{
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
	tokens:        []byte("tokens"),
	tokenIDs:      []byte("token_ids"),
	tokenOwners:   []byte("token_owners"),
	sessions:      []byte("sessions"),
	sessionOwners: []byte("session_owners"),
	journalRows:   []byte("journal"),
	outbox:        []byte("outbox"),
	hooks:         []byte("hooks"),
	quotas:        []byte("quotas"),
	meta:          []byte("meta"),
}

// fillPercents say how full pages are left when they split, where that is not
// the usual half: keys grow, so most splits are at the end, where no row comes
// later. Creates are a tenth quicker for it and take a fifth less room. Audit
// rows come in everywhere, and pushes change their length.
var fillPercents = [bucketCount]float64{pushes: 0.75, payloads: 0.9, owners: 0.75, expiry: 0.75, journalRows: 1}

// Keys of the meta bucket.
const (
	metaSchema     = "schema"      // uint32
	metaKeyRing    = "key_ring"    // sealed
	metaLatestTime = "latest_time" // milliseconds as uint64
)

const (
	idLen      = len(store.ID{})
	sumLen     = 4
	payloadLen = idLen + sumLen
	auditLen   = idLen + 4
	ownerLen   = 8 + 1 + idLen
	expiryLen  = 1 + 8 + idLen
	chunkLen   = idLen + 2 + 4
	padLen     = chunkLen + 1
	digestLen  = len(store.GrantDigest{})
)

// String is the bucket's name in the file.
func (b bucket) String() string { return string(bucketNames[b]) }

func uint64Key(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func auditKey(id store.ID, number uint32) []byte {
	return binary.BigEndian.AppendUint32(append(make([]byte, 0, auditLen), id[:]...), number)
}

func chunkKey(id store.ID, file, n int) []byte {
	k := binary.BigEndian.AppendUint16(append(make([]byte, 0, padLen), id[:]...), uint16(file))
	return binary.BigEndian.AppendUint32(k, uint32(n))
}

// padKey is the key of a pad behind a chunk.
func padKey(id store.ID, file, n, pad int) []byte {
	return append(chunkKey(id, file, n), byte(pad))
}

// grantRow is the grant's row among those of its push.
func grantRow(g store.Grant) []byte {
	return append(append(make([]byte, 0, idLen+digestLen), g.Push[:]...), g.Digest[:]...)
}

// ownerPrefix is what the owner rows of an account's live pushes begin with, or
// of its others.
func ownerPrefix(owner store.AccountID, live bool) []byte {
	k := binary.BigEndian.AppendUint64(make([]byte, 0, ownerLen), uint64(owner))
	if live {
		return append(k, 1)
	}
	return append(k, 0)
}

// ownerRow is the push's row in the owner index; nil if it has no owner.
func ownerRow(p store.Push) []byte {
	if p.Owner == 0 {
		return nil
	}
	return append(ownerPrefix(p.Owner, p.Live()), p.ID[:]...)
}

// expiryRow is the push's row in the expiry index.
func expiryRow(p store.Push) []byte {
	shelf, t := p.Shelf()
	k := append(make([]byte, 0, expiryLen), byte(shelf))
	return append(binary.BigEndian.AppendUint64(k, milliseconds(t)), p.ID[:]...)
}

func expiryTime(row []byte) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(row[1:]))).UTC()
}

func tokenOwnerKey(owner store.AccountID, id store.TokenID) []byte {
	k := binary.BigEndian.AppendUint64(make([]byte, 0, 16), uint64(owner))
	return binary.BigEndian.AppendUint64(k, uint64(id))
}

func sessionOwnerKey(owner store.AccountID, id store.SessionID) []byte {
	k := binary.BigEndian.AppendUint64(make([]byte, 0, 16), uint64(owner))
	return binary.BigEndian.AppendUint64(k, uint64(id))
}

// milliseconds is t as keys have it. A time before 1970, which no clock tells,
// counts as 1970, so that keys still sort.
func milliseconds(t time.Time) uint64 { return uint64(max(0, t.UnixMilli())) }

// lastID is the push ID that an index row ends with.
func lastID(row []byte) store.ID { return store.ID(row[len(row)-idLen:]) }

// after is the least key greater than every key that begins with prefix; nil if
// there is none.
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
