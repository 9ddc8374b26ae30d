package server_test

import (
	"bytes"
	"net/http"
	"strings"

	"pushbox/internal/secret"
	"pushbox/store"
)

// pushed is a file push, and the store's side of it.
type pushed struct {
	a     *api
	token store.Token
	owner store.Actor
}

// pushFiles creates a file push of an account, which is made where there is
// none.
func (a *api) pushFiles(email string, files ...[]byte) pushed {
	a.t.Helper()
	return a.pushNamed(email, nil, files...)
}

// pushNamed is pushFiles with names, and a change of what is asked for.
func (a *api) pushNamed(email string, change func(*store.NewPush, *store.Upload), files ...[]byte) pushed {
	a.t.Helper()
	u := a.store.NewUpload()
	for _, f := range files {
		if err := u.Add(ctx, bytes.NewReader(f)); err != nil {
			a.t.Fatal(err)
		}
	}
	in := store.NewPush{Kind: store.File, Files: u}
	if change != nil {
		change(&in, u)
	}
	owner := a.actor(email)
	p, err := a.store.CreatePush(ctx, owner, in)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := u.Close(ctx); err != nil {
		a.t.Fatal(err)
	}
	return pushed{a: a, token: p.Token, owner: owner}
}

// actor is who acts as the account of that address.
func (a *api) actor(email string) store.Actor {
	a.t.Helper()
	accounts, err := a.store.Accounts(ctx)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, account := range accounts {
		if account.Email == email {
			return store.Actor{Account: account.ID, Client: "192.0.2.1", IP: "192.0.2.1"}
		}
	}
	return a.store.Account(email)
}

// grant retrieves the push, by its owner, and returns the grant.
func (p pushed) grant() string {
	p.a.t.Helper()
	got, err := p.a.store.Retrieve(ctx, p.owner, p.token, secret.Text{})
	if err != nil {
		p.a.t.Fatal(err)
	}
	return got.Grant.Reveal()
}

// shown retrieves the push through the API and returns the paths of its files.
func (p pushed) shown(headers ...http.Header) (paths []string) {
	p.a.t.Helper()
	got := p.a.get(pushes+"/"+p.token.Reveal(), headers...).want(http.StatusOK)
	for _, f := range got.object()["files"].([]any) {
		path, ok := strings.CutPrefix(f.(map[string]any)["url"].(string), p.a.url)
		if !ok {
			p.a.t.Fatalf("the url of a file is not of this server: %s", got.body)
		}
		paths = append(paths, path)
	}
	return paths
}
