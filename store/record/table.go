package record

import (
	"bytes"
	"context"
	"encoding"
	"encoding/binary"
	"fmt"
	"time"
)

// A Record is what an engine keeps beside pushes and what belongs to them.
type Record interface {
	encoding.BinaryAppender // appends the value of its row
	// Key returns the key of its row, which does not change.
	Key() []byte
	// Title names the record in messages. It is no secret.
	Title() string
	// Belongs returns the account that must exist for the record to be there; 0: none.
	Belongs() AccountID
}

// A Table says how records of one kind are kept: each is a row, a value under a key, and
// indexes lead to it by other keys. Keys sort as bytes.
type Table struct {
	Name    string
	Dumped  RecordKind // what its records are in a dump
	Indexes []*Index

	isNumbered bool   // it gives out numbers, which a dump has
	isOwned    bool   // its records end with the account that they belong to
	byOwner    *Index // whose keys begin with that account; nil: those of the rows do

	// Read returns the record of a row, which shares no memory with it; ErrRecord if it is
	// malformed, or of another key.
	Read func(key, value []byte) (Record, error)
}

// An Index leads to records of its table. No two records have one key of an index.
type Index struct {
	Name string // what of a record it leads from, in messages
	Tail int    // how many bytes at the end of a key are the key of the record's row; 0: none
	// Keys returns the keys that lead to a record.
	Keys func(r Record) [][]byte
}

// A Range selects records of a table in the order of a key.
type Range struct {
	By     *Index // nil: by the keys of the rows
	Prefix []byte // of each key: whole numbers; empty: of any
	After  []byte // only what comes after this key, which need not be there; empty: from the first on
	Skip   int    // how many records are left out at the beginning
	Limit  int    // how many records follow at most

	Reverse bool // the greatest key comes first
}

// Rows is a Table of records of type R.
type Rows[R Record] struct{ *Table }

// The tables of records that are decided by operations over a Tx.
var (
	Accounts    = table("account", RecordAccount, func([]byte) (Account, bool) { return Account{}, true }, AccountsByEmail, AccountsByIdentity).numbered()
	Sessions    = table("session", RecordSession, readSession, SessionsByOwner).numbered().owned(SessionsByOwner)
	Tokens      = table("token", RecordToken, func([]byte) (APIToken, bool) { return APIToken{}, true }, TokensByID, TokensByOwner).numbered().owned(TokensByOwner)
	Hooks       = table("hook", RecordHook, readHook).numbered().owned(nil)
	AdminEvents = table("event", RecordEvent, readEvent)
	Requests    = table("request", RecordRequest, readRequest, RequestsByOwner).owned(RequestsByOwner)
	Messages    = table("message", RecordMessage, readMessage)
	Quotas      = table("quota", RecordQuota, readCount)
)

// Their indexes.
var (
	AccountsByEmail    = index("address", func(a Account) [][]byte { return [][]byte{[]byte(a.Email)} })
	AccountsByIdentity = index("identity", func(a Account) (all [][]byte) {
		for _, d := range a.Identities.Digests() {
			all = append(all, bytes.Clone(d[:]))
		}
		return all
	})
	SessionsByOwner = index("owner", func(s Session) [][]byte { return [][]byte{PairKey(uint64(s.Owner), uint64(s.ID))} })
	TokensByID      = index("ID", func(t APIToken) [][]byte { return [][]byte{NumberKey(uint64(t.ID))} })
	TokensByOwner   = index("owner", func(t APIToken) [][]byte { return [][]byte{PairKey(uint64(t.Owner), uint64(t.ID))} })
	RequestsByOwner = &Index{Name: "owner", Tail: len(RequestID{}), Keys: func(r Record) [][]byte {
		q := r.(Request)
		return [][]byte{append(OwnedRequests(q.Owner, q.EndedAt.IsZero()), q.ID[:]...)}
	}}
)

// Tables lists them all.
func Tables() []*Table {
	return []*Table{Accounts.Table, Sessions.Table, Tokens.Table, Hooks.Table, Requests.Table, Quotas.Table, AdminEvents.Table, Messages.Table}
}

// TableOf returns the table whose records are of that kind in a dump, or nil.
func TableOf(k RecordKind) *Table {
	for _, t := range Tables() {
		if t.Dumped == k {
			return t
		}
	}
	return nil
}

// Numbered lists the tables that give out numbers, which a dump has, in its order.
func Numbered() (all []*Table) {
	for _, t := range Tables() {
		if t.isNumbered {
			all = append(all, t)
		}
	}
	return all
}

// Owned returns the range of an account's records, up to limit of them; false if those of the
// table do not end with the account.
func (t *Table) Owned(by AccountID, limit int) (r Range, ok bool) {
	return Range{By: t.byOwner, Prefix: NumberKey(uint64(by)), Limit: limit}, t.isOwned
}

// Owned lists up to limit of an account's records, in the order of their keys.
func (o Rows[R]) Owned(v View, by AccountID, limit int) ([]R, error) {
	r, _ := o.Table.Owned(by, limit)
	return o.List(v, r)
}

func (o Rows[R]) numbered() Rows[R] {
	o.isNumbered = true
	return o
}

func (o Rows[R]) owned(by *Index) Rows[R] {
	o.isOwned, o.byOwner = true, by
	return o
}

func index[R Record](name string, keys func(R) [][]byte) *Index {
	return &Index{Name: name, Keys: func(r Record) [][]byte { return keys(r.(R)) }}
}

// table describes a table. begin returns a record with what its key says; ok is false if no
// record has such a key.
func table[R Record, P interface {
	*R
	encoding.BinaryUnmarshaler
}](name string, dumped RecordKind, begin func(key []byte) (r R, ok bool), indexes ...*Index) Rows[R] {
	return Rows[R]{&Table{Name: name, Dumped: dumped, Indexes: indexes, Read: func(key, value []byte) (Record, error) {
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

func readRequest(key []byte) (r Request, ok bool) {
	if len(key) != len(r.ID) {
		return r, false
	}
	return Request{ID: RequestID(key)}, true
}

func readMessage(key []byte) (m Message, ok bool) {
	if len(key) != 2*8 {
		return m, false
	}
	m.NextAt = time.UnixMilli(int64(binary.BigEndian.Uint64(key))).UTC()
	m.Number = binary.BigEndian.Uint64(key[8:])
	return m, true
}

func readCount(key []byte) (c QuotaCount, ok bool) {
	q, ok := QuotaOfKey(key)
	return QuotaCount{To: q.To, Of: q.Of}, ok
}

// OwnedRequests is how the keys of RequestsByOwner begin for an account's requests: those that
// have no time of their end, or the others.
func OwnedRequests(owner AccountID, live bool) []byte {
	if live {
		return append(NumberKey(uint64(owner)), 1)
	}
	return append(NumberKey(uint64(owner)), 0)
}

// NumberKey is the key that is one number.
func NumberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// PairKey is the key that is two numbers.
func PairKey(a, b uint64) []byte { return binary.BigEndian.AppendUint64(NumberKey(a), b) }

// Key is the ID.
func (a Account) Key() []byte { return NumberKey(uint64(a.ID)) }

// Title is the ID.
func (a Account) Title() string { return fmt.Sprintf("account %d", a.ID) }

// Belongs returns 0.
func (Account) Belongs() AccountID { return 0 }

// Key is the digest.
func (s Session) Key() []byte { return s.Digest[:] }

// Title is the ID.
func (s Session) Title() string { return fmt.Sprintf("session %d", s.ID) }

// Belongs returns the owner.
func (s Session) Belongs() AccountID { return s.Owner }

// Key is the digest.
func (t APIToken) Key() []byte { return t.Digest[:] }

// Title is the ID.
func (t APIToken) Title() string { return fmt.Sprintf("token %d", t.ID) }

// Belongs returns the owner.
func (t APIToken) Belongs() AccountID { return t.Owner }

// Key is the owner and the ID.
func (h Hook) Key() []byte { return PairKey(uint64(h.Owner), uint64(h.ID)) }

// Title is the ID.
func (h Hook) Title() string { return fmt.Sprintf("webhook %d", h.ID) }

// Belongs returns the owner.
func (h Hook) Belongs() AccountID { return h.Owner }

// Key is the ID.
func (r Request) Key() []byte { return r.ID[:] }

// Title is the ID.
func (r Request) Title() string { return "request " + r.ID.String() }

// Belongs returns the owner.
func (r Request) Belongs() AccountID { return r.Owner }

// Key is the number.
func (e AdminEvent) Key() []byte { return NumberKey(e.Number) }

// Title is the number.
func (e AdminEvent) Title() string { return fmt.Sprintf("event %d", e.Number) }

// Belongs returns 0: an event outlives the account that it is about.
func (AdminEvent) Belongs() AccountID { return 0 }

// Key is the time of the next try, and the number.
func (m Message) Key() []byte {
	return PairKey(uint64(max(0, m.NextAt.UnixMilli())), m.Number)
}

// Title is the number.
func (m Message) Title() string { return fmt.Sprintf("message %d", m.Number) }

// Belongs returns 0: a message outlives what it is about.
func (Message) Belongs() AccountID { return 0 }

// Key is Quota.Key.
func (c QuotaCount) Key() []byte { return Quota{To: c.To, Of: c.Of}.Key() }

// Title names the account whose quota it is, if there is one.
func (c QuotaCount) Title() string {
	if c.Of == 0 {
		return "a quota"
	}
	return fmt.Sprintf("quota of account %d", c.Of)
}

// Belongs returns the account.
func (c QuotaCount) Belongs() AccountID { return c.Of }

// A View reads records of tables.
type View interface {
	// Get returns the record under a key, or ErrNotFound.
	Get(of *Table, key []byte) (Record, error)
	// All returns those of the records under the keys that there are, in any order.
	All(of *Table, keys [][]byte) ([]Record, error)
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
	// Reserve returns ErrFull if there is no space to create something of that many bytes.
	Reserve(bytes int) error
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
	// Touch applies change to each of the records that is still there, and returns how many
	// those are: it keeps what that returns, which may have another key, or removes the record if
	// that is nil. It is for what
	// nothing else depends on, such as when a record was last used. It may call change several
	// times for a record. An error of change is returned as it is.
	Touch(ctx context.Context, of *Table, keys [][]byte, change func(Record) (Record, error)) (n int, err error)
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

// All returns those of the records under the keys that there are, in any order.
func (o Rows[R]) All(v View, keys [][]byte) ([]R, error) { return allAs[R](v.All(o.Table, keys)) }

// List returns the records of a range.
func (o Rows[R]) List(v View, r Range) ([]R, error) { return allAs[R](v.List(o.Table, r)) }

func allAs[R Record](found []Record, err error) (list []R, _ error) {
	for _, one := range found {
		list = append(list, one.(R))
	}
	return list, err
}
