package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// A Holder stands for a client in the records of pushes that it made without an account, or with
// one whose address is not confirmed: an HMAC of its address, or of the /64 of an IPv6 address. Zero:
// it is not known, or is on this machine.
type Holder [16]byte

// Room is what pushes take while they can be retrieved: their number, and the bytes of
// their sealed payloads, names, notes and files.
type Room struct {
	Pushes int   `json:"pushes"`
	Bytes  int64 `json:"bytes"`
}

// Room returns what a push takes: nothing once it has ended and its files are gone.
func (p Push) Room() (r Room) {
	if p.Live() {
		r = Room{Pushes: 1, Bytes: p.Size}
	}
	r.Bytes += p.Stored
	return r
}

// RoomOf says whose room a push takes: that of its client, beside that of all anonymous ones, where
// it has a Holder; else of its owner, or of all anonymous clients alone.
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

// Plus returns the room of both.
func (r Room) Plus(o Room) Room { return Room{r.Pushes + o.Pushes, r.Bytes + o.Bytes} }

// Minus returns the room without o.
func (r Room) Minus(o Room) Room { return Room{r.Pushes - o.Pushes, r.Bytes - o.Bytes} }

// Within reports whether the room is within limits, of which 0 is none.
func (r Room) Within(most Room) bool {
	return (most.Pushes == 0 || r.Pushes <= most.Pushes) && (most.Bytes == 0 || r.Bytes <= most.Bytes)
}

// atMost returns the lower of two limits, of which 0 is none.
func (r Room) atMost(o Room) Room {
	if r.Pushes == 0 || o.Pushes != 0 && o.Pushes < r.Pushes {
		r.Pushes = o.Pushes
	}
	if r.Bytes == 0 || o.Bytes != 0 && o.Bytes < r.Bytes {
		r.Bytes = o.Bytes
	}
	return r
}

// RoomLimits bound what senders may have live at once.
type RoomLimits struct {
	Client    Room // of one anonymous client; 0: no limit
	Account   Room // of one account without a policy; 0: no limit
	Anonymous int  // percent of the store's space that all anonymous pushes together may take; 0: no limit
}

// Most is what the sender of a push may have live; most is Entry.Most, which an account may have
// in place of the limit for all.
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

// holder returns what the record of a push says of the client that makes it. To sign up must not
// lift the bounds of a client, however many accounts it makes.
func (s *Store) holder(by Actor, policy Policy) Holder {
	if by.Account != 0 && !policy.Unconfirmed || by.Local || by.Client == "" {
		return Holder{}
	}
	return s.ring.Load().MAC("anonymous client " + by.Client) // no url_token has a space
}

// HasRoom returns a *RoomError if a push with files of that size would be refused now:
// an upload that asks need not run to its end. CreatePush decides. A caller without an
// account has room, since only accounts may upload files.
func (s *Store) HasRoom(ctx context.Context, by Actor, bytes int64) error {
	if by.Account == 0 {
		return nil
	}
	policy, err := s.PolicyOf(ctx, by)
	if err != nil {
		return err
	}
	return s.engine.HasRoom(ctx, Push{Owner: by.Account, Holder: s.holder(by, policy)}, Room{Pushes: 1, Bytes: bytes}, policy.Room)
}

// AccountRooms returns the room of those accounts that have a live push, or files that can
// still be downloaded.
func (s *Store) AccountRooms(ctx context.Context, of []AccountID) (map[AccountID]Room, error) {
	return s.engine.AccountRooms(ctx, of)
}

// A Purge selects live pushes without an account.
type Purge struct {
	OlderThan  time.Duration // created longer ago than this
	LargerThan int64         // with more bytes than this
	DryRun     bool          // count them, and change nothing
}

// PurgeAnonymous removes the pushes of a Purge, with their files and audit logs, and
// returns what they took. Their links end at once. If it is cut short, those that are gone
// stay gone. ErrDenied for a client.
func (s *Store) PurgeAnonymous(ctx context.Context, by Actor, in Purge) (gone Room, err error) {
	if !by.administers() {
		return gone, ErrDenied
	}
	before := s.time.Read().Ends.Add(-in.OlderThan)
	for ps, err := range s.scan(ctx) {
		if err != nil {
			return gone, err
		}
		var chosen []Push
		for _, p := range ps {
			if takes := p.Room(); p.Owner == 0 && takes.Bytes > in.LargerThan && !p.CreatedAt.After(before) {
				chosen, gone = append(chosen, p), gone.Plus(takes)
			}
		}
		if in.DryRun || len(chosen) == 0 {
			continue
		}
		if err := s.purge(ctx, chosen); err != nil {
			return gone, err
		}
	}
	if in.DryRun {
		return gone, nil
	}
	err = s.freeOrphans(ctx)
	return gone, errors.Join(err, s.as(by).note(ctx, AdminPurge, matter{detail: fmt.Sprintf("%d pushes, %d bytes", gone.Pushes, gone.Bytes)}))
}
