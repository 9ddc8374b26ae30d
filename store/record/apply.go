package record

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"time"
)

// Apply runs a rule for an engine, and refuses changes that rules may not make. If the rule panics
// it returns an error.
func (r Rule) Apply(p Push) (next Push, e Entry, err error) {
	if broken := CatchPanic(func() { next, e, err = r(p) }); broken != nil {
		return p, Entry{}, broken
	}
	switch {
	case err != nil:
		return p, Entry{}, err
	case next.ID != p.ID:
		return p, Entry{}, errors.New("a rule changed the ID of a push")
	case next.Seq != p.Seq && next.Seq != p.Seq+1:
		return p, Entry{}, fmt.Errorf("a rule went from audit entry %d to %d", p.Seq, next.Seq)
	}
	return next, e, nil
}

// WithoutEntry returns next, which a rule made from p, as if the rule had not counted an audit
// entry.
func (p Push) WithoutEntry(next Push) Push {
	next.Seq, next.Minor, next.UpdatedAt = p.Seq, p.Minor, p.UpdatedAt
	return next
}

// CatchPanic runs a rule or another caller's function. A panic must not end the engine. The error
// does not contain the panic's value, which may be a secret.
func CatchPanic(ask func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
		}
	}()
	ask()
	return nil
}

func panicError(v any) error {
	if re, ok := v.(runtime.Error); ok {
		return fmt.Errorf("a rule panicked: %w", re)
	}
	return fmt.Errorf("a rule panicked with a %T", v)
}

// Ended returns which of an account's sessions the change ends, oldest first. by is the session
// that asks for the change.
func (c SessionChange) Ended(all []Session, by SessionDigest) (gone []Session) {
	var like []Session // the sessions among which the new one counts
	for _, s := range all {
		switch own := s.Digest == by; {
		case c.Revoke == RevokeOwn && own, c.Revoke == RevokeOthers && !own, c.Revoke == RevokeVia && c.Via.Has(s):
			gone = append(gone, s)
		case c.Begin != nil && c.Begin.Pending == s.Pending:
			like = append(like, s)
		}
	}
	if c.Begin == nil {
		return gone
	}
	over := len(like) + 1 - c.Most
	return append(gone, like[:min(max(over, 0), len(like))]...)
}

// Count adds to the count of a day, and returns the new count; a *QuotaError if that exceeds the
// quota.
func (q Quota) Count(day, n uint64) (newDay, newN uint64, err error) {
	if day < q.Day {
		day, n = q.Day, 0
	}
	if n+q.Add > q.Most {
		return 0, 0, &QuotaError{Of: q.Whose()}
	}
	return day, n + q.Add, nil
}

// Select lists the messages that q selects from all messages, which are sorted by the time of their
// next try. It returns the time of the first message that only q.Until or q.Limit excludes.
func (q MessageQuery) Select(all iter.Seq2[Message, error]) (due []Message, next time.Time, err error) {
	taken := make(map[uint64]int) // by recipient
	for m, err := range all {
		switch {
		case err != nil:
			return nil, time.Time{}, err
		case m.Route != q.Route || q.Except[m.To] || q.Each > 0 && taken[m.To] >= q.Each:
			continue
		case len(due) >= q.Limit || m.NextAt.After(q.Until):
			return due, m.NextAt, nil
		}
		taken[m.To]++
		due = append(due, m)
	}
	return due, time.Time{}, nil
}
