package server

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"pushbox/server/action"
	"pushbox/server/pages"
	"pushbox/server/web"
	"pushbox/store/record"
)

// AddPanic adds a route whose action panics with everything it knows about its
// request.
func (s *Server) AddPanic() {
	s.full.router = newRouter(append(s.served(), action.Route{
		Name: "panic", Method: http.MethodPost, Pattern: "/panic/:" + action.TokenParam, Access: action.Optional,
		Action: func(r *action.Request) (action.Reply, error) {
			body, _ := io.ReadAll(r.Request.Body)
			panic(fmt.Sprintf("%s %s %v", body, r.URL, r.Header))
		},
	}), "")
}

// RouteNames returns the names of the routes that are pages, or of the others.
func (s *Server) RouteNames(pages bool) (names []string) {
	for _, r := range s.served() {
		if r.Has(action.IsPage) == pages {
			names = append(names, r.Name)
		}
	}
	return names
}

// A Row is a route as tests see it.
type Row struct {
	Name, Method, Pattern, Word string
	Scope                       record.Scopes
	TakesToken                  bool // a valid API token makes its account the caller
}

// Rows returns the rows of the table.
func (s *Server) Rows() (rows []Row) {
	for _, r := range s.served() {
		rows = append(rows, Row{r.Name, r.Method, r.Pattern, r.Word, r.Scope, !r.Has(action.IsPage) && r.Access != action.Public})
	}
	return rows
}

// AddBrokenPages adds routes whose pages fail after a part was rendered: /broken/error
// with an error, and /broken/panic with a panic in a method that the template calls.
func (s *Server) AddBrokenPages() {
	all := s.served()
	for path, page := range map[string]any{"error": struct{}{}, "panic": brokenView{}} {
		all = append(all, action.Route{
			Name: "broken", Method: http.MethodGet, Pattern: "/broken/" + path, Access: action.Optional, Traits: action.IsPage,
			Action: func(*action.Request) (action.Reply, error) {
				return action.Show(http.StatusOK, "sign_in", page).With(&http.Cookie{Name: "broken", Value: "1"}), nil
			},
		})
	}
	s.full.router = newRouter(all, "")
}

// A brokenView is a page whose template panics.
type brokenView struct {
	Passkey struct{ Options string }
	Why     string
}

func (brokenView) Error() string { panic("broken") }

// BreakPages makes the rendering of every page fail: with an error, or with panics set
// with a panic.
func (s *Server) BreakPages(panics bool) {
	s.pages = &pages.Set{Templates: new(web.Pages)}
	if panics {
		s.pages = nil
	}
}

// IsExpected reports whether an error is no fault of the server.
func IsExpected(err error) bool { return isExpected(err) }

// ParkFor sets how long an upload waits for its next piece.
func (s *Server) ParkFor(d time.Duration) { s.pieces.time = d }
