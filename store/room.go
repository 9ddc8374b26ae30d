package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pushbox/store/record"
)

// atMost returns the lower of two limits, of which 0 is none.
func atMost(r record.Room, o record.Room) record.Room {
	if r.Pushes == 0 || o.Pushes != 0 && o.Pushes < r.Pushes {
		r.Pushes = o.Pushes
	}
	if r.Bytes == 0 || o.Bytes != 0 && o.Bytes < r.Bytes {
		r.Bytes = o.Bytes
	}
	return r
}

// holder returns what the record of a push says of the client that makes it. To sign up must not
// lift the bounds of a client, however many accounts it makes.
func (s *Store) holder(by Actor, policy Policy) record.Holder {
	if by.Account != 0 && !policy.Unconfirmed || by.Local || by.Client == "" {
		return record.Holder{}
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
	return s.hasRoom(ctx, record.Push{Owner: by.Account, Holder: s.holder(by, policy)}, record.Room{Pushes: 1, Bytes: bytes}, policy.Room)
}

// hasRoom returns a *RoomError if another push of that Owner and Holder that takes more would be refused
// now, where they may have most: see Entry.Most.
func (s *Store) hasRoom(ctx context.Context, of record.Push, more, most record.Room) error {
	most = s.opts.Load().Space.Room.Most(of, most)
	if most == (record.Room{}) {
		return nil
	}
	has, err := s.engine.Rooms(ctx, []record.Push{of})
	if err == nil && !has[0].Plus(more).Within(most) {
		err = &record.RoomError{Of: of.RoomOf()}
	}
	return err
}

// AccountRooms returns the room of those accounts that have a live push, or files that can
// still be downloaded.
func (s *Store) AccountRooms(ctx context.Context, of []record.AccountID) (map[record.AccountID]record.Room, error) {
	senders := make([]record.Push, len(of))
	for i, id := range of {
		senders[i].Owner = id
	}
	has, err := s.engine.Rooms(ctx, senders)
	if err != nil {
		return nil, err
	}
	rooms := make(map[record.AccountID]record.Room)
	for i, r := range has {
		if r != (record.Room{}) {
			rooms[of[i]] = r
		}
	}
	return rooms, nil
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
func (s *Store) PurgeAnonymous(ctx context.Context, by Actor, in Purge) (gone record.Room, err error) {
	if !by.administers() {
		return gone, record.ErrDenied
	}
	before := s.time.Read().Ends.Add(-in.OlderThan)
	for ps, err := range s.scan(ctx) {
		if err != nil {
			return gone, err
		}
		var chosen []record.Push
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
	return gone, errors.Join(err, s.as(by).note(ctx, record.AdminPurge, matter{detail: fmt.Sprintf("%d pushes, %d bytes", gone.Pushes, gone.Bytes)}))
}
