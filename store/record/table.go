package record

import (
	"bytes"
	"context"
	"encoding"
	"encoding/binary"
	"fmt"
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
	Dumped  RecordKind // what its records are in a dump; of an added table, the list of tables gives it
	Indexes []*Index

	isNumbered bool   // it gives out numbers, which a dump has
	isOwned    bool   // its records end with the account that they belong to
	byOwner    *Index // whose keys begin with that account; nil: those of the rows do

	Added Added  // when it was added to those that each engine knows by itself; zero: it is one of them
	many  string // its records, as a message names them
	most  int    // how many an account may have; 0: something else decides that

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

// Added says which schema of each engine was the first with a table.
type Added struct{ Bolt, Postgres int }

// Room returns an *InvalidError if an account that has n records of the table may have no more.
func (t *Table) Room(n int) error {
	var bad InvalidError
	if t.most > 0 && n >= t.most {
		bad.Add(t.many, fmt.Sprintf("are too many: the account has %d, the most that there can be", n))
	}
	return bad.Err()
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

// A Placed record is kept under its owner and a number, which only this gives it.
type Placed[R any] interface {
	*R
	Place(owner AccountID, number uint64)
}

// placed completes the description of a table of records that are kept under their owner and a number.
func placed[R Record, P interface {
	Placed[R]
	encoding.BinaryUnmarshaler
}](t Table) Rows[R] {
	rows := table[R, P](t.Name, t.Dumped, func(key []byte) (r R, ok bool) {
		if len(key) != 2*8 {
			return r, false
		}
		P(&r).Place(AccountID(binary.BigEndian.Uint64(key)), binary.BigEndian.Uint64(key[8:]))
		return r, true
	}).numbered().owned(nil)
	rows.Added, rows.many, rows.most = t.Added, t.many, t.most
	return rows
}

// NumberKey is the key that is one number.
func NumberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// PairKey is the key that is two numbers.
func PairKey(a, b uint64) []byte { return binary.BigEndian.AppendUint64(NumberKey(a), b) }

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
