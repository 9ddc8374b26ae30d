package conformance

import (
	"errors"
	"testing"

	"pushbox/store/cold"
	"pushbox/store/record"
)

// mailOf is mail of that many messages, which count against a quota of the day.
func mailOf(messages int, of record.AccountID, day, most uint64) *record.MailBatch {
	p := &record.MailBatch{Quotas: []record.Quota{{Of: of, Day: day, Add: uint64(messages), Most: most}, {Day: day, Add: uint64(messages), Most: 10}}}
	for n := range messages {
		m := messageAt(n)
		m.Route = record.ByMail
		p.Messages = append(p.Messages, m)
	}
	return p
}

// sendMail is a change that sends mail.
func sendMail(p *record.MailBatch) record.Rule {
	return func(old record.Push) (record.Push, record.Entry, error) {
		next := old
		next.Seq, next.Minor = old.Seq+1, old.Minor+1
		return next, record.Entry{Kind: record.EntryMail, At: epoch, Sealed: []byte("sealed"), Mail: p}, nil
	}
}

// wantQuota fails the test unless err is about that quota.
func wantQuota(t *testing.T, err error, of record.QuotaOf) {
	t.Helper()
	var quota *record.QuotaError
	if !errors.As(err, &quota) || quota.Of != of || !errors.Is(err, record.ErrQuota) {
		t.Errorf("it is %v, not of %v", err, of)
	}
}

func sendsMail(t *testing.T, e record.Engine) {
	owner := account(t, e, "a@example.org")
	p := livePush(1, owner)
	entry := creation(p)
	entry.Mail = mailOf(3, owner, 1, 2)
	wantQuota(t, e.CreatePush(t.Context(), p, payloadOf(1), entry), record.QuotaOfAccount)
	_, err := e.Push(t.Context(), p.ID)
	WantErr(t, err, record.ErrNotFound)
	wantWaiting(t, e, 0)
	entry.Mail = mailOf(2, owner, 1, 2)
	Must(t, e.CreatePush(t.Context(), p, payloadOf(1), entry))
	wantWaiting(t, e, 2)

	_, err = e.Change(t.Context(), p.ID, sendMail(mailOf(1, owner, 1, 2)))
	wantQuota(t, err, record.QuotaOfAccount)
	list, err := e.Entries(t.Context(), p.ID, 0, 9)
	Must(t, err)
	Same(t, "entries after a refusal", len(list), 1)
	change(t, e, p.ID, sendMail(mailOf(3, owner, 2, 3)))
	wantWaiting(t, e, 5)
	q := dueAt(0, 100)
	q.Route = record.ByMail
	due := wantNext(t, e, q, 1, 0, 0)
	if due[0].Route != record.ByMail || due[0].Number == due[1].Number {
		t.Errorf("the mail is %+v", due)
	}
	list, err = e.Entries(t.Context(), p.ID, 0, 9)
	Must(t, err)
	Same(t, "entries", len(list), 2)
}

func countsMail(t *testing.T, e record.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	hers, his := create(t, e, 1, ann), create(t, e, 2, bob)
	send := func(p record.Push, n int, of record.AccountID, day, most uint64) error {
		_, err := e.Change(t.Context(), p.ID, sendMail(mailOf(n, of, day, most)))
		return err
	}
	Must(t, send(hers, 6, ann, 7, 6))
	wantQuota(t, send(hers, 1, ann, 7, 6), record.QuotaOfAccount)
	wantQuota(t, send(his, 5, bob, 7, 6), record.QuotaOfInstance) // ten of all
	Must(t, send(his, 4, bob, 7, 6))
	wantQuota(t, send(his, 1, bob, 7, 6), record.QuotaOfInstance)
	Must(t, send(hers, 6, ann, 8, 6))
	wantQuota(t, send(hers, 1, ann, 7, 6), record.QuotaOfAccount) // a clock that was set back begins no new day
	Must(t, send(his, 4, bob, 8, 6))

	_, err := e.Change(t.Context(), his.ID, purge)
	Must(t, err)
	Must(t, cold.RemoveAccount(t.Context(), e, bob, Told))
}

func createsWithTwoEntries(t *testing.T, e record.Engine) {
	p := livePush(1, account(t, e, "a@example.org"))
	entry := creation(p)
	entry.Then = []record.Entry{{Kind: record.EntryMail, At: epoch, Sealed: []byte("sealed")}}
	p.Seq, p.Minor = 2, 1
	Must(t, e.CreatePush(t.Context(), p, payloadOf(1), entry))
	list, err := e.Entries(t.Context(), p.ID, 0, 9)
	Must(t, err)
	Same(t, "second entry", list[1], entry.Then[0])
	change(t, e, p.ID, view)
	list, err = e.Entries(t.Context(), p.ID, 0, 9)
	Must(t, err)
	Same(t, "entries", len(list), 3)
}

// mailTo is a mail to each of these, at most that many on a day.
func mailTo(day, most uint64, to ...byte) *record.MailBatch {
	p := mailOf(len(to), 0, day, 100)
	p.Quotas = nil
	for _, n := range to {
		p.Quotas = append(p.Quotas, record.Quota{To: record.Addressee{0, n}, Day: day, Add: 1, Most: most})
	}
	return p
}

func countsMailToAddresses(t *testing.T, e record.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	hers, his := create(t, e, 1, ann), create(t, e, 2, bob)
	send := func(p record.Push, day, most uint64, to ...byte) error {
		_, err := e.Change(t.Context(), p.ID, sendMail(mailTo(day, most, to...)))
		return err
	}
	Must(t, send(hers, 7, 2, 1, 2))
	Must(t, send(his, 7, 2, 1))
	wantQuota(t, send(hers, 7, 2, 1), record.QuotaOfAddressee)
	wantQuota(t, send(his, 7, 2, 2, 1), record.QuotaOfAddressee)
	wantWaiting(t, e, 3)
	Must(t, send(his, 7, 2, 2)) // the refusal did not count for it
	wantQuota(t, send(his, 7, 2, 2), record.QuotaOfAddressee)
	Must(t, send(his, 8, 2, 1))
	_, err := e.Change(t.Context(), his.ID, purge)
	Must(t, err)
	Must(t, cold.RemoveAccount(t.Context(), e, bob, Told))
	Must(t, send(hers, 8, 2, 1)) // his mail counts after his account has gone
	wantQuota(t, send(hers, 8, 2, 1), record.QuotaOfAddressee)
}

func clearsQuotas(t *testing.T, e record.Engine) {
	p := create(t, e, 1, account(t, e, "a@example.org"))
	change(t, e, p.ID, sendMail(mailOf(2, p.Owner, 7, 2)))
	change(t, e, p.ID, sendMail(mailTo(7, 1, 1, 3, 5)))
	change(t, e, p.ID, sendMail(mailTo(8, 1, 2, 4)))
	clear := func(after byte, limit int, day uint64, last byte, more bool) {
		t.Helper()
		from := record.Addressee{0, after}
		if after == 0 {
			from = record.Addressee{}
		}
		got, rest, err := e.ClearQuotas(t.Context(), from, limit, day)
		Must(t, err)
		Same(t, "last", got, record.Addressee{0, last})
		Same(t, "more", rest, more)
	}
	clear(0, 2, 7, 2, true)
	clear(2, 2, 7, 4, true)
	clear(4, 2, 7, 5, false)
	clear(0, 9, 8, 5, false) // 1, 3 and 5 go
	clear(0, 9, 8, 4, false)
	clear(0, 1, 8, 2, true)
	clear(2, 1, 8, 4, true)
	clear(4, 1, 8, 4, false)
	_, err := e.Change(t.Context(), p.ID, sendMail(mailTo(8, 1, 2)))
	wantQuota(t, err, record.QuotaOfAddressee)
	_, err = e.Change(t.Context(), p.ID, sendMail(mailOf(1, p.Owner, 7, 2)))
	wantQuota(t, err, record.QuotaOfAccount)
	change(t, e, p.ID, sendMail(mailTo(7, 1, 1)))
}

// unconfirmed keeps an account whose address is not confirmed.
func unconfirmed(t *testing.T, e record.Engine, email string) record.AccountID {
	t.Helper()
	id, err := cold.CreateAccount(t.Context(), e, record.Account{Email: email, CreatedAt: epoch, Unconfirmed: true}, Told)
	Must(t, err)
	return id
}

func sendsConfirmed(t *testing.T, e record.Engine) {
	eve := unconfirmed(t, e, "e@example.org")
	p := livePush(1, eve)
	entry := creation(p)
	entry.Mail = mailTo(7, 1, 1)
	entry.Mail.Sender = eve
	WantErr(t, e.CreatePush(t.Context(), p, payloadOf(1), entry), record.ErrUnconfirmed)
	_, err := e.Push(t.Context(), p.ID)
	WantErr(t, err, record.ErrNotFound)
	create(t, e, 1, eve)
	_, err = e.Change(t.Context(), p.ID, sendMail(entry.Mail))
	WantErr(t, err, record.ErrUnconfirmed)
	wantWaiting(t, e, 0)
	code := record.AddressCode{Sum: [16]byte{1}, SentAt: epoch, Wrong: 4, Sent: 5}
	confirm := func(confirmed bool) record.AccountRule {
		return func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			if a.Unconfirmed, a.Code = !confirmed, code; confirmed {
				a.Code = record.AddressCode{}
			}
			return a, record.SessionChange{}, Told, nil
		}
	}
	_, err = cold.ChangeAccount(t.Context(), e, eve, record.SessionDigest{}, confirm(false))
	Must(t, err)
	a, err := cold.Account(t.Context(), e, eve)
	Must(t, err)
	Same(t, "code", a.Code, code)
	_, err = cold.ChangeAccount(t.Context(), e, eve, record.SessionDigest{}, confirm(true))
	Must(t, err)
	change(t, e, p.ID, sendMail(entry.Mail)) // the refusals did not count
	wantWaiting(t, e, 1)
}

func leavesMailOut(t *testing.T, e record.Engine) {
	eve, ann := unconfirmed(t, e, "e@example.org"), account(t, e, "a@example.org")
	p := create(t, e, 1, ann)
	optional := func(sender record.AccountID, most uint64) *record.MailBatch {
		b := mailTo(7, most, 1)
		b.Sender, b.Optional = sender, true
		return b
	}
	kept := func(b *record.MailBatch, want bool) {
		t.Helper()
		before, err := e.Push(t.Context(), p.ID)
		Must(t, err)
		c := change(t, e, p.ID, sendMail(b))
		Same(t, "it is kept", c.Entry.Mail != nil, want)
		Same(t, "audit entries", c.Push.Seq, before.Seq+1)
	}
	kept(optional(eve, 9), false)
	kept(optional(ann+eve, 9), false) // which is no account
	kept(optional(ann, 0), false)
	wantWaiting(t, e, 0)
	kept(optional(ann, 1), true)
	kept(optional(ann, 1), false)
	wantWaiting(t, e, 1)
}

func changesWithMail(t *testing.T, e record.Engine) {
	eve := unconfirmed(t, e, "e@example.org")
	send := func(code byte, b *record.MailBatch, untold bool) error {
		_, err := cold.ChangeAccount(t.Context(), e, eve, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			if code != 0 {
				a.Code = record.AddressCode{Sum: [16]byte{code}, SentAt: epoch, Sent: 1}
			}
			return a, record.SessionChange{Mail: b, Untold: untold}, Told, nil
		})
		return err
	}
	want := func(code byte, waiting, events int) {
		t.Helper()
		a, err := cold.Account(t.Context(), e, eve)
		Must(t, err)
		Same(t, "code", a.Code.Sum[0], code)
		wantWaiting(t, e, waiting)
		list, err := cold.AdminEvents(t.Context(), e, 0, 9)
		Must(t, err)
		Same(t, "events", len(list), events)
	}
	want(0, 0, 1)
	Must(t, send(1, mailTo(7, 1, 1), true))
	want(1, 1, 1)
	wantQuota(t, send(2, mailTo(7, 1, 1), false), record.QuotaOfAddressee)
	want(1, 1, 1)
	Must(t, send(0, mailTo(7, 1, 2), true)) // mail alone is a change
	want(1, 2, 1)
	Must(t, send(3, nil, true))
	want(3, 2, 1)
	Must(t, send(4, nil, false))
	want(4, 2, 2)
}

func answersWithoutMail(t *testing.T, e record.Engine) {
	ann := account(t, e, "a@example.org")
	r := RequestOf(1, ann, 5)
	Must(t, cold.CreateRequest(t.Context(), e, r))
	for n, most := range []uint64{1, 1} {
		p := AnswerTo(r, 10+n)
		en := creation(p)
		en.Mail = mailOf(1, ann, 7, most)
		en.Mail.Sender, en.Mail.Optional = ann, true
		kept, err := e.AnswerRequest(t.Context(), p, payloadOf(10+n), en)
		Must(t, err)
		Same(t, "with mail", kept.Mail != nil, n == 0)
		wantWaiting(t, e, 1)
	}
	p := AnswerTo(r, 20)
	en := creation(p)
	en.Messages = []record.Message{messageAt(1)}
	kept, err := e.AnswerRequest(t.Context(), p, payloadOf(20), en)
	Must(t, err)
	Same(t, "messages", len(kept.Messages), 1)
	wantWaiting(t, e, 2)
}
