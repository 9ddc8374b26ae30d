package server

import (
	"context"
	"net/http"

	"pushbox/internal/clientip"
	"pushbox/internal/lang"
	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/server/body"
	"pushbox/store"
	"pushbox/store/record"
)

// An action answers one request. It never writes to the connection: what it
// returns is rendered by the server, the only place that sets headers.
type action func(*request) (reply, error)

// A request is an HTTP request, with what the server has found out about it.
type request struct {
	*http.Request
	Body body.Reader // in place of the http.Request's own, which has no bounds

	ctx         context.Context  // in place of the http.Request's own: it also ends when the time for the request is over
	id          string           // names the request in the log and in a 500
	entry       *entryPoint      // that it came in by
	route       *route           // nil: the path has none
	urlToken    store.Token      // from the path; zero, which no push has, if the path has no valid one
	sentToken   secret.Text      // from the path, as it was sent
	push        store.Name       // from the path: urlToken, or a handle
	requestID   record.RequestID // from the path; zero, which no request has, if the path has no valid one
	grant       secret.Text      // from the path of a download
	file        string           // from the path of a download: the number of the file
	name        secret.Text      // from the path: of an asset or a language; a number, of an account; or a code, of the first account or of a probe
	act         string           // from the path: what to do with an account
	base        string           // of the links in the answer
	client      clientip.Client  // the sender's address, which trusted proxies pass on
	counted     bool             // by the general limit, or it comes from this machine
	actor       store.Actor
	token       *record.APIToken  // nil: the request has none
	unconfirmed bool              // the token belongs to an account whose address is not confirmed
	session     store.SessionInfo // on pages: of the signed-in account
	proxied     proxied           // the person whom a header of a proxy names
	pending     bool              // on pages: the password was accepted, and the second factor is still missing
	// with pending: the account has an authenticator app
	pendingTOTP bool
	locale      *lang.Locale // of texts for people
	deadlines   deadlines
	memory      limit.Reservation // for its text, and then for its page; released after the answer
}

// Context returns the context of the work for the request.
func (r *request) Context() context.Context { return r.ctx }

// caller returns the kind of caller, for the log.
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
