// Package action has what an action gets and what it returns.
//
// An action answers one request: a page, or a call of the API. It gets a Request, with what the
// server has found out about it, and returns a Reply or an error. It cannot write to the
// connection: the server renders what it returns. ProblemOf turns an error into a status and words.
package action

import (
	"context"
	"net/http"
	"strings"

	"pushbox/internal/clientip"
	"pushbox/internal/lang"
	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/server/body"
	"pushbox/server/deadline"
	"pushbox/store"
	"pushbox/store/record"
)

// A Request is an HTTP request, with what the server has found out about it.
type Request struct {
	*http.Request
	Body body.Reader // in place of the http.Request's own, which has no bounds

	Ctx         context.Context  // in place of the http.Request's own: it also ends when the time for the request is over
	ID          string           // names the request in the log and in a 500
	Entry       *Entry           // that it came in by
	Route       *Route           // nil: the path has none
	URLToken    store.Token      // from the path; zero, which no push has, if the path has no valid one
	SentToken   secret.Text      // from the path, as it was sent
	Push        store.Name       // from the path: URLToken, or a handle
	RequestID   record.RequestID // from the path; zero, which no request has, if the path has no valid one
	Grant       secret.Text      // from the path of a download
	File        string           // from the path of a download: the number of the file
	Name        secret.Text      // from the path: of an asset or a language; a number, of an account; or a code, of the first account or of a probe
	Act         string           // from the path: what to do with an account
	Base        string           // of the links in the answer
	Client      clientip.Client  // the sender's address, which trusted proxies pass on
	Counted     bool             // by the general limit, or it comes from this machine
	Actor       store.Actor
	Token       *record.APIToken  // nil: the request has none
	Unconfirmed bool              // the token belongs to an account whose address is not confirmed
	Session     store.SessionInfo // on pages: of the signed-in account
	Proxied     Proxied           // the person whom a header of a proxy names
	Pending     bool              // on pages: the password was accepted, and the second factor is still missing
	PendingTOTP bool              // with Pending: the account has an authenticator app
	Locale      *lang.Locale      // of texts for people
	Deadlines   deadline.Deadlines
	Memory      limit.Reservation // for its text, and then for its page; released after the answer
}

// Context returns the context of the work for the request.
func (r *Request) Context() context.Context { return r.Ctx }

// An Entry is a way into the server.
type Entry struct {
	Recipients bool // only the routes for recipients, and no sessions
	Named      bool // base_url, if set, is its address

	Proxies  clientip.Proxies
	BasePath string // what all paths begin with; empty, or without a slash at its end
	BaseURL  string // what links begin with; empty: the address that the client used
}

// Reserve takes memory for what the request works with, in place of what it has.
func (r *Request) Reserve(size int64) error {
	ctx, cancel := context.WithTimeout(r.Context(), MemoryWait)
	defer cancel()
	return r.Memory.Resize(ctx, size)
}

// Holder returns who holds what the request holds of something shared: its client, and its account
// once that is known. Of a program on this machine only the account's part is bounded.
func (r *Request) Holder() limit.Holder {
	by := limit.Holder{Account: uint64(r.Actor.Account)}
	if !r.Client.Direct {
		by.Client = r.Actor.Client
	}
	return by
}

// Where names the page in the navigation.
func (r *Request) Where() string {
	if r.Route == nil {
		return ""
	}
	return r.Route.Nav
}

// ForPeople reports whether an error becomes a page and not JSON: on the routes of
// pages, where a browser opens the address of a file, and at an unknown path that is
// not one for programs.
func (r *Request) ForPeople() bool {
	if r.Route != nil && r.Route.Has(IsPage) {
		return true
	}
	if r.Route != nil {
		return r.Header.Get("Sec-Fetch-Dest") == "document" && r.Route.Guessable() && r.Route.Has(HasFiles)
	}
	path := strings.TrimPrefix(Squeeze(r.URL.Path), r.Entry.BasePath)
	for _, programs := range [...]string{"/api/", "/d/", HealthPath} {
		if strings.HasPrefix(path, programs) {
			return false
		}
	}
	return !IsPathV1(path)
}
