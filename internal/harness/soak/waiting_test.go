package soak

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"pushbox/internal/proctest"
)

// mostWaiting is how many pushes wait to be read again. A quarter of all pushes wait,
// so the oldest has expired by time when its turn comes.
const mostWaiting = 15 * 60 * soakRate * 5 / 16

// waiting are pushes that were left alone, the oldest first.
type waiting struct {
	mu  sync.Mutex
	all []*knownPush
}

// add adds a push, and returns the oldest if there are too many.
func (w *waiting) add(p *knownPush) *knownPush {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, p)
	if len(w.all) <= mostWaiting {
		return nil
	}
	oldest := w.all[0]
	w.all[0] = nil
	w.all = w.all[1:]
	return oldest
}

// wait leaves a push alone, and comes back to one that was left long ago.
func (s *soak) wait(p *knownPush) error {
	if oldest := s.waiting.add(p); oldest != nil {
		return s.comeBack(oldest)
	}
	return nil
}

// comeBack reads a push that was left alone: it must be unchanged, unless its time is
// over.
func (s *soak) comeBack(p *knownPush) error {
	const doubt = proctest.Patience // between this clock and the moment of the answer
	switch left := time.Until(p.endsAt); {
	case left < -doubt:
		s.expired.Add(1)
		return s.verifyEnded(p)
	case left < doubt:
		return nil
	}
	if err := s.view(p, false); err != nil {
		return fmt.Errorf("after %v: %w", time.Until(p.endsAt), err)
	}
	if p.kind == "url" && !p.owned { // no client may delete it
		return s.useUp(p)
	}
	if p.left > 0 || len(p.files) > 0 {
		p.deleted = p.left > 0
		return s.Call(http.MethodDelete, proctest.PushesPath+"/"+p.token, s.bearerOf(p), nil, http.StatusOK, &proctest.Record{})
	}
	return nil
}

// endAll comes back to all pushes that were left alone.
func (s *soak) endAll() {
	s.t.Helper()
	work := make(chan *knownPush)
	var all sync.WaitGroup
	for range soakClients {
		all.Go(func() {
			for p := range work {
				if err := s.comeBack(p); err != nil {
					s.t.Error(err)
				}
			}
		})
	}
	for _, p := range s.waiting.all {
		work <- p
	}
	close(work)
	all.Wait()
}

// downloadAll downloads the files of a push that was shown.
func (s *soak) downloadAll(p *knownPush, r proctest.Record) error {
	for i, f := range r.Files {
		at, err := url.Parse(f.URL)
		if err != nil {
			return err
		}
		got, err := s.fetch(http.MethodGet, at.Path, "", http.StatusOK)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, p.files[i].Bytes()) {
			return fmt.Errorf("P7: file %d of %d bytes came as %d other bytes", i, p.files[i].Size, len(got))
		}
		s.downloads.Add(1)
		p.grant = at.Path
	}
	return nil
}
