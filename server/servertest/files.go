package servertest

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/url"
	"testing"

	"pushbox/config"

	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
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
		env.OK(a.T, u.Add(ctx, bytes.NewReader(f)))
	}
	in := store.NewPush{Kind: record.File, Files: u}
	if change != nil {
		change(&in, u)
	}
	owner := a.Actor(email)
	p, err := a.Store.CreatePush(ctx, owner, in)
	env.OK(a.T, err)
	env.OK(a.T, u.Close(ctx))
	return Pushed{a: a, Token: p.Token, owner: owner}
}

// Actor returns the actor for the account of that address. It adds the account if there
// is none.
func (a *Server) Actor(email string) store.Actor {
	a.T.Helper()
	accounts, err := a.Store.Accounts(ctx)
	env.OK(a.T, err)
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
	return storetest.Grant(p.a.T, p.a.Store, p.owner, store.PushInfo{Token: p.Token}).Grant.Reveal()
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

// InMemory is New for a bubble of testing/synctest. Its connections are pipes: a wait for
// one lets the time of the bubble advance, and nothing buffers what is not read.
func InMemory(t *testing.T, changes ...func(*config.Config)) *Server {
	t.Helper()
	cfg := settings(changes)
	p := &pipes{conns: make(chan net.Conn)}
	p.open, p.close = context.WithCancel(ctx)
	return start(t, cfg, fixture(t, cfg), p)
}

// pipes is a listener whose clients call dial.
type pipes struct {
	conns chan net.Conn
	open  context.Context
	close func()
}

// Accept returns the next connection.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.open.Done():
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (p *pipes) Close() error {
	p.close()
	return nil
}

// Addr returns what a URL has in place of an address.
func (*pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}
