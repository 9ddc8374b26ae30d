package servertest

import (
	"net/http"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// SetAdmin makes an account an administrator's, or a member's.
func (a *Server) SetAdmin(email string, admin bool) {
	a.T.Helper()
	env.OK(a.T, a.Store.SetAdmin(ctx, storetest.Operator, email, admin, true))
}

// GivePolicy gives an account the policy of that name.
func (a *Server) GivePolicy(email, policy string) {
	a.T.Helper()
	env.OK(a.T, a.Store.SetPolicy(ctx, storetest.Operator, email, policy))
}

// AddScopedToken makes an API token with scopes for an account and returns the header with it.
func (a *Server) AddScopedToken(email string, scopes record.Scopes) http.Header {
	a.T.Helper()
	token := env.Must(a.Store.CreateToken(ctx, storetest.Operator, email, store.TokenTerms{Scopes: scopes}))(a.T)
	return Bearer(token.Secret.Reveal())
}

// FirstPath is the path of the page that makes the first account. The test fails if there is
// an account.
func (a *Server) FirstPath() string {
	a.T.Helper()
	code, err := a.Store.FirstCode(ctx)
	if err != nil || code.IsZero() {
		a.T.Fatalf("there is no code for the first account: %v", err)
	}
	return action.FirstPath + code.Reveal()
}

// AddTokenUser adds an account and returns the header with an API token of it.
func (a *Server) AddTokenUser(email string) http.Header {
	a.T.Helper()
	a.Store.Account(email)
	return a.AddToken(email)
}

// AddToken makes an API token for an account and returns the header with it.
func (a *Server) AddToken(email string) http.Header {
	a.T.Helper()
	token := env.Must(a.Store.CreateToken(ctx, storetest.Operator, email, store.TokenTerms{}))(a.T)
	return Bearer(token.Secret.Reveal())
}

// AddSessionUser adds an account and returns the header with the cookie of a session
// of it.
func (a *Server) AddSessionUser(email string) http.Header {
	a.T.Helper()
	a.AddAccount(email, ownersPassword.Reveal())
	return a.SignInAgain(email)
}

var ownersPassword = secret.New("a password for tests 17")

// SignInAgain begins another session of an account, and returns the header with its cookie.
func (a *Server) SignInAgain(email string) http.Header {
	a.T.Helper()
	session := env.Must(a.Store.SignIn(ctx, store.Actor{Client: "192.0.2.1", IP: "192.0.2.1"}, email, ownersPassword))(a.T)
	return http.Header{"Cookie": {"pushbox_session=" + session.Secret.Reveal()}}
}

// Actor returns the actor for the account of that address. It adds the account if there
// is none.
func (a *Server) Actor(email string) store.Actor {
	a.T.Helper()
	accounts := env.Must(a.Store.Accounts(ctx))(a.T)
	for _, account := range accounts {
		if account.Email == email {
			return store.Actor{Account: account.ID, Client: "192.0.2.1", IP: "192.0.2.1"}
		}
	}
	return a.Store.Account(email)
}

// AddAccount adds an account with a password.
func (a *Server) AddAccount(email, password string) {
	a.T.Helper()
	env.Must(a.Store.AddAccount(ctx, store.Actor{Role: store.Operator}, email, secret.New(password)))(a.T)
}
