package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"pushbox/store/record"
)

// Rows of room count the live pushes of senders. They change in the transaction that changes a
// push, even if the push's own change goes to the journal. The key of a row begins with one of
// these; for the first two, the sender follows.
const (
	roomOfAccount   = 'a' // followed by the account ID as uint64
	roomOfClient    = 'c' // followed by the record.Holder
	roomOfAnonymous = 't'
)

// roomLen is the length of the value: pushes and bytes, as uint64 each.
const roomLen = 8 + 8

// percent is 100 percent.
const percent = 100

func accountRoom(id record.AccountID) []byte {
	return binary.BigEndian.AppendUint64([]byte{roomOfAccount}, uint64(id))
}

func clientRoom(h record.Holder) []byte { return append([]byte{roomOfClient}, h[:]...) }

// ownRoom returns the key of the row of a push's sender, and whose room it is; nil: there is no
// row.
func ownRoom(p record.Push) ([]byte, record.RoomOf) {
	switch of := p.RoomOf(); of {
	case record.RoomOfClient:
		return clientRoom(p.Holder), of
	case record.RoomOfAccount:
		return accountRoom(p.Owner), of
	default:
		return nil, of
	}
}

// roomKeys are the keys of the rows that a push counts in.
func roomKeys(p record.Push) (all [][]byte) {
	own, of := ownRoom(p)
	if own != nil {
		all = append(all, own)
	}
	if of != record.RoomOfAccount {
		all = append(all, []byte{roomOfAnonymous})
	}
	return all
}

// room reads a row; zero if there is none.
func (t *tx) room(key []byte) (record.Room, error) {
	v := t.get(room, key)
	if v == nil {
		return record.Room{}, nil
	}
	return readRoom(v)
}

func readRoom(v []byte) (record.Room, error) {
	if len(v) != roomLen {
		return record.Room{}, fmt.Errorf("%w: %s: a record of %d bytes", record.ErrCorrupt, room, len(v))
	}
	n, bytes := binary.BigEndian.Uint64(v), binary.BigEndian.Uint64(v[8:])
	if n > math.MaxInt32 || bytes > math.MaxInt64 {
		return record.Room{}, fmt.Errorf("%w: %s: a record is malformed", record.ErrCorrupt, room)
	}
	return record.Room{Pushes: int(n), Bytes: int64(bytes)}, nil
}

func roomValue(r record.Room) []byte {
	return binary.BigEndian.AppendUint64(uint64Key(uint64(r.Pushes)), uint64(r.Bytes))
}

// countRoom changes the rows of a push from its old to its new room. A damaged row does not stop a
// push from ending: it stays unchanged, and a check reports it.
func (t *tx) countRoom(p record.Push, before, after record.Room) error {
	change := after.Minus(before)
	if change == (record.Room{}) {
		return nil
	}
	for _, key := range roomKeys(p) {
		err := func() (err error) {
			defer catchUnreadable(&err)
			return t.addRoom(key, change)
		}()
		if err != nil && (!errors.Is(err, record.ErrCorrupt) || change.Pushes > 0) {
			return err
		}
	}
	return nil
}

func (t *tx) addRoom(key []byte, change record.Room) error {
	r, err := t.room(key)
	if err != nil {
		return err
	}
	r = r.Plus(change)
	if r.Pushes < 0 || r.Bytes < 0 {
		return fmt.Errorf("%w: %s: its count is too low", record.ErrCorrupt, room)
	}
	if r == (record.Room{}) {
		return t.delete(room, key)
	}
	return t.put(room, key, roomValue(r))
}

// mayHold refuses a new push if its sender has no room; most is Entry.Most. The allowance must have
// been measured.
func (t *tx) mayHold(p record.Push, l record.RoomLimits, most record.Room) error {
	more := p.Room()
	own, of := ownRoom(p)
	if own != nil {
		if err := t.fits(own, more, l.Most(p, most), of); err != nil {
			return err
		}
	}
	if of == record.RoomOfAccount {
		return nil
	}
	return t.fits([]byte{roomOfAnonymous}, more, t.anonymousRoom(l.Anonymous), record.RoomOfAnonymous)
}

// fits refuses a push that would make the room of a row exceed most; zero: no limit.
func (t *tx) fits(key []byte, more, most record.Room, of record.RoomOf) error {
	if most == (record.Room{}) {
		return nil
	}
	r, err := t.room(key)
	if err == nil && !r.Plus(more).Within(most) {
		err = &record.RoomError{Of: of}
	}
	return err
}

// anonymousRoom returns a share of the used bytes and of those that creates may still use; no limit
// if these have none.
func (t *tx) anonymousRoom(share int) (most record.Room) {
	if share != 0 && t.allowance.bound != "" {
		most.Bytes = max(1, t.allowance.whole/percent*int64(share))
	}
	return most
}

// Rooms returns the room of the sender of each of these pushes.
func (db *DB) Rooms(ctx context.Context, of []record.Push) ([]record.Room, error) {
	return viewed(ctx, db, func(t *tx) ([]record.Room, error) {
		all := make([]record.Room, len(of))
		for i, p := range of {
			own, _ := ownRoom(p)
			r, err := t.room(own)
			if err != nil {
				return nil, err
			}
			all[i] = r
		}
		return all, nil
	})
}

// rooms are the rows of room that the pushes require.
type rooms map[string]record.Room

func (r rooms) add(p record.Push) {
	takes := p.Room()
	if takes == (record.Room{}) {
		return
	}
	for _, key := range roomKeys(p) {
		r[string(key)] = r[string(key)].Plus(takes)
	}
}

// checkRooms reports rows of room that differ from those.
func (c *checker) checkRooms() error {
	err := c.each(room, func(k, v []byte) error {
		r, err := readRoom(v)
		switch want := c.rooms[string(k)]; {
		case err != nil:
			c.notef("room: a record is malformed")
		case r != want:
			c.notef("room: a sender has %d pushes of %d bytes, but a row counts %d of %d", want.Pushes, want.Bytes, r.Pushes, r.Bytes)
		}
		delete(c.rooms, string(k))
		return nil
	})
	if err == nil && len(c.rooms) > 0 {
		c.notef("room: %d senders have pushes, but no row counts them", len(c.rooms))
	}
	return err
}
