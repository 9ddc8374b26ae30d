package server

import (
	"crypto/rand"
	"sync"
	"time"

	"pushbox/internal/limit"
	"pushbox/store"
)

// ProbePath is where a request is answered with how it arrived, with a code
// behind it.
const ProbePath = "/doctor/"

const (
	probeTime  = time.Minute // that a code is good for
	mostProbes = 16          // codes that are good at the same time
)

// probes are the codes for ProbePath, each good for one request. They go through
// proxies, whose logs may keep them, so they are good for nothing else.
type probes struct {
	clock limit.Clock
	mu    sync.Mutex
	ends  map[string]time.Duration // by code
}

func newProbes(c limit.Clock) *probes { return &probes{clock: c, ends: make(map[string]time.Duration)} }

// add makes a code; store.ErrBusy if there are too many.
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
		return "", store.ErrBusy
	}
	code = rand.Text()
	p.ends[code] = now + probeTime
	return code, nil
}

// take uses up a code, and reports whether it was good.
func (p *probes) take(code string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	end, ok := p.ends[code]
	delete(p.ends, code)
	return ok && p.clock() < end
}

// NewProbe returns the path of one request, to be made within a minute, that is
// answered with a clientip.Report of how it arrived. store.ErrBusy if there are
// many such paths.
func (s *Server) NewProbe() (path string, err error) {
	code, err := s.probes.add()
	return ProbePath + code, err
}

// probe tells how the request arrived to whoever has a code.
func (s *Server) probe(r *request) (reply, error) {
	if !s.probes.take(r.name) {
		return reply{}, store.ErrNotFound
	}
	return ok(s.proxies.Report(r.Request)), nil
}
