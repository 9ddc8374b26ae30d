package server

import (
	"fmt"
	"io"
	"net/http"
)

// AddPanic adds a route whose action panics with all that it knows of its
// request.
func (s *Server) AddPanic() {
	s.router = newRouter(append(s.routes(), route{
		name: "panic", method: http.MethodPost, pattern: "/panic/:" + tokenParam, access: anyone,
		action: func(r *request) (reply, error) {
			body, _ := io.ReadAll(r.Body)
			panic(fmt.Sprintf("%s %s %v", body, r.URL, r.Header))
		},
	}))
}

// RouteNames are the names of the routes that are pages, or of the others.
func (s *Server) RouteNames(pages bool) (names []string) {
	for _, r := range s.routes() {
		if r.page == pages {
			names = append(names, r.name)
		}
	}
	return names
}
