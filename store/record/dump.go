package record

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
)

// A RecordKind is the kind of a DumpRecord. Records come in the order of the kinds.
type RecordKind uint8

// The kinds of record, with their keys and values. Numbers are big endian.
const (
	RecordRing    RecordKind = iota // nothing: the sealed key ring
	RecordTime                      // nothing: the latest time, in milliseconds as uint64
	RecordNumbers                   // nothing: a LastNumbers
	RecordHead                      // nothing: a LogHead
	RecordAccount                   // ID as uint64: Account
	RecordSession                   // digest: Session
	RecordToken                     // digest: APIToken
	RecordHook                      // owner and ID as uint64: Hook
	RecordRequest                   // ID: Request
	RecordQuota                     // Quota.Key: day and count as uint64
	RecordEvent                     // number as uint64: AdminEvent
	RecordPush                      // ID: Push
	RecordPayload                   // ID: the sealed payload
	RecordEntry                     // ID, number as uint32: Entry
	RecordOrphan                    // ID whose chunks belong to no push: nothing
	RecordChunk                     // ID, file as uint16, number as uint32: the sealed chunk
	RecordGrant                     // digest: Grant
	RecordMessage                   // time of the next try and number as uint64: Message
	recordKinds
)

var recordNames = [recordKinds]string{
	"the key ring", "the latest time", "the last numbers", "the ends of the instance log", "an account", "a session", "an API token", "a webhook",
	"a request", "a quota", "an event", "a push", "a payload", "an audit entry", "an orphan", "a chunk", "a grant", "a message",
}

// String names a record of the kind, with an article.
func (k RecordKind) String() string {
	if k < recordKinds {
		return recordNames[k]
	}
	if t := TableOf(k); t != nil {
		return "a " + t.Name
	}
	return fmt.Sprintf("a record of kind %d", k)
}

// A DumpRecord is a record as every engine can keep it: without index rows and without the
// tag of its row.
type DumpRecord struct {
	Kind       RecordKind
	Key, Value []byte
}

// Records are all records of an engine, by kind and then by key. Each is valid until the next one.
// An error ends the sequence.
type Records = iter.Seq2[DumpRecord, error]

// A DumpEngine is an engine that gives all that it keeps, and takes all that another one gave.
type DumpEngine interface {
	Engine
	// Dump returns the records of the engine at one instant. Other steps may wait until the caller
	// has read all of them.
	Dump(ctx context.Context) Records
	// Load keeps all records in an empty engine, which was unlocked with the keys of the ring among
	// them; ErrExists if it is not empty. It calls last before it commits them, and returns an
	// error of last. After an error, remove the file of an engine in a file. A database is still
	// empty, unless last returned nil: then the outcome of the commit may be unknown.
	Load(ctx context.Context, all Records, last func(kept Records) error) error
}

// LastNumbers are the last numbers that the tables of Numbered assigned.
type LastNumbers map[*Table]uint64

// AppendBinary appends the numbers to b.
func (n LastNumbers) AppendBinary(b []byte) ([]byte, error) {
	for _, of := range Numbered() {
		b = binary.BigEndian.AppendUint64(b, n[of])
	}
	return b, nil
}

// UnmarshalBinary reads what AppendBinary wrote, or wrote when there were fewer such tables: what
// is left out is 0.
func (n *LastNumbers) UnmarshalBinary(b []byte) error {
	all := Numbered()
	if len(b)%8 != 0 || len(b) > 8*len(all) {
		return ErrRecord
	}
	*n = make(LastNumbers, len(all))
	for i := range len(b) / 8 {
		(*n)[all[i]] = binary.BigEndian.Uint64(b[8*i:])
	}
	return nil
}
