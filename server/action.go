package server

import (
	"net/http"

	"pushbox/internal/clientip"
	"pushbox/internal/secret"
	"pushbox/store"
)

// An action answers one request. It never writes to the connection: what it
// returns is rendered by the server, the only place that sets headers.
type action func(*request) (reply, error)

// A request is what an action needs to know of an HTTP request.
type request struct {
	*http.Request
	id       string          // names the request in the log and in a 500
	route    *route          // nil: there is none
	urlToken store.Token     // of the path; zero, which no push has, where it cannot be one
	grant    secret.Text     // of the path: for a download
	file     string          // of the path: which one
	base     string          // what links in the answer begin with
	client   clientip.Client // who sent it, proxies seen through
	actor    store.Actor
	token    *store.APIToken // nil: anonymous
	pace     pacer
}

// caller says for the log what kind of caller it is.
func (r *request) caller() string {
	if r.token == nil {
		return "anonymous"
	}
	return "token"
}
