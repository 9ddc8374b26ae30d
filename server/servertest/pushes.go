package servertest

import (
	"fmt"
	"net/http"

	"pushbox/config"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// AddSessionUser adds an account and returns the header with the cookie of a session
// of it.
func (a *Server) AddSessionUser(email string) http.Header {
	a.T.Helper()
	a.AddAccount(email, ownersPassword.Reveal())
	return a.SignInAgain(email)
}

var ownersPassword = secret.New("a password for tests 17")

// SignInAgain begins another session of an account, and returns its cookie.
func (a *Server) SignInAgain(email string) http.Header {
	a.T.Helper()
	session, err := a.Store.SignIn(ctx, store.Actor{Client: "192.0.2.1", IP: "192.0.2.1"}, email, ownersPassword)
	env.OK(a.T, err)
	return http.Header{"Cookie": {"pushbox_session=" + session.Secret.Reveal()}}
}

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
	t, err := store.ParseToken(urlToken)
	env.OK(a.T, err)
	p, err := a.Store.Preview(ctx, t)
	env.OK(a.T, err)
	return p
}

// Far is the header of a client that is not on this machine.
func Far(n int) http.Header { return http.Header{"X-Forwarded-For": {fmt.Sprintf("203.0.113.%d", n)}} }

// Bearer is the header with an API token.
func Bearer(token string) http.Header {
	return http.Header{"Authorization": {"Bearer " + token}}
}

// SignUps enables sign-ups for some addresses.
func SignUps(c *config.Config) {
	c.EnableSignups, c.SignupEmailRegexp = true, `[a-z]+@(example\.com|example\.org)|boss@example\.net`
}
