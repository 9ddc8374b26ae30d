package server

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"pushbox/internal/limit"
	"pushbox/server/action"
	"pushbox/store/record"
)

// probePath, followed by a code, is the path of a request that the server answers with a report of
// how the request arrived.
const probePath = "/doctor/"

const (
	probeTime  = time.Minute // validity of a code
	mostProbes = 16          // valid codes at the same time
)

// probes are the codes for probePath, each valid for one request. They pass through proxies, whose
// logs may keep them, so they must not allow anything else.
type probes struct {
	clock limit.Clock
	mu    sync.Mutex
	ends  map[string]time.Duration // by code
}

func newProbes(c limit.Clock) *probes { return &probes{clock: c, ends: make(map[string]time.Duration)} }

// add makes a code. It returns record.ErrBusy if there are too many.
func (p *probes) add() (code string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	for c, end := range p.ends {
		if end <= now {
			delete(p.ends, c)
		}
	}
	if len(p.ends) >= mostProbes {
		return "", record.ErrBusy
	}
	code = rand.Text()
	p.ends[code] = now + probeTime
	return code, nil
}

// take uses up a code, and reports whether it was valid.
func (p *probes) take(code string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	end, ok := p.ends[code]
	delete(p.ends, code)
	return ok && p.clock() < end
}

// NewProbe returns a path for one request within the next minute. The answer is a
// clientip.Report of how the request arrived. NewProbe returns record.ErrBusy if there
// are too many such paths.
func (s *Server) NewProbe() (path string, err error) {
	code, err := s.probes.add()
	return probePath + code, err
}

// probe reports how the request arrived, if it has a valid code.
func (s *Server) probe(r *action.Request) (action.Reply, error) {
	if !s.probes.take(r.Name.Reveal()) {
		return action.Reply{}, record.ErrNotFound
	}
	return action.OK(s.proxies.Report(r.Request)), nil
}

type healthJSON struct {
	Status string `json:"status"`
}

// health reports whether the store still accepts writes.
func (s *Server) health(*action.Request) (action.Reply, error) {
	select {
	case <-s.store.Failed():
		return action.Reply{}, record.ErrFailed
	default:
		return action.OK(healthJSON{"ok"}), nil
	}
}

// reachWithin bounds how long a balancer waits for the database to answer.
const reachWithin = 2 * time.Second

// ready reports whether a balancer should send requests here. It should not before the start is
// complete or after a stop has begun, nor while the database does not answer, completes no write,
// or would be lost after a stop. /healthz ignores the last case: a program that polls it may
// restart the server, which would destroy the data.
func (s *Server) ready(r *action.Request) (action.Reply, error) {
	if s.monitoring.Ready != nil {
		if err := s.monitoring.Ready(); err != nil {
			return action.Reply{}, err
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), reachWithin)
	defer cancel()
	if err := s.store.Reach(ctx); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = record.ErrUnavailable
		}
		if errors.Is(err, record.ErrUnavailable) || errors.Is(err, record.ErrLost) {
			err = &unreadyError{err}
		}
		return action.Reply{}, err
	}
	return s.health(r)
}

// An unreadyError says why a database makes a server unready. The log has it once, not for each
// check.
type unreadyError struct{ error }

func (e *unreadyError) Unwrap() error { return e.error }
