package store

import (
	"context"
	"encoding/binary"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
)

// MaxTallied is how many pushes, and how many events, are read at most to count those of the
// last days.
const MaxTallied = 50_000

// Activity has how often something happened on each of the last days, which begin at midnight
// UTC. It is counted in the records that there are: pushes without an account leave none once
// they have ended, so only those of accounts count.
type Activity struct {
	First            time.Time // the first day
	Created, Ended   []int     // pushes of accounts, but for imported ones; nil: there are too many to count
	SignIns, Refused []int     // nil: there are too many events to count
}

// Activity counts what happened in the last days. longest is the longest time limit of a push.
func (s *Store) Activity(ctx context.Context, days int, longest time.Duration) (a Activity, err error) {
	a.First = s.time.Read().Now.UTC().Truncate(record.Day).Add(-time.Duration(days-1) * record.Day)
	if err := s.tallyPushes(ctx, &a, days, longest); err != nil {
		return a, err
	}
	return a, s.tallySignIns(ctx, &a, days)
}

// count adds one to the day of a time.
func (a *Activity) count(days []int, at time.Time) {
	if i := int(at.Sub(a.First) / record.Day); !at.Before(a.First) && i < len(days) {
		days[i]++
	}
}

// tallyPushes reads the pushes that can have been live since the first day. Their IDs begin
// with the time of their creation.
func (s *Store) tallyPushes(ctx context.Context, a *Activity, days int, longest time.Duration) error {
	var after record.ID
	binary.BigEndian.PutUint64(after[:8], uint64(a.First.Add(-longest).UnixMilli())<<16)
	created, ended := make([]int, days), make([]int, days)
	for read := 0; ; {
		ps, err := s.engine.Scan(ctx, after, listBatch)
		if err != nil {
			return err
		}
		for _, p := range ps {
			after = p.ID
			if p.Owner == 0 {
				continue
			}
			a.count(created, p.CreatedAt)
			if !p.Live() {
				a.count(ended, p.ExpiredAt)
			}
		}
		if read += len(ps); read > MaxTallied {
			return nil
		}
		if len(ps) < listBatch {
			a.Created, a.Ended = created, ended
			return nil
		}
	}
}

// tallySignIns reads the instance log from its end. It opens no event.
func (s *Store) tallySignIns(ctx context.Context, a *Activity, days int) error {
	last, err := cold.LastAdminEvent(ctx, s.engine)
	if err != nil {
		return err
	}
	done, refused := make([]int, days), make([]int, days)
	for before := last + 1; ; {
		after := before - min(before, listBatch+1)
		list, err := cold.AdminEvents(ctx, s.engine, after, int(before-1-after))
		if err != nil {
			return err
		}
		for _, e := range list {
			switch e.Kind {
			case record.AdminSignIn:
				a.count(done, e.At)
			case record.AdminSignInRefused:
				a.count(refused, e.At)
			}
		}
		if after == 0 || len(list) == 0 || list[0].At.Before(a.First) {
			a.SignIns, a.Refused = done, refused
			return nil
		}
		if before = after + 1; last-after > MaxTallied {
			return nil
		}
	}
}
