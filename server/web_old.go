package server

import (
	"net/http"

	"pushbox/store"
)

// oldPush sends links in the form that other versions had to where they lead now.
func (s *Server) oldPush(r *request) (reply, error) { return movedTo(r.urlToken, revealPath) }

// oldPushStep does so with links to the page before an opening.
func (s *Server) oldPushStep(r *request) (reply, error) { return movedTo(r.urlToken, stepPath) }

// movedTo says where a push is, whether there is one or not. Like all that has a
// link in it, the answer is not to be kept.
func movedTo(t store.Token, path func(store.Token) string) (reply, error) {
	if t.IsZero() {
		return reply{}, store.ErrNotFound
	}
	return reply{status: http.StatusMovedPermanently, to: path(t)}, nil
}
