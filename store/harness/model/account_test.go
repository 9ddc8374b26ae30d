package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"pgregory.net/rapid"

	"pushbox/store"
	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

func (m *model) download(t *rapid.T) {
	if len(m.grants) == 0 {
		return
	}
	g := m.grants[len(m.grants)-rapid.IntRange(1, len(m.grants)).Draw(t, "grant")] // rapid prefers small numbers
	n := rapid.IntRange(0, len(g.push.files)).Draw(t, "file")
	d, err := m.f.Download(ctx, text(g.secret), n)
	if !g.good(m.now()) || n == len(g.push.files) {
		m.wantErr("download", err, record.ErrNotFound)
		return
	}
	m.wantErr("download", err, nil)
	defer d.Close()
	got, err := io.ReadAll(d)
	if err != nil || !bytes.Equal(got, g.push.files[n]) {
		m.Fatalf("file %d of %v: %d bytes, %v", n, g.push, len(got), err)
	}
	if m.counts["downloaded"]++; len(got) > 0 {
		g.slide(m.now())
	}
}

func (m *model) addAccount(*rapid.T) {
	if len(m.accounts) >= 3 {
		return
	}
	a := &account{email: fmt.Sprintf("user%d@example.com", len(m.accounts))}
	var err error
	a.id, err = cold.CreateAccount(ctx, m.f.Engine(), record.Account{Email: a.email, PasswordHash: passwordHash(), CreatedAt: m.now()}, storetest.Told(m.f.Engine()))
	m.wantErr("add an account", err, nil)
	m.accounts = append(m.accounts, a)
	_, err = cold.CreateAccount(ctx, m.f.Engine(), record.Account{Email: a.email}, storetest.Told(m.f.Engine()))
	m.wantErr("add an account again", err, record.ErrExists)
	m.tells(record.AdminKeysCreate) // the event that Told has
}

// one draws an account; nil where there is none.
func (m *model) one(t *rapid.T) *account {
	if len(m.accounts) == 0 {
		return nil
	}
	return rapid.SampledFrom(m.accounts).Draw(t, "account")
}

func (m *model) disable(t *rapid.T) {
	a := m.one(t)
	if a == nil {
		return
	}
	was := a.disabled
	a.disabled = rapid.IntRange(0, 2).Draw(t, "disabled") == 2
	m.wantErr("disable", m.f.SetDisabled(ctx, store.Actor{Role: store.Operator}, a.email, a.disabled), nil)
	if a.disabled {
		a.sessions = nil
	}
	switch {
	case a.disabled == was:
		m.tells()
	case a.disabled:
		m.tells(record.AdminAccountDisable)
	default:
		m.tells(record.AdminAccountEnable)
	}
}

func (m *model) removeAccount(t *rapid.T) {
	a := m.one(t)
	if a == nil || a != m.accounts[len(m.accounts)-1] { // so that addresses are not taken
		return
	}
	m.wantErr("remove an account", m.f.RemoveAccount(ctx, store.Actor{Role: store.Operator}, a.email), nil)
	m.tells(record.AdminAccountRemove, record.AdminAccountRemoved)
	m.accounts = m.accounts[:len(m.accounts)-1]
	m.pushes = slices.DeleteFunc(m.pushes, func(p *push) bool {
		if p.owner == a {
			m.purge(p)
		}
		return p.owner == a
	})
	for _, token := range a.tokens {
		_, _, err := m.f.Authenticate(ctx, store.Actor{}, text(token.secret))
		m.wantErr("authenticate", err, record.ErrToken)
	}
	for _, s := range a.sessions {
		_, err := m.f.Resume(ctx, text(s.secret))
		m.wantErr("resume", err, record.ErrSession)
	}
	_, err := m.f.Tokens(ctx, a.email)
	m.wantErr("tokens", err, record.ErrNotFound)
}

func (m *model) token(t *rapid.T) {
	a := m.one(t)
	if a == nil {
		return
	}
	token := &apiToken{label: rapid.SampledFrom(modelWords).Draw(t, "label")}
	lifetime := time.Duration(rapid.IntRange(0, 3).Draw(t, "days")) * day
	if lifetime > 0 {
		token.expires = m.now().Add(lifetime)
	}
	got, err := m.f.CreateToken(ctx, store.Actor{Role: store.Operator}, a.email, store.TokenTerms{Label: token.label, Lifetime: lifetime})
	m.wantErr("create a token", err, nil)
	m.tells(record.AdminTokenCreate)
	token.secret, token.id = got.Secret.Reveal(), got.ID
	a.tokens = append(a.tokens, token)
	list, err := m.f.Tokens(ctx, a.email)
	m.wantErr("tokens", err, nil)
	if !slices.EqualFunc(list, a.tokens, func(g record.APIToken, w *apiToken) bool {
		return g.ID == w.id && g.Owner == a.id && g.Label == w.label && g.ExpiresAt.Equal(w.expires) && g.LastUsedAt.Equal(w.used)
	}) {
		m.Fatalf("the tokens of %v are %+v", a, list)
	}
}

// anyToken draws a token of an account; nil where there is none.
func (m *model) anyToken(t *rapid.T) (*account, *apiToken) {
	a := m.one(t)
	if a == nil || len(a.tokens) == 0 {
		return nil, nil
	}
	return a, a.tokens[rapid.IntRange(0, len(a.tokens)-1).Draw(t, "token")]
}

func (m *model) authenticate(t *rapid.T) {
	a, token := m.anyToken(t)
	if a == nil {
		return
	}
	account, got, err := m.f.Authenticate(ctx, store.Actor{}, text(token.secret))
	if a.disabled || !token.expires.IsZero() && !m.now().Before(token.expires) {
		m.wantErr("authenticate", err, record.ErrToken)
		return
	}
	m.wantErr("authenticate", err, nil)
	if account.ID != a.id || got.ID != token.id || !got.LastUsedAt.Equal(token.used) {
		m.Fatalf("%v is %v, its token was used at %v, not %v", a, account.Email, got.LastUsedAt, token.used)
	}
	if m.now().Sub(token.used) >= time.Minute {
		token.used = m.now()
	}
}

func (m *model) revoke(t *rapid.T) {
	a, token := m.anyToken(t)
	if a == nil {
		return
	}
	by := m.one(t)
	err := m.f.RevokeToken(ctx, store.Actor{Account: by.id}, token.id)
	if by != a {
		m.wantErr("revoke another's", err, record.ErrNotFound)
		m.tells()
		return
	}
	m.wantErr("revoke", err, nil)
	m.tells(record.AdminTokenRevoke)
	a.tokens = slices.DeleteFunc(a.tokens, func(other *apiToken) bool { return other == token })
	_, _, err = m.f.Authenticate(ctx, store.Actor{}, text(token.secret))
	m.wantErr("authenticate", err, record.ErrToken)
}

func (m *model) signIn(t *rapid.T) {
	a := m.one(t)
	if a == nil {
		return
	}
	password := rapid.SampledFrom([]string{accountPassword, accountPassword, "wrong horse"}).Draw(t, "password")
	got, err := m.f.SignIn(ctx, a.actor(), a.email, text(password))
	if a.disabled || password != accountPassword {
		m.wantErr("sign in", err, record.ErrCredentials)
		m.tells()
		return
	}
	m.wantErr("sign in", err, nil)
	m.tells(record.AdminSignIn)
	a.sessions = append(a.sessions, &session{secret: got.Secret.Reveal(), id: got.ID, created: m.now(), used: m.now()})
}

// anySession draws a session of an account; nil where there is none.
func (m *model) anySession(t *rapid.T) (*account, *session) {
	a := m.one(t)
	if a == nil || len(a.sessions) == 0 {
		return nil, nil
	}
	return a, a.sessions[rapid.IntRange(0, len(a.sessions)-1).Draw(t, "session")]
}

// resume uses a session, and lists those of its account.
func (m *model) resume(t *rapid.T) {
	a, s := m.anySession(t)
	if a == nil {
		return
	}
	got, err := m.f.Resume(ctx, text(s.secret))
	if s.over(m.now()) {
		m.wantErr("resume", err, record.ErrSession)
		return
	}
	m.wantErr("resume", err, nil)
	if got.ID != s.id || got.Owner != a.id || got.Email != a.email || !got.LastUsedAt.Equal(s.used) || got.IP != "192.0.2.1" {
		m.Fatalf("a session of %v is %+v", a, got)
	}
	if m.now().Sub(s.used) >= time.Minute {
		s.used = m.now()
	}
	list, err := m.f.Sessions(ctx, text(s.secret))
	m.wantErr("sessions", err, nil)
	want := slices.DeleteFunc(slices.Clone(a.sessions), func(one *session) bool { return one.over(m.now()) })
	slices.Reverse(want)
	if !slices.EqualFunc(list, want, func(g store.SessionInfo, w *session) bool { return g.ID == w.id && g.Own == (w == s) }) {
		m.Fatalf("the sessions of %v are %+v", a, list)
	}
}

// endSession signs out, or ends a session by another of the same account.
func (m *model) endSession(t *rapid.T) {
	a, s := m.anySession(t)
	if a == nil {
		return
	}
	by, kind := a.sessions[rapid.IntRange(0, len(a.sessions)-1).Draw(t, "by")], record.AdminSessionEnd
	if by == s {
		kind = record.AdminSignOut
		m.wantErr("sign out", m.f.SignOut(ctx, store.Actor{}, text(s.secret)), nil)
	} else if err := m.f.EndSession(ctx, store.Actor{}, text(by.secret), s.id); by.over(m.now()) {
		m.wantErr("end a session", err, record.ErrSession)
		return
	} else if s.over(m.now()) && errors.Is(err, record.ErrNotFound) {
		return // a sweep may have removed it
	} else {
		m.wantErr("end a session", err, nil)
	}
	if s.over(m.now()) { // a sweep may have removed it
		m.events()
	} else {
		m.tells(kind)
	}
	a.sessions = slices.DeleteFunc(a.sessions, func(one *session) bool { return one == s })
	_, err := m.f.Resume(ctx, text(s.secret))
	m.wantErr("resume", err, record.ErrSession)
}

// tells fails the test unless the instance log has exactly these events since the last
// look at it.
func (m *model) tells(want ...record.AdminKind) {
	m.Helper()
	if got := m.events(); !slices.Equal(got, want) {
		m.Fatalf("the instance log has %v, want %v", got, want)
	}
}

// events returns the new events, but not those that depend on limits and on time:
// refusals, and what pushbox does by itself.
func (m *model) events() (kinds []record.AdminKind) {
	list, err := m.f.AdminEvents(ctx, time.Time{}, *m.told, record.MaxAdminEvents)
	m.wantErr("events", err, nil)
	for _, e := range list {
		*m.told = e.Number
		switch {
		case e.Number == 1, e.Kind == record.AdminSignInRefused, e.Kind == record.AdminTokenRefused, e.Kind == record.AdminMoreRefused, e.Kind == record.AdminKeysRenew:
		default:
			kinds = append(kinds, e.Kind)
		}
	}
	return kinds
}
