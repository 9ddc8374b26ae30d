package record

import (
	"bytes"
	"context"
	"encoding"
	"encoding/binary"
	"fmt"
)

// A Record is a record that does not belong to a push.
type Record interface {
	encoding.BinaryAppender // appends the value of its row
	// Key returns the key of its row, which does not change.
	Key() []byte
	// Title names the record in messages. It is not secret.
	Title() string
	// Belongs returns the account that must exist as long as the record; 0: none.
	Belongs() AccountID
}

// A Table describes the storage of records of one kind. Each is a row, with a value under a key,
// and indexes find it by other keys. Keys sort as bytes.
type Table struct {
	Name    string
	Dumped  RecordKind // what its records are in a dump; of an added table, the list of tables gives it
	Indexes []*Index

	isNumbered bool   // it assigns numbers, which a dump has
	isOwned    bool   // its records end with the account that they belong to
	byOwner    *Index // whose keys begin with that account; nil: those of the rows do

	Added  Added  // when it was added to those that each engine knows by itself; zero: it is one of them
	Placed bool   // its records are kept under an owner and a number
	many   string // its records, as a message names them
	most   int    // how many an account may have; 0: something else decides that

	// Read returns the record of a row, which shares no memory with it; ErrRecord if it is
	// malformed or has another key.
	Read func(key, value []byte) (Record, error)
}

// An Index finds records of its table. Two records never have the same key in an index.
type Index struct {
	Name string // the indexed field, in messages
	Tail int    // how many bytes at the end of a key are the key of the record's row; 0: none
	// Keys returns the keys that lead to a record.
	Keys func(r Record) [][]byte
}

// A Range selects records of a table in the order of a key.
type Range struct {
	By     *Index // nil: by the keys of the rows
	Prefix []byte // prefix of each key: whole numbers; empty: any
	After  []byte // only records after this key, which need not exist; empty: from the first
	Skip   int    // how many records to skip
	Limit  int    // the most records to list

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

func (o Rows[R]) added(in Added) Rows[R] {
	o.Added = in
	return o
}

func (o Rows[R]) owned(by *Index) Rows[R] {
	o.isOwned, o.byOwner = true, by
	return o
}

// table describes a table. begin returns a record with the fields of its key; ok is false for a
// malformed key.
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
	rows.Added, rows.Placed, rows.many, rows.most = t.Added, true, t.many, t.most
	return rows
}

// NumberKey makes a key from a number.
func NumberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// PairKey makes a key from two numbers.
func PairKey(a, b uint64) []byte { return binary.BigEndian.AppendUint64(NumberKey(a), b) }

// A View reads records of tables.
type View interface {
	// Get returns the record under a key, or ErrNotFound.
	Get(of *Table, key []byte) (Record, error)
	// All returns the existing records among the keys, in any order.
	All(of *Table, keys [][]byte) ([]Record, error)
	// Find returns the record that an index has for a key, or ErrNotFound.
	Find(of *Table, by *Index, key []byte) (Record, error)
	// List returns the records of a range.
	List(of *Table, r Range) ([]Record, error)
	// Last returns the last number that the table assigned; 0: none.
	Last(of *Table) (uint64, error)
}

// A Tx reads and changes records of tables in one step. An operation reads before it writes:
// whether it can read its own writes depends on the engine.
type Tx interface {
	View
	// Put stores a record, in place of the one with its key, if there is one.
	Put(of *Table, r Record) error
	// Delete removes a record, which must be unchanged since it was read.
	Delete(of *Table, r Record) error
	// Next assigns a number of the table, which is never used again.
	Next(of *Table) (uint64, error)
	// Tell appends an event to the instance log. An operation has at most one.
	Tell(e AdminEvent) error
	// Reserve returns ErrFull if there is no space for that many new bytes.
	Reserve(bytes int) error
	// Disown removes the counts of an account in the engine. ErrExists if it still owns pushes. If
	// the operation removes the account, later creates for it fail.
	Disown(id AccountID) error
}

// A TableEngine keeps records of tables.
type TableEngine interface {
	// View calls read with the present records, sometimes several times. If read reads several
	// records, each has the state of its read or of a later moment than those before.
	View(ctx context.Context, read func(View) error) error
	// Update calls change, and commits its writes in one step if it returns nil; otherwise nothing
	// is changed. Update may call change several times; the last call counts.
	Update(ctx context.Context, change func(Tx) error) error
	// Touch applies change to each of the records that still exists, and returns their number. It
	// stores the result of change, which may have another key, or removes the record if that is
	// nil. Use it for fields on which nothing else depends, such as the last use. It may call
	// change several times for a record, and returns its error unchanged.
	Touch(ctx context.Context, of *Table, keys [][]byte, change func(Record) (Record, error)) (n int, err error)
}

// Get returns the record under a key, or ErrNotFound.
func (o Rows[R]) Get(v View, key []byte) (r R, err error) { return as[R](v.Get(o.Table, key)) }

// Find returns the record that an index has for a key, or ErrNotFound.
func (o Rows[R]) Find(v View, by *Index, key []byte) (R, error) {
	return as[R](v.Find(o.Table, by, key))
}

func as[R Record](found Record, err error) (r R, _ error) {
	if err == nil {
		r = found.(R)
	}
	return r, err
}

// All returns the existing records among the keys, in any order.
func (o Rows[R]) All(v View, keys [][]byte) ([]R, error) { return allAs[R](v.All(o.Table, keys)) }

// List returns the records of a range.
func (o Rows[R]) List(v View, r Range) ([]R, error) { return allAs[R](v.List(o.Table, r)) }

func allAs[R Record](found []Record, err error) (list []R, _ error) {
	for _, one := range found {
		list = append(list, one.(R))
	}
	return list, err
}
