package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pushbox/config"
)

// A route with files has none: files may take long, as long as they make progress.
func TestARequestWithoutFilesHasADeadline(t *testing.T) {
	t.Parallel()
	s := &Server{cfg: config.Default()}
	for _, files := range []bool{false, true} {
		asked := time.Now()
		row := &route{traits: notCounted}
		if files {
			row.traits |= hasFiles
		}
		r := &request{Request: httptest.NewRequest(http.MethodGet, "/", nil), ctx: t.Context(), route: row}
		r.route.action = func(r *request) (reply, error) {
			by, limited := r.Context().Deadline()
			if limited == files || limited && by.Before(asked.Add(s.cfg.Limits.RequestTimeout)) {
				t.Errorf("files %v: asked at %v, until %v, %v", files, asked, by, limited)
			}
			return reply{status: http.StatusOK, to: "done"}, nil
		}
		if rep, err := s.run(r); err != nil || rep.to != "done" {
			t.Errorf("files %v: %v, %v", files, rep.to, err)
		}
	}
}
