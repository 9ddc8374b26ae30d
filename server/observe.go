package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"pushbox/config"
	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/api"
	"pushbox/server/manage"
	"pushbox/server/pages"
	"pushbox/store/record"
)

// callerKind says how the caller proved who it is, for the log.
func callerKind(r *action.Request) string {
	switch {
	case r.Token != nil:
		return "token"
	case r.Actor.Account != 0:
		return "session"
	default:
		return "anonymous"
	}
}

// An Observer is called for each request. It gets only names that the program defines, never text
// from a request. Many goroutines call it at the same time, so it must be quick.
type Observer interface {
	// Began reports a request that begins. Ended always follows.
	Began()
	// Ended reports a request that was answered: its label is one of Labels. The
	// status is 0 where there was no answer.
	Ended(l Label, status int, took time.Duration)
	// Limited reports a request that a limit refused; it is one of Limits.
	Limited(limit string)
}

// A Label is the class of a request in counts: the name and the method of its route. Requests
// without a route differ only by their methods.
type Label struct{ Route, Method string }

// otherMethod represents all methods that HTTP does not define (RFC 9110 section 9).
const otherMethod = "other"

// methodNames are the methods in the labels of requests without a route.
func methodNames() []string {
	return []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodOptions, http.MethodConnect, http.MethodTrace, otherMethod,
	}
}

// Labels lists every Label there can be, once.
func Labels() []Label {
	var all []Label
	for _, row := range (&Server{pages: new(pages.Set), api: new(api.Service)}).routes() {
		if l := (Label{row.Name, row.Method}); !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	for _, m := range methodNames() {
		all = append(all, Label{noRouteName, m})
	}
	return all
}

// label returns the Label of a request.
func (s *Server) label(r *action.Request) Label {
	switch {
	case r.Route != nil:
		return Label{r.Route.Name, r.Route.Method}
	case slices.Contains(methodNames(), r.Method):
		return Label{noRouteName, r.Method}
	default:
		return Label{noRouteName, otherMethod}
	}
}

// unobserved is the Observer that does nothing.
type unobserved struct{}

func (unobserved) Began()                          {}
func (unobserved) Ended(Label, int, time.Duration) {}
func (unobserved) Limited(string)                  {}

// Monitoring connects a server with its monitors. The zero value is valid and has none.
type Monitoring struct {
	Observer Observer     // may be nil
	Ready    func() error // for /readyz: returns nil, ErrStarting or ErrStopping; nil: always ready

	Metrics func() (media string, text []byte, err error) // the answer of /metrics; nil: /metrics does not exist
	Token   secret.Text                                   // a request for /metrics must have it; zero: /metrics does not exist

	Findings func(context.Context) ([]manage.Finding, error) // findings about the installation, for administrators; nil: none
	Settings func() []config.Value                           // the settings in force, for administrators; nil: none
}

// noRouteName is the name of the route in labels and logs for a request without one.
const noRouteName = "none"

// isExpected reports whether an error is not a fault of the server: the client left, a limit was
// reached, or a monitor asked a server that is not ready.
func isExpected(err error) bool {
	return isBusy(err) || errors.Is(err, context.Canceled) || errors.Is(err, action.ErrStarting) || errors.Is(err, action.ErrStopping) || errors.As(err, new(*unreadyError))
}

// isBusy reports whether an error comes from a full queue or room: the server is only asked for
// more than it may do at once.
func isBusy(err error) bool {
	return errors.Is(err, limit.ErrBusy) || errors.Is(err, record.ErrBusy) || errors.Is(err, record.ErrRoom) || errors.Is(err, record.ErrNoAnswers)
}

// noteUnbelieved warns once, after a start or a reload, about a peer whose forwarding headers are
// ignored. It may be a proxy that is missing in trusted_proxies; then all its clients count as one.
func (s *Server) noteUnbelieved(r *action.Request) {
	if r.Client.Unbelieved && s.warned.CompareAndSwap(false, true) {
		s.log.Warn().Str("peer", r.Client.Short(s.cfg.Privacy.IPv4Prefix, s.cfg.Privacy.IPv6Prefix)).
			Msg("a peer that is not in trusted_proxies sends forwarding headers: if it is your proxy, add it there, or the limits count all its clients as one")
	}
}
