package server

import (
	"net/http"
	"time"
)

// A pacer moves the deadlines of a connection. A request and its answer have
// theirs from net/http; files may take as long as they get on.
type pacer struct {
	control *http.ResponseController
	stall   time.Duration // without progress
	request time.Duration // for the rest of a request
}

// progress gives a file that comes in time for more of it. A connection that has
// no deadlines cannot be cut, and one that is gone need not be: so no error of
// these calls matters.
func (p *pacer) progress() { _ = p.control.SetReadDeadline(time.Now().Add(p.stall)) }

// sending gives a file that goes out time for more of it.
func (p *pacer) sending() { _ = p.control.SetWriteDeadline(time.Now().Add(p.stall)) }

// rest gives what follows a file as long as a request without one.
func (p *pacer) rest() {
	t := time.Now().Add(p.request)
	_ = p.control.SetReadDeadline(t)
	_ = p.control.SetWriteDeadline(t)
}

// cut ends what is being sent.
func (p *pacer) cut() { _ = p.control.SetWriteDeadline(time.Unix(1, 0)) }
