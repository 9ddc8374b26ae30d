package store

import "time"

// restoreRule decides what becomes of a push that comes back with a backup. A live
// one ends by the hand of whoever restores; or it goes on where that was asked for,
// with an entry that says so, for which there is room however many others there are:
// no outsider can cause it. The grants of the time of the backup are not good any
// more, so nothing is kept for them.
func restoreRule(at instant, sealed []byte, keepLive bool) Rule {
	return func(p Push) (Push, Entry, error) {
		p.endIfDue(at)
		e := Entry{Kind: EntryExpire, At: at.now, Sealed: sealed}
		switch {
		case !p.Live():
			p.release()
			return p, Entry{}, nil
		case keepLive:
			e.Kind, p.GrantsEnd = EntryEdit, time.Time{}
			p.Minor++
			p.Seq++
			p.UpdatedAt = at.now
			return p, e, nil
		}
		p.release()
		p.log(EntryExpire, at)
		p.end(Deleted, at.now, at)
		return p, e, nil
	}
}
