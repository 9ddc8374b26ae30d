package record

import (
	"bytes"
	"context"
	"encoding"
	"encoding/binary"
)

// A Record is what an engine keeps beside pushes and what belongs to them.
type Record interface {
	encoding.BinaryAppender // appends the value of its row
	// Key returns the key of its row, which does not change.
	Key() []byte
}

// A Table says how records of one kind are kept: each is a row, a value under a key, and
// indexes lead to it by other keys. Keys sort as bytes.
type Table struct {
	Name    string
	Indexes []*Index
	// Read returns the record of a row, which shares no memory with it; ErrRecord if it is
	// malformed, or of another key.
	Read func(key, value []byte) (Record, error)
}

// An Index leads to records of its table. No two records have one key of an index.
type Index struct {
	Name string
	// Keys returns the keys that lead to a record.
	Keys func(r Record) [][]byte
}

// A Range selects records of a table in the order of a key.
type Range struct {
	By     *Index // nil: by the keys of the rows
	Prefix []byte // of each key: whole numbers; empty: of any
	After  []byte // the keys are greater; empty: from the first on
	Limit  int    // how many records at most
}

// Rows is a Table of records of type R.
type Rows[R Record] struct{ *Table }

// The tables of records that are decided by operations over a Tx.
var (
	Accounts    = table("account", func([]byte) (Account, bool) { return Account{}, true }, AccountsByEmail, AccountsByIdentity)
	Sessions    = table("session", readSession, SessionsByOwner)
	Tokens      = table("token", func([]byte) (APIToken, bool) { return APIToken{}, true }, TokensByID, TokensByOwner)
	Hooks       = table("hook", readHook)
	AdminEvents = table("event", readEvent)
)

// Their indexes.
var (
	AccountsByEmail    = index("email", func(a Account) [][]byte { return [][]byte{[]byte(a.Email)} })
	AccountsByIdentity = index("identities", func(a Account) (all [][]byte) {
		for _, d := range a.Identities.Digests() {
			all = append(all, bytes.Clone(d[:]))
		}
		return all
	})
	SessionsByOwner = index("owner", func(s Session) [][]byte { return [][]byte{PairKey(uint64(s.Owner), uint64(s.ID))} })
	TokensByID      = index("id", func(t APIToken) [][]byte { return [][]byte{NumberKey(uint64(t.ID))} })
	TokensByOwner   = index("owner", func(t APIToken) [][]byte { return [][]byte{PairKey(uint64(t.Owner), uint64(t.ID))} })
)

func index[R Record](name string, keys func(R) [][]byte) *Index {
	return &Index{Name: name, Keys: func(r Record) [][]byte { return keys(r.(R)) }}
}

// table describes a table. begin returns a record with what its key says; ok is false if no
// record has such a key.
func table[R Record, P interface {
	*R
	encoding.BinaryUnmarshaler
}](name string, begin func(key []byte) (r R, ok bool), indexes ...*Index) Rows[R] {
	return Rows[R]{&Table{Name: name, Indexes: indexes, Read: func(key, value []byte) (Record, error) {
		r, ok := begin(key)
		if !ok {
			return nil, ErrRecord
		}
		if err := P(&r).UnmarshalBinary(value); err != nil {
			return nil, err
		}
		if !bytes.Equal(r.Key(), key) {
			return nil, ErrRecord
		}
		return r, nil
	}}}
}

func readSession(key []byte) (s Session, ok bool) {
	if len(key) != len(s.Digest) {
		return s, false
	}
	return Session{Digest: SessionDigest(key)}, true
}

func readHook(key []byte) (h Hook, ok bool) {
	if len(key) != 2*8 {
		return h, false
	}
	return Hook{Owner: AccountID(binary.BigEndian.Uint64(key)), ID: HookID(binary.BigEndian.Uint64(key[8:]))}, true
}

func readEvent(key []byte) (e AdminEvent, ok bool) {
	if len(key) != 8 {
		return e, false
	}
	return AdminEvent{Number: binary.BigEndian.Uint64(key)}, true
}

// NumberKey is the key that is one number.
func NumberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// PairKey is the key that is two numbers.
func PairKey(a, b uint64) []byte { return binary.BigEndian.AppendUint64(NumberKey(a), b) }

// Key is the ID.
func (a Account) Key() []byte { return NumberKey(uint64(a.ID)) }

// Key is the digest.
func (s Session) Key() []byte { return s.Digest[:] }

// Key is the digest.
func (t APIToken) Key() []byte { return t.Digest[:] }

// Key is the owner and the ID.
func (h Hook) Key() []byte { return PairKey(uint64(h.Owner), uint64(h.ID)) }

// Key is the number.
func (e AdminEvent) Key() []byte { return NumberKey(e.Number) }

// A View reads records of tables.
type View interface {
	// Get returns the record under a key, or ErrNotFound.
	Get(of *Table, key []byte) (Record, error)
	// Find returns the record to which an index leads from a key, or ErrNotFound.
	Find(of *Table, by *Index, key []byte) (Record, error)
	// List returns the records of a range.
	List(of *Table, r Range) ([]Record, error)
	// Last returns the last number that the table gave out; 0: none.
	Last(of *Table) (uint64, error)
}

// A Tx reads and changes records of tables in one step. An operation reads before it writes:
// whether it reads again what it wrote depends on the engine.
type Tx interface {
	View
	// Put keeps a record in place of the one with its key, if there is one.
	Put(of *Table, r Record) error
	// Delete removes a record, which must be as it was read.
	Delete(of *Table, r Record) error
	// Next gives out a number of the table, which is never given out again.
	Next(of *Table) (uint64, error)
	// Tell appends an event to the instance log. An operation has at most one.
	Tell(e AdminEvent) error
	// Send puts mail into the outbox and counts it, with the errors of PushEngine.CreatePush.
	Send(m *MailBatch) error
	// Disown removes what engines count for an account. ErrExists if it still owns pushes.
	// None is created for it once the operation is done, if that removes it.
	Disown(id AccountID) error
}

// A TableEngine keeps records of tables.
type TableEngine interface {
	// View calls read with what is kept now, sometimes several times. Of several things that
	// it reads, each is as it was at that moment or later than those before.
	View(ctx context.Context, read func(View) error) error
	// Update calls change, and does what it wrote in one step if it returns nil; else nothing
	// was changed. It may call it several times; the last call counts.
	Update(ctx context.Context, change func(Tx) error) error
	// Touch applies change to each of the records that is still there: it keeps what that
	// returns, or removes the record if that is nil. It is for what nothing else depends on,
	// such as when a record was last used. It may call change several times for a record.
	Touch(ctx context.Context, of *Table, keys [][]byte, change func(Record) Record) error
}

// Get returns the record under a key, or ErrNotFound.
func (o Rows[R]) Get(v View, key []byte) (r R, err error) { return as[R](v.Get(o.Table, key)) }

// Find returns the record to which an index leads from a key, or ErrNotFound.
func (o Rows[R]) Find(v View, by *Index, key []byte) (R, error) {
	return as[R](v.Find(o.Table, by, key))
}

func as[R Record](found Record, err error) (r R, _ error) {
	if err == nil {
		r = found.(R)
	}
	return r, err
}

// List returns the records of a range.
func (o Rows[R]) List(v View, r Range) (list []R, err error) {
	found, err := v.List(o.Table, r)
	for _, one := range found {
		list = append(list, one.(R))
	}
	return list, err
}
