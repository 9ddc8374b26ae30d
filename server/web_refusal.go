package server

import (
	"errors"
	"net/http"
	"time"

	"pushbox/store"
)

// A refusal is why a password or a code was not taken, as its form tells it. The
// zero value is none.
type refusal struct {
	Message string  // key of what it says
	Until   *moment // after too many tries: when the next one may be
	wait    time.Duration
}

// refused turns an error of trying a password or a code into a refusal that says
// message where it was wrong. Every other error comes back.
func (s *Server) refused(err error, message string) (refusal, error) {
	var locked *store.LockedError
	switch {
	case errors.Is(err, store.ErrCredentials):
		return refusal{Message: message}, nil
	case errors.As(err, &locked):
		s.noteLimit(err)
		return s.tooMany(locked.RetryAfter), nil
	default:
		return refusal{}, err
	}
}

// tooMany is a refusal of one try too many.
func (s *Server) tooMany(wait time.Duration) refusal {
	wait = max(wait, time.Second)
	return refusal{Message: "signin_locked", Until: someTime(s.clock.Now().Add(wait + time.Minute - 1)), wait: wait}
}

// again shows a form again that was refused.
func (no refusal) again(template string, page any) reply {
	if no.Until == nil {
		return show(http.StatusForbidden, template, page)
	}
	rep := show(http.StatusTooManyRequests, template, page)
	rep.header = problem{status: rep.status, retry: no.wait}.headers()
	return rep
}
