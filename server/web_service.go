package server

import (
	"net/http"

	"pushbox/store"
)

// nameParam is the parameter of patterns that holds a name which is no url_token.
const nameParam = "name"

// asset answers with a file that pages need.
func (s *Server) asset(r *request) (reply, error) {
	a, ok := s.pages.Asset(r.name)
	if !ok {
		return reply{}, store.ErrNotFound
	}
	return reply{status: http.StatusOK, asset: &a}, nil
}

// robots asks crawlers to leave everything alone.
func (s *Server) robots(*request) (reply, error) {
	return reply{status: http.StatusOK, text: &text{"text/plain; charset=utf-8", []byte("User-agent: *\nDisallow: /\n")}}, nil
}
