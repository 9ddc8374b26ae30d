package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// mostWaiting is how many pushes wait to be looked at again. A quarter of those
// that are made do, so that the oldest has expired by time before its turn comes.
const mostWaiting = 15 * 60 * soakRate * 5 / 16

// waiting are pushes that were left alone, the oldest first.
type waiting struct {
	mu  sync.Mutex
	all []*soaked
}

// add adds one, and returns the oldest where there are too many.
func (w *waiting) add(p *soaked) *soaked {
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
func (s *soak) wait(p *soaked) error {
	if oldest := s.waiting.add(p); oldest != nil {
		return s.comeBack(oldest)
	}
	return nil
}

// comeBack looks at a push that was left alone: it is there as it was, unless its
// time is over.
func (s *soak) comeBack(p *soaked) error {
	const doubt = 2 * time.Second // between the clock here and the moment of the answer
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
	if p.kind == "url" && !p.owned { // nobody can delete it
		return s.useUp(p)
	}
	if p.left > 0 || len(p.files) > 0 {
		p.deleted = p.left > 0
		return s.call(http.MethodDelete, apiPushes+"/"+p.token, s.bearerOf(p), nil, http.StatusOK, &crashRecord{})
	}
	return nil
}

// endAll comes back to all pushes that were left alone.
func (s *soak) endAll() {
	s.t.Helper()
	work := make(chan *soaked)
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

// downloadAll fetches the files of a push that was shown.
func (s *soak) downloadAll(p *soaked, r crashRecord) error {
	for i, f := range r.Files {
		at, err := url.Parse(f.URL)
		if err != nil {
			return err
		}
		got, err := s.fetch(http.MethodGet, at.Path, "", http.StatusOK)
		if err != nil {
			return err
		}
		if !bytes.Equal(got, p.files[i].bytes()) {
			return fmt.Errorf("P7: file %d of %d bytes came as %d others", i, p.files[i].size, len(got))
		}
		s.downloads.Add(1)
		p.grant = at.Path
	}
	return nil
}
