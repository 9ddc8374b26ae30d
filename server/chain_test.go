package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server/action"
)

// A route with files has none: files may take long, as long as they make progress.
func TestARequestWithoutFilesHasADeadline(t *testing.T) {
	t.Parallel()
	s := &Server{cfg: config.Default()}
	for _, files := range []bool{false, true} {
		asked := time.Now()
		row := &action.Route{Traits: action.NotCounted}
		if files {
			row.Traits |= action.HasFiles
		}
		r := &action.Request{Request: httptest.NewRequest(http.MethodGet, "/", nil), Ctx: t.Context(), Route: row}
		r.Route.Action = func(r *action.Request) (action.Reply, error) {
			by, limited := r.Context().Deadline()
			if limited == files || limited && by.Before(asked.Add(s.cfg.Limits.RequestTimeout)) {
				t.Errorf("files %v: asked at %v, until %v, %v", files, asked, by, limited)
			}
			return action.Reply{Status: http.StatusOK, To: "done"}, nil
		}
		if rep, err := s.run(r); err != nil || rep.To != "done" {
			t.Errorf("files %v: %v, %v", files, rep.To, err)
		}
	}
}
