package store

import (
	"time"

	"pushbox/store/clock"
	"pushbox/store/record"
)

// isDue reports whether the time of a live push is over, or otherwise whether that is in doubt
// because the clock is.
func isDue(p record.Push, at clock.Instant) (ended, doubtful bool) {
	ended = p.Live() && !at.Ends.Before(p.ExpiresAt)
	doubtful = p.Live() && !ended && !at.Denies.Before(p.ExpiresAt)
	return ended, doubtful
}

// keptDetails is how many bytes of name and note outlive a push that counts for its client. Ended
// pushes use no room, so without this bound unconfirmed accounts could store data for free.
const keptDetails = 512

// endPush marks a live push as expired at expiredAt, and removes its keys and its link.
func endPush(p *record.Push, s record.State, expiredAt, now time.Time) {
	p.State, p.ExpiredAt, p.UpdatedAt = s, expiredAt, now
	p.Wrap, p.Link, p.WrappedKey = nil, nil, nil
	p.Frozen = false
	if p.Owner == 0 || p.RoomOf() == record.RoomOfClient && len(p.Details) > keptDetails {
		p.Details = nil
	}
}

// releaseFiles removes the files of a push, and with them the grants for them.
func releaseFiles(p *record.Push) { p.Files, p.Stored, p.GrantsEnd = nil, 0, time.Time{} }

// endIfDue ends a push whose time is over. Its files go at once, since no grant lasts
// beyond that time.
func endIfDue(p *record.Push, at clock.Instant) {
	if ended, _ := isDue(*p, at); ended {
		endPush(p, record.Expired, p.ExpiresAt, at.Now)
		releaseFiles(p)
	}
}

// logEntry counts an entry of that kind, unless the push has MaxMinorEntries.
func logEntry(p *record.Push, k record.EntryKind, at clock.Instant) {
	if k.Minor() {
		if p.Minor >= MaxMinorEntries {
			return
		}
		p.Minor++
	}
	p.Seq++
	p.UpdatedAt = at.Now
}

// endOrDoubt ends a push whose time is over. ErrClock if that is in doubt.
func endOrDoubt(p *record.Push, at clock.Instant) error {
	if _, doubtful := isDue(*p, at); doubtful {
		return record.ErrClock
	}
	endIfDue(p, at)
	return nil
}

// endOrEarly ends a push whose time is over. An *EarlyError for a live one that cannot be opened yet,
// and ErrClock if either is in doubt: a push that was opened once cannot be closed again.
func endOrEarly(p *record.Push, at clock.Instant) error {
	err := endOrDoubt(p, at)
	switch {
	case err != nil || !p.Live() || !p.Early(at.Ends):
		return err
	case !p.Early(at.Denies):
		return record.ErrClock
	default:
		return &record.EarlyError{OpensAt: p.OpensAt, Wait: p.OpensAt.Sub(at.Ends)}
	}
}

// countView counts a view. The first one brings forward the end of a push that closes after it.
// ErrClock if the time is in doubt on which that end depends.
func countView(p *record.Push, at clock.Instant) error {
	if p.Views == 0 && p.CloseAfter > 0 {
		if at.Jumped {
			return record.ErrClock
		}
		if end := at.Now.Add(p.CloseAfter); end.Before(p.ExpiresAt) {
			p.SetEnd(end)
		}
	}
	p.Views++
	return nil
}

// isUnread reports whether a live push ends within remindAhead and has no view, and its owner is to be
// told so. A push of an account that counts for its client has no owner who gets mail.
func isUnread(p record.Push, at clock.Instant) bool {
	left := p.ExpiresAt.Sub(at.Now)
	return p.Live() && p.RoomOf() == record.RoomOfAccount && p.Views == 0 && p.ReadAt.IsZero() && !p.Early(at.Now) &&
		left > 0 && left <= remindAhead && p.ExpiresAt.Sub(p.CreatedAt) > remindLife
}

func isReminded(p record.Push) bool { return p.Reminded }

// remindRule notes that the owner of a push is reminded of its end, once.
func remindRule(at clock.Instant) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		p.Reminded = p.Reminded || isUnread(p, at)
		return p, record.Entry{}, nil
	}
}

// expireRule ends a push whose time is over, and does not change any other.
func expireRule(at clock.Instant) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		endIfDue(&p, at)
		return p, record.Entry{}, nil
	}
}

// retrieveRule decides a retrieval by a caller with the link and the right passphrase. The entry is
// the outcome: a counted view, a view by the owner, or a failed view of an expired push. issue is
// the grant to download its files, which outlives the last view. An *EarlyError for a push that
// cannot be opened yet, not even by its owner.
func retrieveRule(by Actor, at clock.Instant, sealed []byte, issue *record.NewGrant) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		if err := endOrEarly(&p, at); err != nil {
			return p, record.Entry{}, err
		}
		e := record.Entry{Kind: record.EntryView, At: at.Now, Sealed: sealed}
		switch {
		case !p.Live():
			e.Kind = record.EntryFailedView
		case ownedBy(p, by):
			e.Kind = record.EntryOwnerView
			if p.IsAnswer() && p.ReadAt.IsZero() {
				p.ReadAt = at.Now
			}
		default:
			if err := countView(&p, at); err != nil {
				return p, record.Entry{}, err
			}
		}
		logEntry(&p, e.Kind, at)
		if p.Live() && issue != nil {
			e.Grant, p.GrantsEnd = issue, record.Later(p.GrantsEnd, issue.ExpiresAt)
		}
		if p.Live() && p.Views >= p.ViewLimit {
			endPush(&p, record.Expired, at.Now, at.Now)
		}
		return p, e, nil
	}
}

// wrongPassphraseRule records a wrong passphrase. After most of them (0: no limit) the push is
// frozen. A push that has ended does not change and gets no entry.
func wrongPassphraseRule(at clock.Instant, sealed []byte, most int) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		if err := endOrDoubt(&p, at); err != nil {
			return p, record.Entry{}, err
		}
		if !p.Live() {
			return p, record.Entry{}, nil
		}
		e := record.Entry{Kind: record.EntryFailedPassphrase, At: at.Now, Sealed: sealed}
		p.Failed++
		if most > 0 && p.Failed >= most && !p.Frozen {
			p.Frozen, e.Kind = true, record.EntryFreeze
		}
		logEntry(&p, e.Kind, at)
		return p, e, nil
	}
}

// thawRule unfreezes a push for its sender and counts wrong passphrases from 0 again. A push that
// is not frozen does not change.
func thawRule(by Actor, at clock.Instant, sealed []byte) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		if !sentBy(p, by) {
			return p, record.Entry{}, record.ErrDenied
		}
		if err := endOrDoubt(&p, at); err != nil {
			return p, record.Entry{}, err
		}
		if !p.Live() || !p.Frozen {
			return p, record.Entry{}, nil
		}
		p.Frozen, p.Failed = false, 0
		logEntry(&p, record.EntryThaw, at)
		return p, record.Entry{Kind: record.EntryThaw, At: at.Now, Sealed: sealed}, nil
	}
}

// deleteRule ends a push for its sender, for an administrator, or for any client with the link if
// the sender allowed that. A push that has expired only loses its files. If there was anything to
// end, the entry has kind EntryExpire, even if it is not appended.
func deleteRule(by Actor, at clock.Instant, sealed []byte) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		if !sentBy(p, by) && !by.administers() && !p.DeletableByViewer {
			return p, record.Entry{}, record.ErrDenied
		}
		endIfDue(&p, at)
		live, held := p.Live(), p.HoldsFiles()
		releaseFiles(&p)
		switch {
		case !live && held:
			return p, record.Entry{Kind: record.EntryExpire}, nil
		case !live:
			return p, record.Entry{}, nil
		}
		logEntry(&p, record.EntryExpire, at)
		endPush(&p, record.Deleted, at.Now, at.Now)
		return p, record.Entry{Kind: record.EntryExpire, At: at.Now, Sealed: sealed}, nil
	}
}

// releaseRule removes the files of an expired push whose last grant has ended.
func releaseRule(at clock.Instant) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		if !p.Live() && !at.Ends.Before(p.FilesEnd()) {
			releaseFiles(&p)
		}
		return p, record.Entry{}, nil
	}
}

// purgeRule removes a push, if it still waits in that queue.
func purgeRule(from record.ExpiryQueue) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		if s, _ := p.ExpiryQueue(); s == from {
			p.State = record.Purged
		}
		return p, record.Entry{}, nil
	}
}

// purgeAlways removes a push in any state.
func purgeAlways(p record.Push) (record.Push, record.Entry, error) {
	p.State = record.Purged
	return p, record.Entry{}, nil
}

// restoreRule decides the state of a push in a restored backup. A live push ends as by a delete of
// the operator. With keepLive it stays live and gets an entry that says so. That entry ignores
// MaxMinorEntries, since only the operator can cause it. A restore removes grants, so the files of
// an expired push go too.
func restoreRule(at clock.Instant, sealed []byte, keepLive bool) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		endIfDue(&p, at)
		e := record.Entry{Kind: record.EntryExpire, At: at.Now, Sealed: sealed}
		switch {
		case !p.Live():
			releaseFiles(&p)
			return p, record.Entry{}, nil
		case keepLive:
			e.Kind, p.GrantsEnd = record.EntryEdit, time.Time{}
			p.Minor++
			p.Seq++
			p.UpdatedAt = at.Now
			return p, e, nil
		}
		releaseFiles(&p)
		logEntry(&p, record.EntryExpire, at)
		endPush(&p, record.Deleted, at.Now, at.Now)
		return p, e, nil
	}
}

// editRule changes limits, name and note of a live push for its owner. An unchanged limit need not
// be within the terms, which may have changed since the push was made. A push that has expired does
// not change. rename returns the sealed details.
func editRule(by Actor, at clock.Instant, sealed []byte, terms map[record.Kind]Terms, e PushEdit, rename func(record.Push, PushEdit) ([]byte, bool, error)) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		if !ownedBy(p, by) {
			return p, record.Entry{}, record.ErrDenied
		}
		if err := endOrDoubt(&p, at); err != nil {
			return p, record.Entry{}, err
		}
		newDays, newViews := setsDays(p, e.Days), e.Views != nil && *e.Views != p.ViewLimit
		if !p.Live() {
			return p, record.Entry{}, nil
		}
		details, renamed, err := rename(p, e)
		if err != nil || !newDays && !newViews && !renamed {
			return p, record.Entry{}, err
		}
		var bad record.InvalidError
		next := p
		if renamed {
			next.Details = details
			next.Size += int64(len(details) - len(p.Details)) // its length counts for the room of the owner
			e.check(&bad)
		}
		days, views := editBounds(p, termsOf(terms, p.Kind, p.HoldsFiles()), at)
		if newDays {
			next.Days = days.pick(FieldDays, e.Days, &bad)
			next.ExpiresAt = p.CreatedAt.Add(time.Duration(next.Days) * record.Day)
			next.Reminded = p.Reminded && next.ExpiresAt.Sub(at.Now) <= remindAhead
		}
		if newViews {
			next.ViewLimit = views.pick(FieldViews, e.Views, &bad)
		}
		if err := bad.Err(); err != nil {
			return p, record.Entry{}, err
		}
		logEntry(&next, record.EntryEdit, at)
		next.UpdatedAt = at.Now // even if the log is full
		return next, record.Entry{Kind: record.EntryEdit, At: at.Now, Sealed: sealed}, nil
	}
}

// check refuses words that are too long.
func (e PushEdit) check(bad *record.InvalidError) {
	if e.Name != nil {
		checkLength(FieldName, e.Name.Len(), MaxName, bad)
	}
	if e.Note != nil {
		checkLength(FieldNote, e.Note.Len(), MaxNote, bad)
	}
}

// setsDays reports whether a number of days differs from the time limit of the push, which may be
// less than whole days.
func setsDays(p record.Push, days *int) bool { return days != nil && (*days != p.Days || !p.InDays()) }

// editBounds returns the allowed limits of a live push: within the terms, with its end in the
// future and after the time from which it can be opened, and a view left. The defaults are the limits that it has.
func editBounds(p record.Push, t Terms, at clock.Instant) (days, views Range) {
	begun := int(record.Later(at.Denies, p.OpensAt).Sub(p.CreatedAt)/record.Day) + 1 // days, including the current one
	days = Range{Default: p.Days, Min: max(t.Days.Min, begun), Max: t.Days.Max}
	views = Range{Default: p.ViewLimit, Min: max(t.Views.Min, p.Views+1), Max: t.Views.Max}
	return days, views
}

// mailRule sends mail for a live push. For a push that has expired it does nothing.
func mailRule(by Actor, at clock.Instant, e record.Entry) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		if !ownedBy(p, by) {
			return p, record.Entry{}, record.ErrDenied
		}
		if err := endOrDoubt(&p, at); err != nil {
			return p, record.Entry{}, err
		}
		if !p.Live() {
			return p, record.Entry{}, nil
		}
		p.TypedReveal = true // mail gateways open links and press buttons
		logEntry(&p, e.Kind, at)
		return p, e, nil
	}
}

// ownedBy reports whether the actor is the push's owner. An anonymous push has none, so
// no anonymous caller owns it.
func ownedBy(p record.Push, a Actor) bool { return a.Account != 0 && p.Owner == a.Account }
