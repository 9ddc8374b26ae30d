package store

import "time"

// due reports how a push stands against the time: over for good, or only in
// doubt because the clock is.
func (at instant) due(p Push) (ended, doubtful bool) {
	ended = p.Live() && !at.ends.Before(p.ExpiresAt)
	doubtful = p.Live() && !ended && !at.denies.Before(p.ExpiresAt)
	return ended, doubtful
}

// end makes a live push one that has expired, when it did. Its key goes with it.
func (p *Push) end(s State, when time.Time, at instant) {
	p.State, p.ExpiredAt, p.UpdatedAt = s, when, at.now
	p.Wrap = nil
}

// release gives up the files of a push, and with them the grants for them.
func (p *Push) release() { p.Files, p.Stored, p.GrantsEnd = nil, 0, time.Time{} }

// endIfDue ends a push whose time is over. Its files go at once: no grant is
// good beyond that time.
func (p *Push) endIfDue(at instant) {
	if ended, _ := at.due(*p); ended {
		p.end(Expired, p.ExpiresAt, at)
		p.release()
	}
}

// log counts an entry of that kind, unless the push has all it may have.
func (p *Push) log(k EntryKind, at instant) {
	if k.Minor() {
		if p.Minor >= MaxMinorEntries {
			return
		}
		p.Minor++
	}
	p.Seq++
	p.UpdatedAt = at.now
}

// settle ends a push whose time is over, and refuses to go on with one whose
// time may be over.
func (p *Push) settle(at instant) error {
	if _, doubtful := at.due(*p); doubtful {
		return ErrClock
	}
	p.endIfDue(at)
	return nil
}

// expireRule ends a push whose time is over and leaves any other as it is.
func expireRule(at instant) Rule {
	return func(p Push) (Push, Entry, error) {
		p.endIfDue(at)
		return p, Entry{}, nil
	}
}

// retrieveRule decides a retrieval by somebody who proved to have the link and
// the passphrase. The entry tells the outcome: a view was counted, the owner
// looked, or there is nothing to see any more. Whoever gets files gets a grant to
// download them, which outlives the last view.
func retrieveRule(by Actor, at instant, sealed []byte, issue *Issue) Rule {
	return func(p Push) (Push, Entry, error) {
		if err := p.settle(at); err != nil {
			return p, Entry{}, err
		}
		e := Entry{Kind: EntryView, At: at.now, Sealed: sealed}
		switch {
		case !p.Live():
			e.Kind = EntryFailedView
		case p.ownedBy(by):
			e.Kind = EntryOwnerView
		default:
			p.Views++
		}
		p.log(e.Kind, at)
		if p.Live() && issue != nil {
			e.Issue, p.GrantsEnd = issue, later(p.GrantsEnd, issue.ExpiresAt)
		}
		if p.Live() && p.Views >= p.ViewLimit {
			p.end(Expired, at.now, at)
		}
		return p, e, nil
	}
}

// wrongPassphraseRule notes a wrong passphrase, or a failed view where the push
// ended before the note was made.
func wrongPassphraseRule(at instant, sealed []byte) Rule {
	return func(p Push) (Push, Entry, error) {
		if err := p.settle(at); err != nil {
			return p, Entry{}, err
		}
		e := Entry{Kind: EntryFailedPassphrase, At: at.now, Sealed: sealed}
		if !p.Live() {
			e.Kind = EntryFailedView
		}
		p.log(e.Kind, at)
		return p, e, nil
	}
}

// deleteRule ends a push by hand: by its owner's, or by anybody's with the link
// where its sender allowed that. A push that has expired stays as it is, but
// that its files cannot be downloaded any more. The entry tells, appended or not,
// whether there was anything to end.
func deleteRule(by Actor, at instant, sealed []byte) Rule {
	return func(p Push) (Push, Entry, error) {
		if !p.ownedBy(by) && !p.DeletableByViewer {
			return p, Entry{}, ErrDenied
		}
		p.endIfDue(at)
		live, held := p.Live(), p.HoldsFiles()
		p.release()
		switch {
		case !live && held:
			return p, Entry{Kind: EntryExpire}, nil
		case !live:
			return p, Entry{}, nil
		}
		p.log(EntryExpire, at)
		p.end(Deleted, at.now, at)
		return p, Entry{Kind: EntryExpire, At: at.now, Sealed: sealed}, nil
	}
}

// releaseRule gives up the files of an expired push whose last grant has ended.
func releaseRule(at instant) Rule {
	return func(p Push) (Push, Entry, error) {
		if !p.Live() && !at.ends.Before(p.filesEnd()) {
			p.release()
		}
		return p, Entry{}, nil
	}
}

// purgeRule takes a push away altogether, if it still waits on that shelf.
func purgeRule(from Shelf) Rule {
	return func(p Push) (Push, Entry, error) {
		if s, _ := p.Shelf(); s == from {
			p.State = Purged
		}
		return p, Entry{}, nil
	}
}

// ownedBy reports whether the actor is the push's owner. Nobody owns an
// anonymous push, not even another anonymous caller.
func (p Push) ownedBy(a Actor) bool { return a.Account != 0 && p.Owner == a.Account }
