package server

import (
	"context"
	"net/http"

	"pushbox/internal/clientip"
	"pushbox/internal/lang"
	"pushbox/internal/secret"
	"pushbox/store"
)

// An action answers one request. It never writes to the connection: what it
// returns is rendered by the server, the only place that sets headers.
type action func(*request) (reply, error)

// A request is what an action needs to know of an HTTP request.
type request struct {
	*http.Request
	Body body // in place of the http.Request's own, which has no bounds

	ctx      context.Context // in place of the http.Request's own: it ends when the request's time is over, too
	id       string          // names the request in the log and in a 500
	door     *door           // the way it came in
	route    *route          // nil: there is none
	urlToken store.Token     // of the path; zero, which no push has, where it cannot be one
	grant    secret.Text     // of the path: for a download
	file     string          // of the path: which one
	name     string          // of the path: of an asset, or the code of a first account
	base     string          // what links in the answer begin with
	client   clientip.Client // who sent it, proxies seen through
	actor    store.Actor
	token    *store.APIToken   // nil: none came
	session  store.SessionInfo // on pages: of whoever is signed in
	pending  bool              // on pages: a password was accepted and a code is awaited
	locale   *lang.Locale      // for what people read
	pace     pacer
	memory   share // what its text, and then its page, take; given back when it was answered
}

// Context is what the work for the request ends with.
func (r *request) Context() context.Context { return r.ctx }

// caller says for the log what kind of caller it is.
func (r *request) caller() string {
	switch {
	case r.token != nil:
		return "token"
	case r.actor.Account != 0:
		return "session"
	default:
		return "anonymous"
	}
}
