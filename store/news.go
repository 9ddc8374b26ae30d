package store

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"pushbox/internal/email"
	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/cold"
	"pushbox/store/record"
)

// MailedEvents lists the events of its pushes that an account can have mailed to it: the
// first view of a push, the last one, its end by views or time, the day before an end without a
// view, and the first wrong passphrase.
func MailedEvents() []record.Event {
	return []record.Event{record.EventView, record.EventLastView, record.EventReminder, record.EventExpire, record.EventFailedPassphrase}
}

// newsSubjects are the subjects of the mails about these events.
var newsSubjects = map[record.Event]MailSubject{
	record.EventView: MailFirstView, record.EventLastView: MailLastView, record.EventExpire: MailExpired, record.EventFailedPassphrase: MailGuessed,
	record.EventReminder: MailReminder,
}

// newsOf returns the events of a change that its owner may want mail about, the most informative
// one first.
func newsOf(before, after record.Push, e record.Entry) (all []record.Event) {
	for _, o := range occurrences(before, after, e) {
		switch {
		case o.Event == record.EventView && after.Views == 1,
			o.Event == record.EventLastView,
			o.Event == record.EventExpire && (o.cause == CauseTime || o.cause == CauseViews),
			o.Event == record.EventFailedPassphrase && e.Kind != record.EntryFreeze && before.Failed == 0: // a freeze has a mail of its own
			all = append(all, o.Event)
		}
	}
	if after.Reminded && !before.Reminded {
		all = append(all, record.EventReminder)
	}
	order := []record.Event{record.EventLastView, record.EventView, record.EventExpire, record.EventReminder, record.EventFailedPassphrase}
	slices.SortFunc(all, func(a, b record.Event) int { return slices.Index(order, a) - slices.Index(order, b) })
	return all
}

// A watcher is what mail about pushes needs to know about their account.
type watcher struct {
	email  string
	events record.EventSet // 0 also for an account that gets no mail
}

// watchers caches the accounts that were read since they last changed.
type watchers struct {
	mu  sync.Mutex
	era uint64 // rises with each change
	of  map[record.AccountID]watcher
}

const mostWatchers = 10_000

func (ws *watchers) find(id record.AccountID) (r watcher, era uint64, known bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	r, known = ws.of[id]
	return r, ws.era, known
}

// keep stores a watcher that was read in that era, unless an account has changed since.
func (ws *watchers) keep(id record.AccountID, r watcher, era uint64) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.era != era {
		return
	}
	if ws.of == nil || len(ws.of) >= mostWatchers {
		ws.of = make(map[record.AccountID]watcher)
	}
	ws.of[id] = r
}

// forget forgets accounts that may have changed.
func (ws *watchers) forget(ids ...record.AccountID) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.era++
	for _, id := range ids {
		delete(ws.of, id)
	}
}

func (ws *watchers) forgetAll() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.era++
	clear(ws.of)
}

// news is the mail about one change of a push, which goes with the change.
type news struct {
	store *Store
	at    clock.Instant
	owner record.AccountID // the account to read; 0: none yet
	to    watcher          // that account
	batch *record.MailBatch
}

// errOwner says that a change needs the account of the push's owner: a rule cannot ask
// for it.
var errOwner = errors.New("the owner of the push is not known")

// news returns nil if no mail is sent, or if the clock is in doubt: mails count by day.
func (s *Store) news() *news {
	at := s.time.Read()
	if len(s.options().Mail.Languages) == 0 || at.Jumped {
		return nil
	}
	return &news{store: s, at: at}
}

// about adds the mail to the result of a rule. errOwner if the caller must call ask first.
func (w *news) about(before, after record.Push, e *record.Entry) error {
	if w == nil {
		return nil
	}
	w.drop()
	happened := newsOf(before, after, *e)
	if before.Owner == 0 || e.Mail != nil || len(happened) == 0 {
		return nil
	}
	if w.owner != before.Owner {
		r, _, known := w.store.watchers.find(before.Owner)
		if w.owner = before.Owner; !known {
			return errOwner
		}
		w.to = r
	}
	for _, event := range happened {
		if w.to.events.Has(event) {
			l := Mail{About: newsSubjects[event]}
			w.batch = &record.MailBatch{
				Messages: []record.Message{w.store.sealMail(w.owner, w.at.Now, before.ID, l)},
				Quotas:   halves(w.store.quotas(w.owner, w.at.Now, w.to.email)), Sender: w.owner, Optional: true,
			}
			w.store.outbox.waiting.Add(1)
			e.Mail = w.batch
			return nil
		}
	}
	return nil
}

// ask reads the account for about, before the rule runs.
func (w *news) ask(ctx context.Context) (err error) {
	w.to, err = w.store.watcher(ctx, w.owner)
	return err
}

// watcher returns what mail about pushes needs to know about an account, and remembers it.
func (s *Store) watcher(ctx context.Context, of record.AccountID) (watcher, error) {
	to, era, known := s.watchers.find(of)
	if known {
		return to, nil
	}
	a, err := cold.Account(ctx, s.engine, of)
	if instead(err, record.ErrNotFound, nil) != nil {
		return to, err
	}
	if err == nil && a.Active() && !a.Unconfirmed && email.IsSendable(a.Email) {
		to = watcher{a.Email, a.Mails}
	}
	s.watchers.keep(of, to, era)
	return to, nil
}

const (
	remindAhead = record.Day     // before the end of a push, its owner is reminded
	remindLife  = 2 * record.Day // a push that does not live longer than this is not worth a reminder
	remindPages = 16             // a sweep looks at so many times sweepBatch pushes; the next one continues
)

// remind mails the owners who want that about pushes that end within a day and have no view. It continues
// behind the push that it looked at last, and begins again after a restart: pushes remember that
// their owner was reminded.
func (s *Store) remind(ctx context.Context, at clock.Instant) error {
	if len(s.options().Mail.Languages) == 0 || at.Jumped {
		return nil
	}
	for range remindPages {
		ids, next, err := s.engine.Due(ctx, record.Expiring, s.reminded, at.Now.Add(remindAhead), sweepBatch)
		if err != nil || len(ids) == 0 {
			return err
		}
		ps, err := s.engine.PushesByID(ctx, ids)
		if err != nil {
			return err
		}
		var due []record.ID
		for _, p := range ps {
			wanted := false
			if isUnread(p, at) {
				to, err := s.watcher(ctx, p.Owner)
				if err != nil {
					return err
				}
				wanted = to.events.Has(record.EventReminder)
			}
			if wanted {
				due = append(due, p.ID)
			}
		}
		if _, err := s.changeAll(ctx, due, remindRule(at), isReminded); err != nil {
			return err
		}
		if s.reminded = lastPlace(ps, s.reminded, next); len(ids) < sweepBatch {
			return nil
		}
	}
	return nil
}

// lastPlace returns the last place of pushes that still wait, behind one place and not after next (zero: none).
func lastPlace(ps []record.Push, place record.ExpiryPlace, next time.Time) record.ExpiryPlace {
	for _, p := range ps {
		if later := p.ExpiresAt.After(place.At) || p.ExpiresAt.Equal(place.At); p.Live() && later && (next.IsZero() || !p.ExpiresAt.After(next)) {
			place = record.ExpiryPlace{At: p.ExpiresAt, ID: p.ID}
		}
	}
	return place
}

// drop releases the room that the last run reserved.
func (w *news) drop() {
	if w.batch != nil {
		w.store.outbox.release(len(w.batch.Messages))
		w.batch = nil
	}
}

// end tells the sender of mail, unless the mail was left out.
func (w *news) end(c record.Change, err error) {
	switch {
	case w == nil || w.batch == nil:
	case err != nil || c.Entry.Mail != w.batch:
		w.drop()
	default:
		signal(w.store.outbox.changed[record.ByMail])
	}
}

// openNews is OpenMail for a mail about an event of a push, which may have ended.
func (s *Store) openNews(ctx context.Context, l Mail, push record.ID, owner record.Account, event record.Event) (_ Mail, wanted bool, err error) {
	p, err := s.push(ctx, push)
	if err != nil {
		return Mail{}, false, instead(err, record.ErrNotFound, nil)
	}
	at := s.time.Read()
	if p.Owner != owner.ID || !owner.Mails.Has(event) || event == record.EventReminder && !isUnread(p, at) {
		return Mail{}, false, nil
	}
	l.To, l.Push = secret.New(owner.Email), PushInfo{Push: p, At: at.Now}
	if d, err := s.openDetails(p); err == nil { // else the mail is sent without the name
		l.Push.Name = d.name
	}
	return l, true, nil
}

// halves returns quotas of half the size, so that news leaves room for other mail.
func halves(all []record.Quota) []record.Quota {
	for i, q := range all {
		all[i].Most -= q.Most / 2
	}
	return all
}
