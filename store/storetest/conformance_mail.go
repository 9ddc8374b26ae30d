package storetest

import (
	"errors"
	"testing"

	"pushbox/store"
)

// post is mail of so many letters, which counts against a quota of the day.
func post(letters int, of store.AccountID, day, most uint64) *store.Post {
	p := &store.Post{Quotas: []store.Quota{{Of: of, Day: day, Add: uint64(letters), Most: most}, {Day: day, Add: uint64(letters), Most: 10}}}
	for n := range letters {
		m := messageAt(n)
		m.Route = store.ByMail
		p.Letters = append(p.Letters, m)
	}
	return p
}

// mailing is a change that sends mail.
func mailing(p *store.Post) store.Rule {
	return func(old store.Push) (store.Push, store.Entry, error) {
		next := old
		next.Seq, next.Minor = old.Seq+1, old.Minor+1
		return next, store.Entry{Kind: store.EntryMail, At: epoch, Sealed: []byte("sealed"), Post: p}, nil
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
	entry.Post = post(3, owner, 1, 2)
	wantQuota(t, e.CreatePush(t.Context(), p, payloadOf(1), entry), false)
	_, err := e.Push(t.Context(), p.ID)
	wantErr(t, err, store.ErrNotFound)
	wantWaiting(t, e, 0)
	entry.Post = post(2, owner, 1, 2)
	must(t, e.CreatePush(t.Context(), p, payloadOf(1), entry))
	wantWaiting(t, e, 2)

	_, err = e.Change(t.Context(), p.ID, mailing(post(1, owner, 1, 2)))
	wantQuota(t, err, false)
	list, err := e.Entries(t.Context(), p.ID, 0, 9)
	must(t, err)
	same(t, "entries after a refusal", len(list), 1)
	change(t, e, p.ID, mailing(post(3, owner, 2, 3)))
	wantWaiting(t, e, 5)
	due := wantMessages(t, e, 0, 1, 0, 0)
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
		_, err := e.Change(t.Context(), p.ID, mailing(post(n, of, day, most)))
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
	must(t, e.RemoveAccount(t.Context(), bob))
}

func createsWithTwoEntries(t *testing.T, e store.Engine) {
	p := livePush(1, account(t, e, "a@example.org"))
	entry := creation(p)
	entry.Then = &store.Entry{Kind: store.EntryMail, At: epoch, Sealed: []byte("sealed")}
	p.Seq, p.Minor = 2, 1
	must(t, e.CreatePush(t.Context(), p, payloadOf(1), entry))
	list, err := e.Entries(t.Context(), p.ID, 0, 9)
	must(t, err)
	same(t, "second entry", list[1], *entry.Then)
	change(t, e, p.ID, view)
	list, err = e.Entries(t.Context(), p.ID, 0, 9)
	must(t, err)
	same(t, "entries", len(list), 3)
}
