package server

import (
	"fmt"
	"io"
	"net/http"
	"sort"

	"pushbox/server/web"
)

// AddPanic adds a route whose action panics with all that it knows of its
// request.
func (s *Server) AddPanic() {
	s.inner.router = newRouter(append(s.routes(), route{
		name: "panic", method: http.MethodPost, pattern: "/panic/:" + tokenParam, access: anyone,
		action: func(r *request) (reply, error) {
			body, _ := io.ReadAll(&r.Body)
			panic(fmt.Sprintf("%s %s %v", body, r.URL, r.Header))
		},
	}), "")
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

// A Row is what tests see of a route.
type Row struct{ Name, Method, Pattern, Word string }

// Rows are the rows of the table.
func (s *Server) Rows() (rows []Row) {
	for _, r := range s.routes() {
		rows = append(rows, Row{r.name, r.method, r.pattern, r.word})
	}
	return rows
}

// AddBrokenPages adds routes whose pages fail to render, at /broken/error with an
// error and at /broken/panic with a panic in what a template calls, each when a part of it was rendered.
func (s *Server) AddBrokenPages() {
	all := s.routes()
	for path, page := range map[string]any{"error": struct{}{}, "panic": brokenPage{}} {
		all = append(all, route{
			name: "broken", method: http.MethodGet, pattern: "/broken/" + path, access: visitor, page: true,
			action: func(*request) (reply, error) {
				return show(http.StatusOK, "signin", page).with(&http.Cookie{Name: "broken", Value: "1"}), nil
			},
		})
	}
	s.inner.router = newRouter(all, "")
}

// A brokenPage is a page whose template panics.
type brokenPage struct{ signInPage }

func (brokenPage) Refused() refusal { panic("broken") }

// BreakPages leaves no page that can be rendered: each is an error, or with panics a
// panic.
func (s *Server) BreakPages(panics bool) {
	s.pages = new(web.Pages)
	if panics {
		s.pages = nil
	}
}

// Held is the bytes of memory that bodies and pages have, and those that open
// pushes.
func (s *Server) Held() (bodies, reveals int64) { return s.bodies.held(), s.reveals.held() }

// held is what is taken, where nobody takes anything meanwhile.
func (b *bodies) held() int64 {
	free := sort.Search(int(b.all), func(n int) bool {
		fits := b.memory.TryAcquire(int64(n + 1))
		if fits {
			b.memory.Release(int64(n + 1))
		}
		return !fits
	})
	return b.all - int64(free)
}

// SetWatch has w watch a server that has answered no request yet.
func (s *Server) SetWatch(w Watch) {
	if s.watch = w; w.Observer == nil {
		s.watch.Observer = unobserved{}
	}
}
