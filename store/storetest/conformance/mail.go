package conformance

import (
	"errors"
	"testing"

	"pushbox/store"
)

// mailOf is mail of that many messages, which count against a quota of the day.
func mailOf(messages int, of store.AccountID, day, most uint64) *store.MailBatch {
	p := &store.MailBatch{Quotas: []store.Quota{{Of: of, Day: day, Add: uint64(messages), Most: most}, {Day: day, Add: uint64(messages), Most: 10}}}
	for n := range messages {
		m := messageAt(n)
		m.Route = store.ByMail
		p.Messages = append(p.Messages, m)
	}
	return p
}

// sendMail is a change that sends mail.
func sendMail(p *store.MailBatch) store.Rule {
	return func(old store.Push) (store.Push, store.Entry, error) {
		next := old
		next.Seq, next.Minor = old.Seq+1, old.Minor+1
		return next, store.Entry{Kind: store.EntryMail, At: epoch, Sealed: []byte("sealed"), Mail: p}, nil
	}
}

// wantQuota fails the test unless err is about the quota of the whole, or of an account.
func wantQuota(t *testing.T, err error, whole bool) {
	t.Helper()
	var quota *store.QuotaError
	if !errors.As(err, &quota) || quota.Whole != whole || !errors.Is(err, store.ErrQuota) {
		t.Errorf("it is %v, not of the whole: %v", err, whole)
	}
}

func sendsMail(t *testing.T, e store.Engine) {
	owner := account(t, e, "a@example.org")
	p := livePush(1, owner)
	entry := creation(p)
	entry.Mail = mailOf(3, owner, 1, 2)
	wantQuota(t, e.CreatePush(t.Context(), p, payloadOf(1), entry), false)
	_, err := e.Push(t.Context(), p.ID)
	wantErr(t, err, store.ErrNotFound)
	wantWaiting(t, e, 0)
	entry.Mail = mailOf(2, owner, 1, 2)
	must(t, e.CreatePush(t.Context(), p, payloadOf(1), entry))
	wantWaiting(t, e, 2)

	_, err = e.Change(t.Context(), p.ID, sendMail(mailOf(1, owner, 1, 2)))
	wantQuota(t, err, false)
	list, err := e.Entries(t.Context(), p.ID, 0, 9)
	must(t, err)
	same(t, "entries after a refusal", len(list), 1)
	change(t, e, p.ID, sendMail(mailOf(3, owner, 2, 3)))
	wantWaiting(t, e, 5)
	q := dueAt(0, 100)
	q.Route = store.ByMail
	due := wantNext(t, e, q, 1, 0, 0)
	if due[0].Route != store.ByMail || due[0].Number == due[1].Number {
		t.Errorf("the mail is %+v", due)
	}
	list, err = e.Entries(t.Context(), p.ID, 0, 9)
	must(t, err)
	same(t, "entries", len(list), 2)
}

func countsMail(t *testing.T, e store.Engine) {
	ann, bob := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	hers, his := create(t, e, 1, ann), create(t, e, 2, bob)
	send := func(p store.Push, n int, of store.AccountID, day, most uint64) error {
		_, err := e.Change(t.Context(), p.ID, sendMail(mailOf(n, of, day, most)))
		return err
	}
	must(t, send(hers, 6, ann, 7, 6))
	wantQuota(t, send(hers, 1, ann, 7, 6), false)
	wantQuota(t, send(his, 5, bob, 7, 6), true) // ten of all
	must(t, send(his, 4, bob, 7, 6))
	wantQuota(t, send(his, 1, bob, 7, 6), true)
	must(t, send(hers, 6, ann, 8, 6))
	wantQuota(t, send(hers, 1, ann, 7, 6), false) // a clock that was set back begins no new day
	must(t, send(his, 4, bob, 8, 6))

	_, err := e.Change(t.Context(), his.ID, purge)
	must(t, err)
	must(t, e.RemoveAccount(t.Context(), bob, Told))
}

func createsWithTwoEntries(t *testing.T, e store.Engine) {
	p := livePush(1, account(t, e, "a@example.org"))
	entry := creation(p)
	entry.Then = []store.Entry{{Kind: store.EntryMail, At: epoch, Sealed: []byte("sealed")}}
	p.Seq, p.Minor = 2, 1
	must(t, e.CreatePush(t.Context(), p, payloadOf(1), entry))
	list, err := e.Entries(t.Context(), p.ID, 0, 9)
	must(t, err)
	same(t, "second entry", list[1], entry.Then[0])
	change(t, e, p.ID, view)
	list, err = e.Entries(t.Context(), p.ID, 0, 9)
	must(t, err)
	same(t, "entries", len(list), 3)
}
