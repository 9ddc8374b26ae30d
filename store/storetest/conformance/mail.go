package conformance

import (
	"errors"
	"testing"

	"pushbox/store/cold"
	"pushbox/store/record"
)

// mailOf is mail of that many messages, which count against the quota most of the account and 10 of the instance.
func mailOf(messages int, of record.AccountID, day, most uint64) *record.MailBatch {
	b := &record.MailBatch{Quotas: []record.Quota{{Of: of, Day: day, Add: uint64(messages), Most: most}, {Day: day, Add: uint64(messages), Most: 10}}}
	for n := range messages {
		m := messageAt(n)
		m.Route = record.ByMail
		b.Messages = append(b.Messages, m)
	}
	return b
}

// SendMail is a change that sends mail.
func SendMail(b *record.MailBatch) record.Rule {
	return func(old record.Push) (record.Push, record.Entry, error) {
		next := old
		next.Seq, next.Minor = old.Seq+1, old.Minor+1
		return next, record.Entry{Kind: record.EntryMail, At: epoch, Sealed: []byte("sealed"), Mail: b}, nil
	}
}

// WantQuota fails the test unless err is about that quota.
func WantQuota(t *testing.T, err error, of record.QuotaOf) {
	t.Helper()
	var quota *record.QuotaError
	if !errors.As(err, &quota) || quota.Of != of || !errors.Is(err, record.ErrQuota) {
		t.Errorf("it is %v, not of %v", err, of)
	}
}

func sendsMail(t *testing.T, e record.Engine) {
	owner := account(t, e, "a@example.org")
	p := LivePush(1, owner)
	entry := Creation(p)
	entry.Mail = mailOf(3, owner, 1, 2)
	WantQuota(t, Made(e.CreatePush(t.Context(), p, Payload(1), entry)), record.QuotaOfAccount)
	got(Push(t.Context(), e, p.ID)).fails(t, record.ErrNotFound)
	wantWaiting(t, e, 0)
	entry.Mail = mailOf(2, owner, 1, 2)
	Must(t, Made(e.CreatePush(t.Context(), p, Payload(1), entry)))
	wantWaiting(t, e, 2)

	WantQuota(t, send(t, e, p, mailOf(1, owner, 1, 2)), record.QuotaOfAccount)
	Same(t, "entries after a refusal", len(got(e.Entries(t.Context(), p.ID, 0, 9)).of(t)), 1)
	change(t, e, p.ID, SendMail(mailOf(3, owner, 2, 3)))
	wantWaiting(t, e, 5)
	q := dueAt(0, 100)
	q.Route = record.ByMail
	due := wantNext(t, e, q, 1, 0, 0)
	if due[0].Route != record.ByMail || due[0].Number == due[1].Number {
		t.Errorf("the mail is %+v", due)
	}
	Same(t, "entries", len(got(e.Entries(t.Context(), p.ID, 0, 9)).of(t)), 2)
}

// send changes a push with SendMail(b) and returns the error.
func send(t *testing.T, e record.Engine, p record.Push, b *record.MailBatch) error {
	t.Helper()
	return got(e.Change(t.Context(), p.ID, SendMail(b))).err
}

func countsMail(t *testing.T, e record.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	hers, his := create(t, e, 1, ann), create(t, e, 2, bob)
	for _, one := range []struct {
		about   record.Push
		mail    *record.MailBatch
		refuses record.QuotaOf // 0: it is sent
	}{
		{hers, mailOf(6, ann, 7, 6), 0},
		{hers, mailOf(1, ann, 7, 6), record.QuotaOfAccount},
		{his, mailOf(5, bob, 7, 6), record.QuotaOfInstance}, // ten of all
		{his, mailOf(4, bob, 7, 6), 0},
		{his, mailOf(1, bob, 7, 6), record.QuotaOfInstance},
		{hers, mailOf(6, ann, 8, 6), 0},
		{hers, mailOf(1, ann, 7, 6), record.QuotaOfAccount}, // a clock that was set back begins no new day
		{his, mailOf(4, bob, 8, 6), 0},
		{his, MailTo(8, 1, 1, 2), 0},
		{hers, MailTo(8, 1, 2, 3), record.QuotaOfAddressee},
	} {
		if err := send(t, e, one.about, one.mail); one.refuses == 0 {
			Must(t, err)
		} else {
			WantQuota(t, err, one.refuses)
		}
	}
	change(t, e, his.ID, Purge)
	Must(t, cold.RemoveAccount(t.Context(), e, bob, Told))
	WantQuota(t, send(t, e, hers, MailTo(8, 1, 1)), record.QuotaOfAddressee) // his mail counts after his account has gone
	Must(t, send(t, e, hers, MailTo(8, 1, 3)))                               // the refusal did not count for it
}

func createsWithTwoEntries(t *testing.T, e record.Engine) {
	p := LivePush(1, account(t, e, "a@example.org"))
	entry := Creation(p)
	entry.Then = []record.Entry{{Kind: record.EntryMail, At: epoch, Sealed: []byte("sealed")}}
	p.Seq, p.Minor = 2, 1
	Must(t, Made(e.CreatePush(t.Context(), p, Payload(1), entry)))
	Same(t, "second entry", got(e.Entries(t.Context(), p.ID, 0, 9)).of(t)[1], entry.Then[0])
	change(t, e, p.ID, View)
	Same(t, "entries", len(got(e.Entries(t.Context(), p.ID, 0, 9)).of(t)), 3)
}

// MailTo is a mail to each of these, at most that many on a day.
func MailTo(day, most uint64, to ...byte) *record.MailBatch {
	b := mailOf(len(to), 0, day, 100)
	b.Quotas = nil
	for _, n := range to {
		b.Quotas = append(b.Quotas, record.Quota{To: record.Addressee{0, n}, Day: day, Add: 1, Most: most})
	}
	return b
}

// unconfirmed keeps an account whose address is not confirmed.
func unconfirmed(t *testing.T, e record.Engine, email string) record.AccountID {
	t.Helper()
	return got(cold.CreateAccount(t.Context(), e, record.Account{Email: email, CreatedAt: epoch, Unconfirmed: true}, Told)).of(t)
}

func sendsConfirmed(t *testing.T, e record.Engine) {
	eve := unconfirmed(t, e, "e@example.org")
	p := LivePush(1, eve)
	entry := Creation(p)
	entry.Mail = MailTo(7, 1, 1)
	entry.Mail.Sender = eve
	WantErr(t, Made(e.CreatePush(t.Context(), p, Payload(1), entry)), record.ErrUnconfirmed)
	got(Push(t.Context(), e, p.ID)).fails(t, record.ErrNotFound)
	create(t, e, 1, eve)
	WantErr(t, send(t, e, p, entry.Mail), record.ErrUnconfirmed)
	wantWaiting(t, e, 0)
	code := record.AddressCode{Sum: [16]byte{1}, SentAt: epoch, Wrong: 4, Sent: 5}
	Alter(t, e, eve, func(a *record.Account) { a.Code = code })
	Same(t, "code", got(cold.Account(t.Context(), e, eve)).of(t).Code, code)
	Alter(t, e, eve, func(a *record.Account) { a.Unconfirmed, a.Code = false, record.AddressCode{} })
	change(t, e, p.ID, SendMail(entry.Mail)) // the refusals did not count
	wantWaiting(t, e, 1)
}

func leavesMailOut(t *testing.T, e record.Engine) {
	eve, ann := unconfirmed(t, e, "e@example.org"), account(t, e, "a@example.org")
	p := create(t, e, 1, ann)
	optional := func(sender record.AccountID, most uint64) *record.MailBatch {
		b := MailTo(7, most, 1)
		b.Sender, b.Optional = sender, true
		return b
	}
	kept := func(b *record.MailBatch, want bool) {
		t.Helper()
		before := got(Push(t.Context(), e, p.ID)).of(t)
		c := change(t, e, p.ID, SendMail(b))
		Same(t, "it is kept", c.Entry.Mail != nil, want)
		Same(t, "audit entries", c.Push.Seq, before.Seq+1)
	}
	kept(optional(eve, 9), false)
	const missing = 999 // no account has this number
	kept(optional(missing, 9), false)
	kept(optional(ann, 0), false)
	wantWaiting(t, e, 0)
	kept(optional(ann, 1), true)
	kept(optional(ann, 1), false)
	wantWaiting(t, e, 1)
}

func answersWithoutMail(t *testing.T, e record.Engine) {
	ann := account(t, e, "a@example.org")
	r := RequestOf(1, ann, 5)
	Must(t, cold.CreateRequest(t.Context(), e, r, nil))
	for n := range 2 {
		p := AnswerTo(r, 10+n)
		en := Creation(p)
		en.Mail = mailOf(1, ann, 7, 1)
		en.Mail.Sender, en.Mail.Optional = ann, true
		Same(t, "with mail", got(e.CreatePush(t.Context(), p, Payload(10+n), en)).of(t).Mail != nil, n == 0)
		wantWaiting(t, e, 1)
	}
	p := AnswerTo(r, 20)
	en := Creation(p)
	en.Messages = []record.Message{messageAt(1)}
	Same(t, "messages", len(got(e.CreatePush(t.Context(), p, Payload(20), en)).of(t).Messages), 1)
	wantWaiting(t, e, 2)
}
