package store

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"pushbox/store/cold"

	"pushbox/internal/secret"
	"pushbox/store/clock"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// PageSize is how many pushes or audit entries a page of a list holds.
const PageSize = 50

// CreatePush stores a new push and returns it with its token once it is durable.
//
// Errors: *InvalidError; ErrFull; a *RoomError if the sender has no room left; ErrBusy if too many
// passphrases wait; ErrClock while the clock is in doubt; ErrToken if the actor's account was
// removed or disabled meanwhile; a *QuotaError if it asks for more mail than may be sent today;
// *InvalidError also if another create of the last RepeatTime had its Repeat.Key, and other fields. If that
// had the same fields, nothing is stored, and the push that it made is returned as it is now. For
// an answer to a request also ErrNotFound if the request is not live, ErrFileSize, and ErrNoAnswers
// in place of a *RoomError; the answer comes back without its token.
func (s *Store) CreatePush(ctx context.Context, by Actor, in NewPush) (PushInfo, error) {
	return sealing(ctx, s, func(ctx context.Context) (PushInfo, error) {
		if in.Repeat.Key.IsZero() {
			return s.createPush(ctx, by, in)
		}
		return s.createOnce(ctx, by, in)
	})
}

func (s *Store) createPush(ctx context.Context, by Actor, in NewPush) (PushInfo, error) {
	at := s.time.Read()
	switch {
	case at.Jumped:
		return PushInfo{}, record.ErrClock
	case in.Files != nil && in.Files.broken:
		return PushInfo{}, errBroken
	}
	var bad record.InvalidError
	var asked RequestInfo
	policy, err := s.PolicyOf(ctx, by)
	if !in.Request.IsZero() {
		in, asked, err = s.answering(ctx, in, &bad)
		policy = asked.Policy
	}
	if err != nil {
		return PushInfo{}, err
	}
	in.Networks = joinNetworks(in.Networks, &bad)
	p := termsOf(policy.Terms, in.Kind, in.hasFiles()).resolve(in, at, &bad)
	to := s.recipients(by, in.Mail, &bad)
	checkPushMail(p, to, &bad)
	in.Recipient = s.namedRecipient(by, in, &bad)
	policy.checkMail(to, &bad)
	policy.check(p, in, &bad)
	p.TypedReveal = p.TypedReveal || policy.TypedReveal && in.Request.IsZero() // only its owner opens an answer
	if err := bad.Err(); err != nil {
		return PushInfo{}, err
	}
	if !in.Recipient.IsZero() {
		p.Restricted = true
		if err := s.isConfirmed(ctx, by); err != nil {
			return PushInfo{}, err
		}
	}
	t, dek := s.begin(in, at)
	p.ID, p.Owner, p.Holder = s.id(t), by.Account, s.holder(by, policy)
	if !in.Request.IsZero() {
		p.Owner, p.Holder, p.Request, p.WrappedKey = asked.Owner, record.Holder{}, asked.ID, in.WrappedKey
	}
	payload, err := s.sealPush(ctx, by, &p, t, dek, in, at.Now)
	if err != nil {
		return PushInfo{}, err
	}
	p.Size = int64(len(payload) + len(p.WrappedKey) + len(p.Details))
	var code secret.Text
	if in.Receipt {
		code = seal.NewReceiptCode()
		p.Receipt = seal.Digest(code)
	}
	e := record.Entry{Kind: record.EntryCreation, At: at.Now, Sealed: s.sealActor(p.ID, by), Most: policy.Room, Repeat: s.newRepeat(by, in.Repeat, t, at.Now)}
	logEntry(&p, e.Kind, at)
	info := PushInfo{Push: p, At: at.Now, Token: t, Name: in.Name, Note: in.Note, Networks: in.Networks, Recipient: in.Recipient, Mailed: len(to), ReceiptCode: code}
	if len(to) > 0 {
		then := s.mailEntry(info, by, *in.Mail, to)
		logEntry(&info.Push, then.Kind, at)
		e.Mail, then.Mail, e.Then = then.Mail, nil, []record.Entry{then}
	}
	if !in.Request.IsZero() {
		info.Token, info.Name = Token{}, secret.Text{} // they are the owner's
	}
	if err := s.keepPush(ctx, info.Push, payload, e, at); err != nil {
		return PushInfo{}, err
	}
	if in.Files != nil {
		in.Files.kept = p.HoldsFiles()
	}
	return info, nil
}

// keepPush stores a new push, and as an answer if it names a request.
func (s *Store) keepPush(ctx context.Context, p record.Push, payload []byte, e record.Entry, at clock.Instant) error {
	if p.IsAnswer() {
		return s.keepAnswer(ctx, p, payload, e, at)
	}
	return s.countMail(e.Mail, at, func() error {
		_, err := s.engine.CreatePush(ctx, p, payload, e)
		return err
	})
}

// begin gives a new push its token and its key. For a push with files the upload has them, because
// its chunks are sealed under them.
func (s *Store) begin(in NewPush, at clock.Instant) (Token, seal.DEK) {
	if in.hasFiles() {
		return in.Files.token, in.Files.dek
	}
	return s.nextToken(at.Now), seal.NewDEK()
}

// Preview returns a push and changes nothing. ErrNotFound if there is none.
func (s *Store) Preview(ctx context.Context, t Token) (PushInfo, error) {
	p, err := s.find(ctx, t)
	if err != nil {
		return PushInfo{}, err
	}
	to, err := s.recipientOf(p)
	return PushInfo{Push: p, At: s.time.Read().Now, Token: t, Named: to != ""}, err
}

// ended returns p, and ends it first if its time is over.
func (s *Store) ended(ctx context.Context, p record.Push, at clock.Instant) (record.Push, error) {
	if over, _ := isDue(p, at); !over {
		return p, nil
	}
	c, err := s.change(ctx, p.ID, expireRule(at))
	return c.Push, err
}

// DeletePush ends a push; once it returns, nothing of it is delivered, and running
// downloads are cut. It also ends the downloads of a push that has expired, which is no
// error. ErrNotFound; ErrDenied if the actor may not delete it.
func (s *Store) DeletePush(ctx context.Context, by Actor, n Name) (PushInfo, error) {
	return sealing(ctx, s, func(ctx context.Context) (PushInfo, error) { return s.deletePush(ctx, by, n) })
}

func (s *Store) deletePush(ctx context.Context, by Actor, n Name) (PushInfo, error) {
	id, err := s.idFor(ctx, by, n)
	if err != nil {
		return PushInfo{}, err
	}
	at := s.time.Read()
	c, err := s.change(ctx, id, deleteRule(by, at, s.sealActor(id, by)))
	info := PushInfo{Push: c.Push, At: at.Now, Token: n.token(), Ended: c.Entry.Kind == record.EntryExpire}
	if err == nil && ownedBy(c.Push, by) {
		if d, err := s.openDetails(c.Push); err == nil { // else it is deleted all the same
			info.Recipient = d.access.recipient
		}
	}
	return info, err
}

// Pushes lists a page, from 1, of the actor's own pushes, newest first: the live ones, or the
// expired ones, which have no Token. ErrBusy if too many of them have just ended to record that at
// once.
func (s *Store) Pushes(ctx context.Context, by Actor, live bool, page int) ([]PushInfo, error) {
	return s.ownPushes(ctx, by, live, (page-1)*PageSize, PageSize, s.time.Read())
}

// PushesBefore lists up to limit of the actor's own pushes that are older than the given one,
// newest first, the live and the expired ones together; none if there are no more. The zero ID is
// newer than all pushes. So a walk finds each push once, even if pushes begin, expire or are
// removed meanwhile. ErrBusy as in Pushes.
func (s *Store) PushesBefore(ctx context.Context, by Actor, before record.ID, limit int) ([]PushInfo, error) {
	at := s.time.Read()
	live, err := s.currentPushes(ctx, by.Account, true, before, 0, limit, at)
	if err != nil {
		return nil, err
	}
	ended, err := s.engine.Pushes(ctx, by.Account, false, before, 0, limit) // after the live ones: a push cannot become live again
	if err != nil {
		return nil, err
	}
	all := slices.Concat(ended, live)
	slices.SortStableFunc(all, func(a, b record.Push) int { return bytes.Compare(b.ID[:], a.ID[:]) })
	all = slices.CompactFunc(all, func(a, b record.Push) bool { return a.ID == b.ID }) // it expired between the two
	return s.openAll(all[:min(limit, len(all))], at)
}

// ownPushes opens pushes of a list, from skip on.
func (s *Store) ownPushes(ctx context.Context, by Actor, live bool, skip, limit int, at clock.Instant) ([]PushInfo, error) {
	ps, err := s.currentPushes(ctx, by.Account, live, record.ID{}, skip, limit, at)
	if err != nil {
		return nil, err
	}
	return s.openAll(ps, at)
}

// openAll opens pushes for their owner.
func (s *Store) openAll(ps []record.Push, at clock.Instant) ([]PushInfo, error) {
	infos := make([]PushInfo, len(ps))
	var err error
	for i, p := range ps {
		if infos[i], err = s.openOwn(p, at); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// openOwn opens a push for its owner.
func (s *Store) openOwn(p record.Push, at clock.Instant) (PushInfo, error) {
	d, err := s.openDetails(p)
	info := PushInfo{Push: p, At: at.Now, Name: d.name, Note: d.note, Networks: d.access.networks, Recipient: d.access.recipient}
	if err == nil && p.Live() {
		info.Token, err = s.openLink(p)
	}
	return info, err
}

// maxRounds is how often a list is read again because pushes in it have ended. Many have ended only
// after a long stop, until the sweeper has run.
const maxRounds = 100

// currentPushes reads a list of pushes. It first ends live ones whose time is over, so that a list
// shows a push as expired only once that is durable.
func (s *Store) currentPushes(ctx context.Context, owner record.AccountID, live bool, before record.ID, skip, limit int, at clock.Instant) ([]record.Push, error) {
	for range maxRounds {
		ps, err := s.engine.Pushes(ctx, owner, live, before, skip, limit)
		if err != nil {
			return nil, err
		}
		var due []record.ID
		for _, p := range ps {
			if ended, _ := isDue(p, at); ended {
				due = append(due, p.ID)
			}
		}
		if len(due) == 0 {
			return ps, nil
		}
		if _, err := s.changeAll(ctx, due, expireRule(at), func(p record.Push) bool { return !p.Live() }); err != nil {
			return nil, err
		}
	}
	return nil, record.ErrBusy
}

// Audit lists a page, from 1, of a push's audit log, oldest first. ErrNotFound;
// ErrDenied for everyone but the owner.
func (s *Store) Audit(ctx context.Context, by Actor, n Name, page int) ([]LogEntry, error) {
	p, err := s.findFor(ctx, by, n)
	if err != nil {
		return nil, err
	}
	if !ownedBy(p, by) {
		return nil, record.ErrDenied
	}
	return s.entries(ctx, p, (page-1)*PageSize, PageSize)
}

// entries opens entries of a push's audit log, from skip on.
func (s *Store) entries(ctx context.Context, p record.Push, skip, limit int) ([]LogEntry, error) {
	es, err := s.engine.Entries(ctx, p.ID, skip, limit)
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	log := make([]LogEntry, len(es))
	for i, e := range es {
		if log[i], err = s.openEntry(p.ID, e); err != nil {
			return nil, err
		}
		if e.Kind == record.EntryCreation {
			log[i].Request = p.Request
		}
	}
	return log, nil
}

// listBatch is how many items of a list are read at a time.
const listBatch = 500

// batches reads a list to its end. next reads up to listBatch items after the last one, which is
// the zero T at first. An error ends the list.
func batches[T any](next func(last T) ([]T, error)) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		var last T
		for {
			batch, err := next(last)
			if !yield(batch, err) || err != nil || len(batch) < listBatch {
				return
			}
			last = batch[len(batch)-1]
		}
	}
}

// all returns the items of all batches.
func all[T any](next func(last T) ([]T, error)) (list []T, err error) {
	for batch, err := range batches(next) {
		if err != nil {
			return nil, err
		}
		list = append(list, batch...)
	}
	return list, nil
}

// scanRequests reads all requests.
func (s *Store) scanRequests(ctx context.Context) iter.Seq2[[]record.Request, error] {
	return batches(func(last record.Request) ([]record.Request, error) {
		return cold.ScanRequests(ctx, s.engine, last.ID, listBatch)
	})
}

// scan reads all pushes.
func (s *Store) scan(ctx context.Context) iter.Seq2[[]record.Push, error] {
	return batches(func(last record.Push) ([]record.Push, error) { return s.engine.Scan(ctx, last.ID, listBatch) })
}

// Counts are how much a store holds.
type Counts struct {
	Pushes, Live, Accounts int
	Latest                 time.Time // the latest time that the database has seen
}

// Count reads all pushes and counts them.
func (s *Store) Count(ctx context.Context) (c Counts, err error) {
	for ps, err := range s.scan(ctx) {
		if err != nil {
			return c, err
		}
		c.Pushes += len(ps)
		for _, p := range ps {
			if p.Live() {
				c.Live++
			}
		}
	}
	accounts, err := s.Accounts(ctx)
	if err != nil {
		return c, err
	}
	c.Accounts = len(accounts)
	c.Latest, err = s.engine.KeepTime(ctx, time.Time{})
	return c, err
}

// PushInfo is a push as a caller may see it at one instant.
type PushInfo struct {
	record.Push
	At         time.Time // the instant of the call
	Token      Token
	Name, Note secret.Text // only for the sender: at creation and in the owner's lists
	Networks   string      // only for the sender, as the names are: with spaces between them; empty: it opens from anywhere
	Recipient  secret.Text // that it names, likewise, and after its delete; empty: none
	Named      bool        // only from Look and Preview: it names its recipient, who proves a mailbox
	Payload    secret.Text // only after a retrieval that delivered it
	Files      []FileInfo  // only after a retrieval that delivered them
	Grant      secret.Text // lets Store.Download read those files
	Ended      bool        // by DeletePush: there was something to end, the push or its files
	Mark       secret.Text // only after a right passphrase: see Actor.Marks
	Mailed     int         // by CreatePush and MailPush: how many mails go out
	Repeated   bool        // by CreatePush: an earlier create with the same key made it

	ReceiptCode secret.Text // only at creation, and only if it was asked for
}
