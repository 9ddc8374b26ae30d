package server

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/julienschmidt/httprouter"

	"pushbox/internal/secret"
	"pushbox/store"
)

// ServeHTTP answers a request: it finds the route, asks the limits, finds out
// who it is, runs the action, and writes what came of it, with one line in the
// log. It is the door to everything.
func (s *Server) ServeHTTP(w http.ResponseWriter, hr *http.Request) { s.serve(false, w, hr) }

// serve answers a request that came in by one of the doors.
func (s *Server) serve(public bool, w http.ResponseWriter, hr *http.Request) {
	s = s.latest.Load() // for the whole request
	start, status := time.Now(), 0
	secure(w.Header())
	r := s.newRequest(s.door(public), w, hr)
	defer r.memory.done()
	s.watch.Observer.Began()
	defer func() { s.watch.Observer.Ended(s.label(r), status, time.Since(start)) }()
	rep, err := s.run(r)
	if err != nil {
		s.noteLimit(err)
		rep, err = s.explain(r, err)
	}
	status = rep.status
	n, sendErr := s.send(w, r, rep)
	s.logAccess(r, rep.status, n, time.Since(start), errors.Join(err, sendErr))
}

func (s *Server) newRequest(d *door, w http.ResponseWriter, hr *http.Request) *request {
	r := &request{Request: hr, door: d, Body: s.limitBody(w, hr), ctx: hr.Context(), id: strconv.FormatUint(rand.Uint64(), 36)}
	r.memory = *s.bodies.enter(r)
	r.pace = pacer{http.NewResponseController(w), s.cfg.Limits.StallTimeout, s.cfg.Limits.RequestTimeout}
	route, params := d.router.find(hr.Method, hr.URL.Path)
	r.route = route
	r.readPath(params)
	if r.forPeople() {
		r.locale = s.chooseLocale(r)
	}
	r.client = s.proxies.Client(hr.RemoteAddr, hr.Header)
	r.actor = store.Actor{
		Client:    r.client.Key(),
		IP:        r.client.IP(),
		UserAgent: hr.UserAgent(),
		Referrer:  hr.Referer(),
	}
	return r
}

// readPath takes what the path says.
func (r *request) readPath(params httprouter.Params) {
	for _, p := range params {
		switch p.Key {
		case tokenParam:
			r.urlToken, _ = store.ParseToken(p.Value)
		case grantParam:
			r.grant = secret.New(p.Value)
		case fileParam:
			r.file = p.Value
		case nameParam:
			r.name = p.Value
		}
	}
}

// explain turns an error into a reply. Where its page cannot be rendered, there is
// a line of text; what kept it from that joins the error.
func (s *Server) explain(r *request, err error) (reply, error) {
	rep := s.tell(r, err)
	if fault := s.render(r, &rep); fault != nil {
		line := []byte(r.whatWentWrong() + "\n")
		return reply{status: http.StatusInternalServerError, text: &text{media: plainText, body: line}}, errors.Join(err, fault)
	}
	return rep, err
}

const plainText = "text/plain; charset=utf-8"

// caught is for defer: it makes an error of a panic.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = &panicError{kind: fmt.Sprintf("%T", p), stack: debug.Stack()}
	}
}

// run takes a request through the chain, up to a reply that only has to be sent. A
// panic becomes an error: the 500 has the same headers as any answer, and the log
// has the stack.
func (s *Server) run(r *request) (rep reply, err error) {
	defer caught(&err)
	if err := s.admit(r); err != nil {
		return reply{}, err
	}
	if !r.route.files {
		var cancel context.CancelFunc
		r.ctx, cancel = context.WithTimeout(r.ctx, s.cfg.Limits.RequestTimeout)
		defer cancel()
	}
	rep, err = r.route.action(r)
	if r.route.guessable() && errors.Is(err, store.ErrNotFound) {
		s.unknown.Add(r.actor.Client)
	}
	if err == nil {
		err = s.render(r, &rep)
	}
	return rep, err
}

// admit refuses a request that no action gets to see.
func (s *Server) admit(r *request) (err error) {
	if !s.answersTo(r) {
		return errHostUnknown
	}
	if r.route == nil {
		if err := s.limitCaller(r); err != nil {
			return err
		}
		return s.noRoute(r)
	}
	if err := s.limitBefore(r); err != nil {
		return err
	}
	if r.route.page {
		if err := s.checkOrigin(r); err != nil {
			return err
		}
	}
	denied := s.authenticate(r)
	if err := s.limitCaller(r); err != nil { // counts those that are turned away, too
		return err
	}
	if denied == nil && r.route.links {
		r.base, denied = s.base(r)
	}
	return denied
}

func (s *Server) noRoute(r *request) error {
	if allow := r.door.router.allowed(r.URL.Path); len(allow) > 0 {
		return &methodError{allow: allow}
	}
	return store.ErrNotFound
}

// limitBefore refuses a client that asked for too many tokens that are not
// there. It does so for those that are there too, or it would tell them apart.
func (s *Server) limitBefore(r *request) error {
	if !r.route.guessable() {
		return nil
	}
	if full, wait := s.unknown.Full(r.actor.Client); full {
		return &limitError{wait: wait, name: limitUnknown}
	}
	return nil
}

// limitCaller counts the request. A program on this machine that no proxy stands
// in front of is not counted.
func (s *Server) limitCaller(r *request) error {
	if r.client.Direct || r.route != nil && r.route.free {
		return nil
	}
	limiter, name, key := s.anonymous, limitAnonymous, r.actor.Client
	switch {
	case r.token != nil:
		limiter, name, key = s.tokens, limitToken, strconv.FormatUint(uint64(r.token.ID), 10)
	case r.actor.Account != 0:
		limiter, name, key = s.tokens, limitToken, "account "+strconv.FormatUint(uint64(r.actor.Account), 10)
	}
	if ok, wait := limiter.Allow(key); !ok {
		return &limitError{wait: wait, name: name}
	}
	return nil
}

// A panicError is a panic in an action. Its value may hold anything, a secret
// too, so only the type is kept.
type panicError struct {
	kind  string
	stack []byte
}

func (e *panicError) Error() string { return "panic of type " + e.kind }
