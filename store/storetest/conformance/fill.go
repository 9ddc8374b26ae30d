package conformance

import (
	"testing"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
)

// Alter changes an account and none of its sessions, and returns it.
func Alter(t *testing.T, e record.Engine, id record.AccountID, f func(*record.Account)) record.Account {
	t.Helper()
	return changeAccount(t, e, id, record.SessionChange{EvenLast: true}, f).Account
}

// begin begins the n-th session.
func begin(t *testing.T, e record.Engine, owner record.AccountID, n int, pending bool) {
	t.Helper()
	changeAccount(t, e, owner, record.SessionChange{Begin: Session(n, pending), Most: 100}, func(*record.Account) {})
}

func changeAccount(t *testing.T, e record.Engine, id record.AccountID, to record.SessionChange, f func(*record.Account)) record.AccountChange {
	t.Helper()
	return got(cold.ChangeAccount(t.Context(), e, id, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		f(&a)
		return a, to, Told, nil
	})).of(t)
}

// Fill puts a few of everything into an empty engine.
func Fill(t *testing.T, e record.Engine) {
	t.Helper()
	owner := account(t, e, "owner@example.org")
	Alter(t, e, owner, func(a *record.Account) {
		a.Identities = a.Identities.With(record.Identity{Issuer: "https://id.example.org", Subject: "owner"})
	})
	for n := range 30 {
		create(t, e, n, []record.AccountID{0, owner}[n%2])
	}
	for n := range 10 {
		change(t, e, PushID(n), View)
	}
	change(t, e, PushID(1), SendMail(mailOf(2, owner, 7, 9)))
	change(t, e, PushID(2), SendMail(MailTo(7, 9, 1, 2)))
	change(t, e, PushID(10), end(record.Expired))
	change(t, e, PushID(11), end(record.Deleted))
	change(t, e, PushID(12), Purge)
	for n := 30; n < 33; n++ { // live, closed with its grants alive, and given up
		p := CreateFiles(t, e, n, 0)
		for k := range []int{1, p.ViewLimit, 1}[n-30] {
			issue(t, e, n, k+1)
		}
	}
	change(t, e, PushID(32), Release)
	upload(t, e, 33)
	got(cold.CreateToken(t.Context(), e, APIToken(1, owner), Told)).of(t)
	for _, n := range []int{40, 42} {
		Must(t, cold.CreateRequest(t.Context(), e, RequestOf(n, owner, 1), nil))
	}
	p := AnswerTo(RequestOf(40, owner, 1), 41)
	got(e.CreatePush(t.Context(), p, Payload(41), Creation(p))).of(t)
	p, repeat := LivePush(43, 0), repeatOf(43)
	entry := Creation(p)
	entry.Repeat = &repeat
	got(e.CreatePush(t.Context(), p, Payload(43), entry)).of(t)
	begin(t, e, owner, 1, false)
	begin(t, e, owner, 2, true)
	Must(t, e.SetKeyRing(t.Context(), []byte("sealed"), Keys{}, Told))
	got(e.KeepTime(t.Context(), epoch)).of(t)
}

// CheckFilled fails the test unless e holds what Fill put into it.
func CheckFilled(t *testing.T, e record.Engine) {
	t.Helper()
	for n := range 30 {
		p, err := Push(t.Context(), e, PushID(n))
		if n == 12 {
			WantErr(t, err, record.ErrNotFound)
			continue
		}
		Must(t, err)
		Same(t, "live", p.Live(), n != 10 && n != 11)
		Same(t, "number of entries", len(got(e.Entries(t.Context(), p.ID, 0, 10)).of(t)), int(p.Seq))
	}
	for n, open := range map[int]bool{30: true, 31: false} {
		Same(t, "live", mustPush(t, e, n).Live(), open)
		wantChunks(t, e, n, newGrant(n, 1).Grant)
	}
	wantOrphans(t, e, 32, 33)
	owner := got(cold.AccountByEmail(t.Context(), e, "owner@example.org")).of(t)
	Same(t, "pushes of the owner", len(got(e.Pushes(t.Context(), owner.ID, true, record.ID{}, 0, 100)).of(t)), 15)
	requests := got(cold.Requests(t.Context(), e, owner.ID, record.Request{}, 0, 9)).of(t)
	Same(t, "requests of the owner", len(requests), 2)
	Same(t, "answers", requests[1].Answers, []record.ID{PushID(41)})
	_, a, err := cold.Token(t.Context(), e, APIToken(1, 0).Digest)
	Must(t, err)
	Same(t, "the token's account", a, owner)
	Same(t, "sessions of the owner", len(got(cold.Sessions(t.Context(), e, owner.ID, 9)).of(t)), 2)
	Same(t, "repeat", got(cold.Repeat(t.Context(), e, repeatOf(43).ID)).of(t), repeatOf(43))
	Same(t, "key ring", string(got(e.KeyRing(t.Context())).of(t)), "sealed")
	Same(t, "recipients of messages", len(got(e.CountMessages(t.Context())).of(t)) > 0, true)
	last, more, err := cold.ClearQuotas(t.Context(), e, record.Addressee{}, 2, 7)
	Must(t, err)
	Same(t, "last quota of an address", last, record.Addressee{0, 2})
	Same(t, "more", more, true)
	Same(t, "latest time", got(e.KeepTime(t.Context(), time.Time{})).of(t), epoch)
}
