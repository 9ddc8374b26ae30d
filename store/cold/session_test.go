package cold_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func TestSessions(t *testing.T) {
	suite{
		"sessions are kept and found with their account":         keepsSessions,
		"sessions are listed newest first":                       listsSessions,
		"a change of an account ends the sessions that it names": endsSessions,
		"a change ends the sessions of an identity":              endsSessionsOfIdentities,
		"a change by a session that does not exist is refused":   refusesStrangeSessions,
		"a new session replaces the oldest":                      replacesOldSessions,
		"a session records when it was used":                     touchesSessions,
		"a removed session is not found":                         removesSessions,
		"sessions that are over are cleared step by step":        clearsSessions,
		"only sessions that have ended are cleared":              clearsWhatHasEndedAlone,
		"a session does not outlive a change that ends it":       ordersSessions,
	}.run(t)
}

// digestOf is the digest of the n-th session; zero for 0.
func digestOf(n int) record.SessionDigest {
	if n == 0 {
		return record.SessionDigest{}
	}
	return conformance.Session(n, false).Digest
}

// changeSessions changes the sessions of an account, which itself stays as it is.
func changeSessions(t *testing.T, e record.Engine, id record.AccountID, by int, to record.SessionChange) (record.AccountChange, error) {
	t.Helper()
	return cold.ChangeAccount(t.Context(), e, id, digestOf(by), func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		return a, to, conformance.Told, nil
	})
}

// begin begins the n-th session and returns it.
func begin(t *testing.T, e record.Engine, owner record.AccountID, n int, pending bool) record.Session {
	t.Helper()
	c, err := changeSessions(t, e, owner, 0, record.SessionChange{Begin: conformance.Session(n, pending), Most: 100})
	must(t, err)
	return c.Session
}

func endsSessionsOfIdentities(t *testing.T, e record.Engine) {
	id := account(t, e, "a@example.org")
	for n, via := range []record.Session{{}, {Via: identity("a"), ViaName: "x"}, {Via: identity("a"), ViaName: "y", Strong: true}, {Via: identity("b"), ViaName: "x"}} {
		s := conformance.Session(n+1, false)
		s.Via, s.ViaName, s.Strong = via.Via, via.ViaName, via.Strong
		_, err := changeSessions(t, e, id, 0, record.SessionChange{Begin: s, Most: 100})
		must(t, err)
		got, _, err := cold.Session(t.Context(), e, s.Digest)
		must(t, err)
		same(t, "origin", [3]any{got.Via, got.ViaName, got.Strong}, [3]any{s.Via, s.ViaName, s.Strong})
	}
	end := func(v record.ViaSelection, left ...int) {
		t.Helper()
		_, err := changeSessions(t, e, id, 0, record.SessionChange{Revoke: record.RevokeVia, Via: v})
		must(t, err)
		wantSessions(t, e, id, left...)
	}
	end(record.ViaSelection{Of: identity("a"), By: epoch.Add(-1)}, 4, 3, 2, 1)
	end(record.ViaSelection{Of: identity("a"), Name: "x", By: epoch}, 4, 3, 1)
	end(record.ViaSelection{Of: identity("a"), By: epoch}, 4, 1)
}

// wantSessions fails the test unless these are the sessions of an account,
// newest first.
func wantSessions(t *testing.T, e record.Engine, owner record.AccountID, numbers ...int) {
	t.Helper()
	list, err := cold.Sessions(t.Context(), e, owner, 1000)
	must(t, err)
	var got []int
	for _, s := range list {
		got = append(got, int(s.Digest[31]))
		found, a, err := cold.Session(t.Context(), e, s.Digest)
		must(t, err)
		same(t, "session that was looked up", found, s)
		same(t, "its account", a.ID, owner)
	}
	same(t, "sessions", got, numbers)
}

func keepsSessions(t *testing.T, e record.Engine) {
	owner := account(t, e, "a@example.org")
	for n, pending := range map[int]bool{1: false, 2: true} {
		want := *conformance.Session(n, pending)
		got := begin(t, e, owner, n, pending)
		if want.ID, want.Owner = got.ID, owner; got.ID == 0 {
			t.Error("a session got no ID")
		}
		same(t, "session that began", got, want)
		got, a, err := cold.Session(t.Context(), e, want.Digest)
		must(t, err)
		same(t, "session", got, want)
		same(t, "its account", a, record.Account{ID: owner, Email: "a@example.org", PasswordHash: "$argon2id$", CreatedAt: epoch})
		clear(got.Sealed)
		got, _, err = cold.Session(t.Context(), e, want.Digest)
		must(t, err)
		same(t, "session after its copy was changed", got, want)
	}
	got, a, err := cold.Session(t.Context(), e, digestOf(3))
	wantErr(t, err, record.ErrNotFound)
	same(t, "session that is not there", got, record.Session{})
	same(t, "its account", a, record.Account{})

	other := account(t, e, "b@example.org")
	_, err = changeSessions(t, e, other, 0, record.SessionChange{Begin: conformance.Session(1, false), Most: 100})
	wantErr(t, err, record.ErrExists)
	_, err = changeSessions(t, e, other+1, 0, record.SessionChange{Begin: conformance.Session(4, false), Most: 100})
	wantErr(t, err, record.ErrNotFound)
	wantSessions(t, e, other)
}

func listsSessions(t *testing.T, e record.Engine) {
	owner, other := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	wantSessions(t, e, owner)
	for n := range 6 {
		begin(t, e, []record.AccountID{owner, other}[n%2], n+1, n > 3)
	}
	wantSessions(t, e, owner, 5, 3, 1)
	wantSessions(t, e, other, 6, 4, 2)
	wantSessions(t, e, other+1)
	for limit, want := range map[int]int{0: 0, 1: 1, 2: 2, 3: 3, 4: 3} {
		list, err := cold.Sessions(t.Context(), e, owner, limit)
		must(t, err)
		same(t, "number of sessions", len(list), want)
		if limit > 0 {
			same(t, "newest", list[0].Digest, digestOf(5))
		}
	}
}

func endsSessions(t *testing.T, e record.Engine) {
	owner, other := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	begin(t, e, other, 90, false)
	for n := range 6 {
		begin(t, e, owner, n+1, n%2 == 1)
	}
	for _, c := range []struct {
		by     int
		change record.SessionChange
		want   []int
	}{
		{0, record.SessionChange{}, []int{6, 5, 4, 3, 2, 1}},
		{3, record.SessionChange{}, []int{6, 5, 4, 3, 2, 1}},
		{0, record.SessionChange{Revoke: record.RevokeOwn}, []int{6, 5, 4, 3, 2, 1}},
		{3, record.SessionChange{Revoke: record.RevokeOwn}, []int{6, 5, 4, 2, 1}},
		{4, record.SessionChange{Revoke: record.RevokeOwn, Begin: conformance.Session(7, false), Most: 100}, []int{7, 6, 5, 2, 1}},
		{5, record.SessionChange{Revoke: record.RevokeOthers}, []int{5}},
		{5, record.SessionChange{Revoke: record.RevokeOthers, Begin: conformance.Session(8, true), Most: 100}, []int{8, 5}},
		{0, record.SessionChange{Revoke: record.RevokeOthers}, nil},
	} {
		_, err := changeSessions(t, e, owner, c.by, c.change)
		must(t, err)
		wantSessions(t, e, owner, c.want...)
		wantSessions(t, e, other, 90)
	}
	first := begin(t, e, owner, 9, false)
	_, err := changeSessions(t, e, owner, 9, record.SessionChange{Revoke: record.RevokeOwn})
	must(t, err)
	if second := begin(t, e, owner, 9, false); second.ID <= first.ID {
		t.Errorf("session %d came after %d", second.ID, first.ID)
	}
}

func refusesStrangeSessions(t *testing.T, e record.Engine) {
	owner, other := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	begin(t, e, owner, 1, false)
	begin(t, e, other, 2, false)
	for by, want := range map[int]error{0: nil, 1: nil, 2: record.ErrSession, 3: record.ErrSession} {
		asked := false
		_, err := cold.ChangeAccount(t.Context(), e, owner, digestOf(by), func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			asked = true
			a.TOTPStep++
			return a, record.SessionChange{}, conformance.Told, nil
		})
		wantErr(t, err, want)
		same(t, "the rule was asked", asked, want == nil)
	}
	_, err := changeSessions(t, e, other+1, 2, record.SessionChange{})
	wantErr(t, err, record.ErrSession)
	a, err := cold.Account(t.Context(), e, owner)
	must(t, err)
	same(t, "number of changes", a.TOTPStep, int64(2))
}

func replacesOldSessions(t *testing.T, e record.Engine) {
	owner, other := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	begin(t, e, other, 90, false)
	for n := range 6 {
		begin(t, e, owner, n+1, n >= 4)
	}
	for _, c := range []struct {
		by, n   int
		pending bool
		most    int
		want    []int
	}{
		{0, 7, false, 5, []int{7, 6, 5, 4, 3, 2, 1}}, // as many as there may be
		{0, 8, false, 5, []int{8, 7, 6, 5, 4, 3, 2}}, // one more
		{0, 9, true, 2, []int{9, 8, 7, 6, 4, 3, 2}},  // the pending ones are counted by themselves
		{6, 10, false, 5, []int{10, 9, 8, 7, 4, 3}},  // and one that ends is not
		{3, 11, false, 5, []int{11, 10, 9, 8, 7, 4}}, // so that the new one fits
		{0, 12, false, 2, []int{12, 11, 9}},
		{0, 13, false, 1, []int{13, 9}},
	} {
		_, err := changeSessions(t, e, owner, c.by, record.SessionChange{Revoke: record.RevokeOwn, Begin: conformance.Session(c.n, c.pending), Most: c.most})
		must(t, err)
		wantSessions(t, e, owner, c.want...)
	}
	wantSessions(t, e, other, 90)
}

func touchesSessions(t *testing.T, e record.Engine) {
	want := begin(t, e, account(t, e, "a@example.org"), 1, false)
	for range 2 {
		must(t, cold.TouchSession(t.Context(), e, want.Digest, epoch.Add(time.Minute)))
	}
	want.LastUsedAt = epoch.Add(time.Minute)
	got, _, err := cold.Session(t.Context(), e, want.Digest)
	must(t, err)
	same(t, "session", got, want)
	must(t, cold.TouchSession(t.Context(), e, digestOf(2), epoch))
	_, _, err = cold.Session(t.Context(), e, digestOf(2))
	wantErr(t, err, record.ErrNotFound)
}

func removesSessions(t *testing.T, e record.Engine) {
	owner, other := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	first, second := begin(t, e, owner, 1, false), begin(t, e, owner, 2, false)
	for _, c := range []struct {
		owner record.AccountID
		id    record.SessionID
		want  error
	}{
		{other, first.ID, record.ErrNotFound},
		{0, first.ID, record.ErrNotFound},
		{owner, second.ID + 1, record.ErrNotFound},
		{owner, first.ID, nil},
		{owner, first.ID, record.ErrNotFound},
	} {
		wantErr(t, cold.RemoveSession(t.Context(), e, c.owner, c.id, conformance.Told), c.want)
	}
	wantSessions(t, e, owner, 2)
	_, _, err := cold.Session(t.Context(), e, first.Digest)
	wantErr(t, err, record.ErrNotFound)
}

func clearsSessions(t *testing.T, e record.Engine) {
	owner, other := account(t, e, "a@example.org"), account(t, e, "b@example.org")
	for n := range 10 {
		begin(t, e, []record.AccountID{owner, other}[n%2], n+1, false)
	}
	overAt := func(d time.Duration) record.SessionCutoff {
		return record.SessionCutoff{Expired: epoch.Add(d), Begun: epoch}
	}
	var after record.SessionDigest
	steps := []struct {
		limit int
		last  int // the n-th session; later sessions come first
		more  bool
	}{{3, 8, true}, {1, 7, true}, {5, 2, true}, {5, 1, false}, {5, 1, false}}
	for _, c := range steps {
		last, more, err := cold.ClearSessions(t.Context(), e, after, c.limit, overAt(4*time.Hour))
		must(t, err)
		same(t, "last", last, digestOf(c.last))
		same(t, "more", more, c.more)
		after = last
	}
	wantSessions(t, e, owner, 9, 7, 5)
	wantSessions(t, e, other, 10, 8, 6)
	last, more, err := cold.ClearSessions(t.Context(), e, record.SessionDigest{}, 6, overAt(24*time.Hour))
	must(t, err)
	same(t, "last", last, digestOf(5))
	same(t, "more", more, true) // for all that it knows
	last, more, err = cold.ClearSessions(t.Context(), e, last, 6, overAt(24*time.Hour))
	must(t, err)
	same(t, "last", last, digestOf(5))
	same(t, "more", more, false)
	wantSessions(t, e, owner)
}

func clearsWhatHasEndedAlone(t *testing.T, e record.Engine) {
	owner := account(t, e, "a@example.org")
	for n := range 4 {
		s := conformance.Session(n+1, false)
		switch n + 1 {
		case 2:
			s.ExpiresAt = time.Time{}
		case 3:
			s.LastUsedAt = epoch.Add(2 * time.Hour)
		case 4:
			s.CreatedAt = epoch.Add(2 * time.Hour)
		}
		_, err := changeSessions(t, e, owner, 0, record.SessionChange{Begin: s, Most: 100})
		must(t, err)
	}
	later := epoch.Add(2 * time.Hour)
	for _, c := range []struct {
		cutoff record.SessionCutoff
		left   []int
	}{
		{record.SessionCutoff{Expired: epoch, Begun: later}, []int{4, 3, 2, 1}},
		{record.SessionCutoff{Expired: epoch, Begun: later.Add(-1)}, []int{3, 2, 1}},
		{record.SessionCutoff{Expired: epoch.Add(time.Hour), Begun: later}, []int{3, 2}},
		{record.SessionCutoff{Expired: epoch, Begun: later, Unused: epoch.Add(-1)}, []int{3, 2}},
		{record.SessionCutoff{Expired: epoch, Begun: later, Unused: epoch}, []int{3}},
		{record.SessionCutoff{Expired: epoch, Begun: later, Unused: later}, nil},
	} {
		_, more, err := cold.ClearSessions(t.Context(), e, record.SessionDigest{}, 9, c.cutoff)
		must(t, err)
		same(t, "more", more, false)
		wantSessions(t, e, owner, c.left...)
	}
}

// Sign-ins run beside a change of the password that ends all sessions: none that
// the old password began is left.
func ordersSessions(t *testing.T, e record.Engine) {
	const signIns = 8
	for range 20 {
		owner := account(t, e, "a@example.org")
		var all sync.WaitGroup
		for n := range signIns {
			all.Go(func() {
				_, err := cold.ChangeAccount(t.Context(), e, owner, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
					if a.PasswordHash != "$argon2id$" {
						return a, record.SessionChange{}, conformance.Told, record.ErrCredentials
					}
					return a, record.SessionChange{Begin: conformance.Session(n+1, false), Most: 100}, conformance.Told, nil
				})
				if err != nil && !errors.Is(err, record.ErrCredentials) {
					t.Errorf("sign-in: %v", err)
				}
			})
		}
		all.Go(func() {
			_, err := cold.ChangeAccount(t.Context(), e, owner, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
				a.PasswordHash = "$other"
				return a, record.SessionChange{Revoke: record.RevokeOthers}, conformance.Told, nil
			})
			if err != nil {
				t.Errorf("change: %v", err)
			}
		})
		all.Wait()
		wantSessions(t, e, owner)
		must(t, cold.RemoveAccount(t.Context(), e, owner, conformance.Told))
	}
}
