package store

import "time"

// editRule sets the limits of a live push anew: its owner's doing. What does not
// change is not held against the terms, which may have been others once. A push
// that has expired stays as it is.
func editRule(by Actor, at instant, sealed []byte, terms map[Kind]Terms, e PushEdit) Rule {
	return func(p Push) (Push, Entry, error) {
		if !p.ownedBy(by) {
			return p, Entry{}, ErrDenied
		}
		if err := p.settle(at); err != nil {
			return p, Entry{}, err
		}
		newDays, newViews := p.setsDays(e.Days), e.Views != nil && *e.Views != p.ViewLimit
		if !p.Live() || !newDays && !newViews {
			return p, Entry{}, nil
		}
		var bad InvalidError
		next := p
		days, views := p.editBounds(terms[p.Kind], at)
		if newDays {
			next.Days = days.pick("expire_after_days", e.Days, &bad)
			next.ExpiresAt = p.CreatedAt.Add(time.Duration(next.Days) * day)
		}
		if newViews {
			next.ViewLimit = views.pick("expire_after_views", e.Views, &bad)
		}
		if err := bad.Err(); err != nil {
			return p, Entry{}, err
		}
		next.log(EntryEdit, at)
		next.UpdatedAt = at.now // where the log is full, too
		return next, Entry{Kind: EntryEdit, At: at.now, Sealed: sealed}, nil
	}
}

// setsDays reports whether a number of days is another time limit than the push
// has, which may be less than whole days.
func (p Push) setsDays(days *int) bool { return days != nil && (*days != p.Days || !p.InDays()) }

// InDays reports whether the time limit is whole days.
func (p Push) InDays() bool { return p.ExpiresAt.Equal(p.CreatedAt.Add(time.Duration(p.Days) * day)) }

// editBounds are what the limits of a live push may become: what the terms allow,
// as long as the end is to come and a view is left. The defaults are what they are.
func (p Push) editBounds(t Terms, at instant) (days, views Range) {
	begun := int(at.denies.Sub(p.CreatedAt)/day) + 1 // days: the last of them has not passed
	days = Range{Default: p.Days, Min: max(t.Days.Min, begun), Max: t.Days.Max}
	views = Range{Default: p.ViewLimit, Min: max(t.Views.Min, p.Views+1), Max: t.Views.Max}
	return days, views
}
