package server

import (
	"errors"
	"math"
	"net/http"
	"time"

	"pushbox/store"
)

// A step is what the page before an opening shows.
type step struct {
	Path      string // where the push is opened
	Kind      string
	Views     int // that are left
	Days      int // that are left, rounded up
	Until     moment
	Opened    opened // until now
	Protected bool
	Own       bool // the reader sent it: no view is counted
	Try       try
}

// opened tells how often a push was opened before, and when, the latest first.
type opened struct {
	Count int
	Last  []moment
}

func newOpened(o store.Openings) opened {
	all := opened{Count: o.Count}
	for _, at := range o.Last {
		all.Last = append(all.Last, newMoment(at))
	}
	return all
}

// A try is how it went with a passphrase.
type try struct {
	Status  int
	Key     string // of its message; empty: none was tried
	Left    int    // how many more wrong ones may come
	Limited bool   // so many, and not any number
	Wait    time.Duration
	Again   moment // when the wait is over; zero: there is none
}

// stepPage says what waits behind a link. It opens nothing and leaves no trace.
func (s *Server) stepPage(r *request) (reply, error) {
	return s.step(r, noTry)
}

// noTry is where no passphrase was tried.
var noTry = try{Status: http.StatusOK}

func (s *Server) step(r *request, t try) (reply, error) {
	p, err := s.look(r)
	if err != nil {
		return reply{}, err
	}
	return s.stepOf(r, p, t)
}

// look is the push that the path names, while there is one to open.
func (s *Server) look(r *request) (store.PushInfo, error) {
	p, err := s.store.Look(r.Context(), r.urlToken)
	if err == nil {
		err = gone(p)
	}
	return p, err
}

// stepOf is the page for a push that was looked at.
func (s *Server) stepOf(r *request, p store.PushInfo, t try) (reply, error) {
	before, err := s.store.Openings(r.Context(), r.urlToken)
	if err != nil {
		return reply{}, err
	}
	if t.Wait > 0 {
		t.Again = newMoment(p.At.Add(t.Wait))
	}
	rep := show(t.Status, "step", step{
		Path: revealPath(p.Token), Kind: p.Kind.String(),
		Views: p.ViewsRemaining(), Days: p.DaysRemaining(p.At), Until: newMoment(p.ExpiresAt),
		Opened: newOpened(before), Protected: p.Protected, Own: r.owns(p), Try: t,
	})
	rep.header = problem{status: t.Status, retry: t.Wait}.headers()
	return rep, nil
}

// owns reports whether the reader sent the push.
func (r *request) owns(p store.PushInfo) bool {
	return r.actor.Account != 0 && r.actor.Account == p.Owner
}

// newTry says of an error of opening a push whether it is about the passphrase,
// and then what to tell; missing says that none was given.
func newTry(err error, missing bool) (try, bool) {
	var (
		wrong  *store.PassphraseError
		locked *store.LockedError
	)
	switch {
	case errors.As(err, &locked):
		return try{Status: http.StatusTooManyRequests, Key: "step_locked", Limited: true, Wait: locked.RetryAfter}, true
	case !errors.As(err, &wrong):
		return try{}, false
	}
	t := try{Status: http.StatusForbidden, Key: "step_wrong", Left: wrong.Left, Limited: wrong.Left != math.MaxInt, Wait: wrong.RetryAfter}
	if missing {
		t.Key = "step_missing"
	}
	return t, true
}
