package conformance

import (
	"testing"

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
	c, err := cold.ChangeAccount(t.Context(), e, id, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		f(&a)
		return a, to, Told, nil
	})
	Must(t, err)
	return c
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
		change(t, e, pushID(n), view)
	}
	change(t, e, pushID(1), sendMail(mailOf(2, owner, 7, 9)))
	change(t, e, pushID(2), sendMail(mailTo(7, 9, 1, 2)))
	change(t, e, pushID(10), end(record.Expired))
	change(t, e, pushID(11), end(record.Deleted))
	change(t, e, pushID(12), purge)
	for n := 30; n < 33; n++ { // live, closed with its grants alive, and given up
		p := createFiles(t, e, n, 0)
		for k := range []int{1, p.ViewLimit, 1}[n-30] {
			issue(t, e, n, k+1)
		}
	}
	change(t, e, pushID(32), release)
	upload(t, e, 33)
	_, err := cold.CreateToken(t.Context(), e, APIToken(1, owner), Told)
	Must(t, err)
	for _, n := range []int{40, 42} {
		Must(t, cold.CreateRequest(t.Context(), e, RequestOf(n, owner, 1)))
	}
	p := AnswerTo(RequestOf(40, owner, 1), 41)
	_, err = e.AnswerRequest(t.Context(), p, payloadOf(41), creation(p))
	Must(t, err)
	begin(t, e, owner, 1, false)
	begin(t, e, owner, 2, true)
	Must(t, e.SetKeyRing(t.Context(), []byte("sealed"), Keys{}, Told))
	Must(t, e.SetLatestTime(t.Context(), epoch))
}

// CheckFilled fails the test unless e holds what Fill put into it.
func CheckFilled(t *testing.T, e record.Engine) {
	t.Helper()
	for n := range 30 {
		p, err := e.Push(t.Context(), pushID(n))
		if n == 12 {
			WantErr(t, err, record.ErrNotFound)
			continue
		}
		Must(t, err)
		Same(t, "live", p.Live(), n != 10 && n != 11)
		entries, err := e.Entries(t.Context(), p.ID, 0, 10)
		Must(t, err)
		Same(t, "number of entries", len(entries), int(p.Seq))
	}
	for n, open := range map[int]bool{30: true, 31: false} {
		Same(t, "live", mustPush(t, e, n).Live(), open)
		wantChunks(t, e, n, newGrant(n, 1).Grant)
	}
	wantOrphans(t, e, 32, 33)
	owner, err := cold.AccountByEmail(t.Context(), e, "owner@example.org")
	Must(t, err)
	list, err := e.Pushes(t.Context(), owner.ID, true, record.ID{}, 0, 100)
	Must(t, err)
	Same(t, "pushes of the owner", len(list), 15)
	requests, err := cold.Requests(t.Context(), e, owner.ID, record.Request{}, 0, 9)
	Must(t, err)
	Same(t, "requests of the owner", len(requests), 2)
	Same(t, "answers", requests[1].Answers, []record.ID{pushID(41)})
	_, a, err := cold.Token(t.Context(), e, APIToken(1, 0).Digest)
	Must(t, err)
	Same(t, "the token's account", a, owner)
	sessions, err := cold.Sessions(t.Context(), e, owner.ID, 9)
	Must(t, err)
	Same(t, "sessions of the owner", len(sessions), 2)
	ring, err := e.KeyRing(t.Context())
	Must(t, err)
	Same(t, "key ring", string(ring), "sealed")
	waiting, err := e.CountMessages(t.Context())
	Must(t, err)
	Same(t, "recipients of messages", len(waiting) > 0, true)
	last, more, err := e.ClearQuotas(t.Context(), record.Addressee{}, 2, 7)
	Must(t, err)
	Same(t, "last quota of an address", last, record.Addressee{0, 2})
	Same(t, "more", more, true)
	at, err := e.LatestTime(t.Context())
	Must(t, err)
	Same(t, "latest time", at, epoch)
}
