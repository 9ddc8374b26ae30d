package server

import (
	"testing"
	"time"

	"pushbox/config"
)

// Files have none: they may take as long as they get on.
func TestARequestWithoutFilesHasADeadline(t *testing.T) {
	t.Parallel()
	s := &Server{cfg: config.Default()}
	for _, files := range []bool{false, true} {
		asked := time.Now()
		r := &request{ctx: t.Context(), route: &route{free: true, files: files}}
		r.route.action = func(r *request) (reply, error) {
			by, limited := r.Context().Deadline()
			if limited == files || limited && by.Before(asked.Add(s.cfg.Limits.RequestTimeout)) {
				t.Errorf("files %v: asked at %v, until %v, %v", files, asked, by, limited)
			}
			return ok("done"), nil
		}
		if rep, err := s.run(r); err != nil || rep.body != "done" {
			t.Errorf("files %v: %v, %v", files, rep.body, err)
		}
	}
}
