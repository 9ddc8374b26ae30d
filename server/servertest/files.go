// Package servertest starts a server for tests: on a listener of its own, over a store
// in a temporary file whose clock the test sets. New without options is a server with
// the default configuration.
//
// It also has the clients that tests need: requests to the API, uploads as bytes on a
// connection, a browser with cookies, and answers that check themselves. An error ends
// the test.
//
// An account comes from one of these:
//
//   - AddAccount adds one with a password, such as for the form of signing in.
//   - AddTokenUser adds one, and returns the header with its API token, as a program sends it.
//   - AddSessionUser adds one, and returns the header of a browser with its session.
//   - Actor adds one if it does not exist, and returns who acts in calls of the store.
//
// SignedIn and Browser.SignIn add none: they fill in the form for signing in.
package servertest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"testing"

	"pushbox/config"
	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// Mine creates a text push of an account.
func (a *Server) Mine(by store.Actor, changes ...func(*store.NewPush)) store.PushInfo {
	a.T.Helper()
	return storetest.Push(a.T, a.Store, by, func(in *store.NewPush) {
		in.Payload = secret.New("x")
		for _, change := range changes {
			change(in)
		}
	})
}

// Called names a push.
func Called(name string) func(*store.NewPush) {
	return func(in *store.NewPush) { in.Name = secret.New(name) }
}

// SendOwn sends a form as a browser does from a page of the server.
func (a *Server) SendOwn(path string, fields map[string]string, headers ...http.Header) Answer {
	a.T.Helper()
	return a.Send(path, fields, append([]http.Header{{"Sec-Fetch-Site": {"same-origin"}}}, headers...)...)
}

// Hostile are texts that HTML, scripts, templates or spreadsheets may interpret.
var Hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'-alert(1)-'`, `{{.}}`, `</title><svg onload=alert(1)>`, `javascript:alert(1)`,
	"\u202e\u2066", `=HYPERLINK("http://evil.example","x")`, `<!--`, `&lt;b&gt;`, `</textarea>`, "\x00\x01", "`${1}`",
}

// Visit has the headers of a browser in which a person opens a link.
var Visit = http.Header{"Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}, "Sec-Fetch-Site": {"none"}, "Sec-Fetch-User": {"?1"}}

// A Trace is the state of a push that a request can change.
type Trace struct {
	Views int
	Seq   uint32
	State record.State
}

// Handle returns the name that a push has for its owner once it has ended.
func (a *Server) Handle(urlToken string) string {
	a.T.Helper()
	return a.look(urlToken).Handle().String()
}

// Trace returns the state of a push that requests can change.
func (a *Server) Trace(urlToken string) Trace {
	a.T.Helper()
	p := a.look(urlToken)
	return Trace{p.Views, p.Seq, p.State}
}

func (a *Server) look(urlToken string) store.PushInfo {
	a.T.Helper()
	t := env.Must(store.ParseToken(urlToken))(a.T)
	return env.Must(a.Store.Preview(ctx, t))(a.T)
}

// Far is the header of a client that is not on this machine.
func Far(n int) http.Header { return http.Header{"X-Forwarded-For": {fmt.Sprintf("203.0.113.%d", n)}} }

// Bearer is the header with an API token.
func Bearer(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}}
}

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
	p := env.Must(a.Store.CreatePush(ctx, owner, in))(a.T)
	env.OK(a.T, u.Close(ctx))
	return Pushed{a: a, Token: p.Token, owner: owner}
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

// Envelope is the text of a push that its sender encrypted.
func Envelope(t *testing.T, text string) string {
	t.Helper()
	return env.Must(endtoend.NewKey().Seal(endtoend.Content{Text: secret.New(text)}))(t).Reveal()
}
