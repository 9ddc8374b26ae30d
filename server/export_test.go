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

// RouteNames are the names of all routes.
func (s *Server) RouteNames() (names []string) {
	for _, r := range s.routes() {
		names = append(names, r.name)
	}
	return names
}
