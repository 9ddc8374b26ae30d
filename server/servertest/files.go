package servertest

import (
	"bytes"
	"net/http"
	"net/url"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
)

// Pushed is a file push in the store, with its owner.
type Pushed struct {
	a     *Server
	Token store.Token
	owner store.Actor
}

// PushFiles creates a file push of an account. It adds the account if there is none.
func (a *Server) PushFiles(email string, files ...[]byte) Pushed {
	a.T.Helper()
	return a.PushNamed(email, nil, files...)
}

// PushNamed is PushFiles with a change to the push before it is created, which can
// also name the files.
func (a *Server) PushNamed(email string, change func(*store.NewPush, *store.Upload), files ...[]byte) Pushed {
	a.T.Helper()
	u := a.Store.NewUpload(a.Store.Policy(""))
	for _, f := range files {
		if err := u.Add(ctx, bytes.NewReader(f)); err != nil {
			a.T.Fatal(err)
		}
	}
	in := store.NewPush{Kind: record.File, Files: u}
	if change != nil {
		change(&in, u)
	}
	owner := a.Actor(email)
	p, err := a.Store.CreatePush(ctx, owner, in)
	if err != nil {
		a.T.Fatal(err)
	}
	if err := u.Close(ctx); err != nil {
		a.T.Fatal(err)
	}
	return Pushed{a: a, Token: p.Token, owner: owner}
}

// Actor returns the actor for the account of that address. It adds the account if there
// is none.
func (a *Server) Actor(email string) store.Actor {
	a.T.Helper()
	accounts, err := a.Store.Accounts(ctx)
	if err != nil {
		a.T.Fatal(err)
	}
	for _, account := range accounts {
		if account.Email == email {
			return store.Actor{Account: account.ID, Client: "192.0.2.1", IP: "192.0.2.1"}
		}
	}
	return a.Store.Account(email)
}

// Grant retrieves the push as its owner, and returns the grant.
func (p Pushed) Grant() string {
	p.a.T.Helper()
	got, err := p.a.Store.Retrieve(ctx, p.owner, p.Token, secret.Text{}, nil)
	if err != nil {
		p.a.T.Fatal(err)
	}
	return got.Grant.Reveal()
}

// Shown retrieves the push through the API and returns the paths of its files.
func (p Pushed) Shown(headers ...http.Header) (paths []string) {
	p.a.T.Helper()
	got := p.a.Get(pushes+"/"+p.Token.Reveal(), headers...).Want(http.StatusOK)
	for _, f := range got.Object()["files"].([]any) {
		at, err := url.Parse(f.(map[string]any)["url"].(string)) // its host may be that of base_url
		if err != nil || at.Host == "" {
			p.a.T.Fatalf("the url of a file is no address: %s", got.Body)
		}
		paths = append(paths, at.Path)
	}
	return paths
}
