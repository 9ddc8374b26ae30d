package store

import "time"

// A telling is what one change of a push has to tell, and to whom.
type telling struct {
	store    *Store
	book     *hookBook
	wanted   int      // messages of the run that counts
	reserved []HookID // to whom those of them go that have room in the outbox, in their order
}

// tell has a rule put messages into the outbox where somebody asks for what it does.
// Where nobody asks for anything the rule stays as it is, and there is no telling.
func (s *Store) tell(r Rule) (Rule, *telling) {
	book := s.hooks.Load()
	if book.quiet() {
		return r, nil
	}
	t := &telling{store: s, book: book}
	return func(p Push) (Push, Entry, error) {
		next, e, err := r(p)
		if err == nil {
			t.compose(p, next, &e)
		}
		return next, e, err
	}, t
}

// compose writes the messages of a change. It may be called again, and what it did
// before then counts no more.
func (t *telling) compose(before, after Push, e *Entry) {
	t.store.outbox.giveBack(t.reserved)
	t.wanted, t.reserved = 0, nil
	for _, h := range happened(before, after, *e) {
		to := t.book.asking(before.Owner, h.Event)
		if len(to) == 0 {
			continue
		}
		room := t.store.outbox.reserve(to)
		t.wanted, t.reserved = t.wanted+len(to), append(t.reserved, room...)
		for _, id := range room {
			e.Messages = append(e.Messages, t.store.message(id, t.store.notice(after, *e, h, id), after.UpdatedAt))
		}
	}
}

// end takes note of what became of the change.
func (t *telling) end(c Change, err error) {
	if t == nil {
		return
	}
	kept := 0
	if err == nil {
		kept = len(c.Entry.Messages)
		t.store.outbox.dropped.Add(uint64(t.wanted - kept))
	}
	t.store.outbox.giveBack(t.reserved[kept:])
	if kept > 0 {
		t.store.outbox.wake()
	}
}

// notice says what happened to a push, as the webhook of that ID may know it: name
// and link are for those of its owner alone.
func (s *Store) notice(p Push, e Entry, h happening, to HookID) Notice {
	n := Notice{
		ID: NewNoticeID(), Event: h.Event, At: h.at, Push: p.ID, Kind: p.Kind,
		Views: p.Views, ViewLimit: p.ViewLimit, Cause: h.cause,
	}
	if h.cause != CauseTime && e.Sealed != nil {
		if who, err := s.openEntry(p.ID, e); err == nil {
			n.IP, n.UserAgent = who.IP, who.UserAgent
		}
	}
	if to != 0 {
		if d, err := s.openDetails(p); err == nil { // else the event is told all the same
			n.Token, n.Name = d.token, d.name
		}
	}
	return n
}

// message seals a notice for a webhook.
func (s *Store) message(to HookID, n Notice, made time.Time) Message {
	m := Message{Route: ByWebhook, To: uint64(to), CreatedAt: made, NextAt: made}
	m.Sealed = s.ring.Load().SealMessage(made, m.place(), n.encode())
	return m
}
