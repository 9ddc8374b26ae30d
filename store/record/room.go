package record

import (
	"cmp"
)

// A Holder represents a client in the records of pushes that it made without an account, or with an
// unconfirmed one. It is an HMAC of the client's address, or of the /64 of an IPv6 address. Zero:
// the client is unknown or on this machine.
type Holder [16]byte

// Room is the space of pushes that can be retrieved: their number, and the bytes of their sealed
// payloads, names, notes and files.
type Room struct {
	Pushes int   `json:"pushes"`
	Bytes  int64 `json:"bytes"`
}

// Room returns the space of a push: zero once it has ended and its files are removed.
func (p Push) Room() (r Room) {
	if p.Live() {
		r = Room{Pushes: 1, Bytes: p.Size}
	}
	r.Bytes += p.Stored
	return r
}

// RoomOf says whose room a push uses. With a Holder, that of its client and of all anonymous
// clients; else that of its owner, or of all anonymous clients only.
func (p Push) RoomOf() RoomOf {
	switch {
	case p.Holder != Holder{}:
		return RoomOfClient
	case p.Owner != 0:
		return RoomOfAccount
	default:
		return RoomOfAnonymous
	}
}

// Plus returns the sum of both.
func (r Room) Plus(o Room) Room { return Room{r.Pushes + o.Pushes, r.Bytes + o.Bytes} }

// Minus returns the difference.
func (r Room) Minus(o Room) Room { return Room{r.Pushes - o.Pushes, r.Bytes - o.Bytes} }

// Within reports whether the room is within limits; 0 means no limit.
func (r Room) Within(most Room) bool {
	return (most.Pushes == 0 || r.Pushes <= most.Pushes) && (most.Bytes == 0 || r.Bytes <= most.Bytes)
}

// RoomLimits bound what senders may have live at once.
type RoomLimits struct {
	Client    Room // of one anonymous client; 0: no limit
	Account   Room // of one account without a policy; 0: no limit
	Anonymous int  // percent of the store's space that all anonymous pushes together may take; 0: no limit
}

// Most returns the room that the sender of a push may use. most is Entry.Most, which replaces the
// general limit of an account.
func (l RoomLimits) Most(p Push, most Room) Room {
	switch {
	case p.Owner == 0:
		return l.Client
	case p.RoomOf() == RoomOfAccount:
		return cmp.Or(most, l.Account)
	default:
		return cmp.Or(most, l.Client)
	}
}

// A RoomOf says whose room is used up.
type RoomOf uint8

// Whose room it is.
const (
	RoomOfClient RoomOf = 1 + iota
	RoomOfAccount
	RoomOfAnonymous // of all anonymous clients together
)

// A RoomError is an ErrRoom that says whose room is used up.
type RoomError struct{ Of RoomOf }

func (*RoomError) Error() string { return ErrRoom.Error() }

// Unwrap returns ErrRoom.
func (*RoomError) Unwrap() error { return ErrRoom }
