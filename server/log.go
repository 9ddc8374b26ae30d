package server

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// noRouteName is what logs call a request that no route is for.
const noRouteName = "none"

// isExpected reports whether an error is no fault of the server: a client left, or
// asked whether the server is ready when it is not.
func isExpected(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, ErrStarting) || errors.Is(err, ErrStopping)
}

// logAccess writes the one line of a request. It has the route's name and not
// the path, query, Referer or anything else that a link or a secret may be in.
// An error is named only where the server is to blame.
func (s *Server) logAccess(r *request, status int, bytes int64, took time.Duration, err error) {
	name := noRouteName
	if r.route != nil {
		name = r.route.name
	}
	line := s.log.Info()
	fault := status >= http.StatusInternalServerError || r.route != nil && r.route.files && status < http.StatusMultipleChoices && err != nil
	if fault && !isExpected(err) {
		line = s.log.Error().AnErr("error", err)
		var p *panicError
		if errors.As(err, &p) {
			line = line.Bytes("stack", p.stack)
		}
	}
	line.Str("request_id", r.id).
		Str("route", name).
		Int("status", status).
		Float64("ms", float64(took.Microseconds())/1000).
		Int64("bytes", bytes).
		Str("client", r.actor.IP).
		Str("caller", r.caller()).
		Msg("request")
}
