package server

import "net/http"

// apiHelpPage documents the API.
func (s *Server) apiHelpPage(r *request) (reply, error) {
	return show(http.StatusOK, "help", s.apiHelp(s.home(r))), nil
}
