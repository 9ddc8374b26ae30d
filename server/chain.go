package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/julienschmidt/httprouter"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/deadline"
	"pushbox/store"
	"pushbox/store/record"
)

// ServeHTTP answers a request at the full entry point: it finds the route, checks
// the limits, identifies the caller, runs the action, sends the reply and logs one
// line.
func (s *Server) ServeHTTP(w http.ResponseWriter, hr *http.Request) { s.serve(false, w, hr) }

// serve answers a request at one of the entry points.
func (s *Server) serve(recipients bool, w http.ResponseWriter, hr *http.Request) {
	s = s.latest.Load() // for the whole request
	start, status := time.Now(), 0
	answerHeaders(w.Header())
	r := s.newRequest(s.door(recipients), w, hr)
	defer r.Memory.Release()
	s.monitoring.Observer.Began()
	defer func() { s.monitoring.Observer.Ended(s.label(r), status, time.Since(start)) }()
	rep, err := s.run(r)
	if err != nil {
		s.noteLimit(err)
		rep, err = s.renderError(r, err)
	}
	status = rep.Status
	n, sendErr := s.send(w, r, rep)
	s.logAccess(r, rep.Status, n, time.Since(start), errors.Join(err, sendErr))
}

func (s *Server) newRequest(e *door, w http.ResponseWriter, hr *http.Request) *action.Request {
	r := &action.Request{Request: hr, Entry: &e.Entry, Ctx: hr.Context(), ID: strconv.FormatUint(rand.Uint64(), 36)}
	r.Proxied = s.takeProxied(&e.Entry, hr)
	r.Deadlines = deadline.New(w, &s.cfg.Limits)
	r.Body = body.NewReader(hr, &r.Deadlines)
	if isPlain(hr.URL.EscapedPath()) {
		var params httprouter.Params
		r.Route, params = e.router.find(hr.Method, hr.URL.Path)
		readPath(r, params)
	}
	if r.ForPeople() {
		r.Locale = s.chooseLocale(r)
	}
	r.Client = s.proxies.Client(hr.RemoteAddr, hr.Header)
	s.noteUnbelieved(r)
	r.Actor = store.Actor{
		Client:    r.Client.Key(),
		Marks:     r.Marks(),
		Local:     r.Client.Direct,
		Addr:      r.Client.Addr,
		IP:        r.Client.Short(s.cfg.Privacy.IPv4Prefix, s.cfg.Privacy.IPv6Prefix),
		UserAgent: hr.UserAgent(),
		Referrer:  secret.New(hr.Referer()),
	}
	r.Memory = s.limits.requestMemory.Reserve(r.Holder())
	return r
}

// readPath keeps the parameters of the path.
func readPath(r *action.Request, params httprouter.Params) {
	for _, p := range params {
		switch p.Key {
		case action.TokenParam:
			r.Push, _ = store.ParseName(p.Value)
			r.URLToken, _ = r.Push.(store.Token)
			r.SentToken = secret.New(p.Value)
		case action.RequestParam:
			r.RequestID, _ = store.ParseRequestID(p.Value)
			r.SentToken = secret.New(p.Value)
		case action.GrantParam:
			r.Grant = secret.New(p.Value)
		case action.FileParam:
			r.File = p.Value
		case action.ActParam, action.PolicyParam:
			r.Act = p.Value
		case action.NameParam, action.LanguageParam, action.AccountParam:
			r.Name = secret.New(p.Value)
		}
	}
}

// renderError turns an error into a reply that is ready to be sent. If its page
// cannot be rendered, the reply is a line of text, and the cause joins the error.
func (s *Server) renderError(r *action.Request, err error) (answer, error) {
	rep := answer{Reply: s.errorReply(r, err)}
	if fault := s.render(r, &rep); fault != nil {
		line := []byte(r.WhatWentWrong() + "\n")
		return answer{Reply: action.Reply{Status: http.StatusInternalServerError, Text: &action.Text{Media: textType[0], Body: line}}}, errors.Join(err, fault)
	}
	return rep, err
}

// caught turns a panic into an error. It is for defer.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = &panicError{kind: fmt.Sprintf("%T", p), stack: debug.Stack()}
	}
}

// run takes a request through the chain and returns a reply that is ready to be
// sent. A panic becomes an error: the 500 has the same headers as any answer, and
// the log has the stack.
func (s *Server) run(r *action.Request) (rep answer, err error) {
	defer caught(&err)
	if err := s.admit(r); err != nil {
		return answer{}, err
	}
	if !r.Route.Has(action.HasFiles) {
		var cancel context.CancelFunc
		r.Ctx, cancel = context.WithTimeout(r.Ctx, s.cfg.Limits.RequestTimeout)
		defer cancel()
	}
	if r.Actor.Account != 0 { // known only now
		r.Memory = s.limits.requestMemory.Reserve(r.Holder())
	}
	if r.Route.Has(action.HasList) {
		if err := r.Reserve(listMemory); err != nil {
			return answer{}, err
		}
	}
	rep.Reply, err = s.act(r)
	err = s.countUnknown(r, err)
	if err == nil {
		err = s.render(r, &rep)
	}
	return rep, err
}

// admit refuses a request before an action sees it.
func (s *Server) admit(r *action.Request) (err error) {
	if !s.answersTo(r) {
		return cmp.Or(s.countRequest(r), error(action.ErrHostUnknown))
	}
	if r.Route == nil || r.Route.Has(action.IsV1) && !s.cfg.EnableAPIv1 {
		if err := s.countRequest(r); err != nil {
			return err
		}
		return s.noRoute(r)
	}
	if err := s.checkIntent(r); err != nil {
		return cmp.Or(s.countRequest(r), err)
	}
	denied := s.authenticate(r)
	if err := s.countRequest(r); err != nil { // counts denied requests, too
		return err
	}
	if denied == nil && r.Route.Has(action.HasLinks) {
		r.Base, denied = s.base(r)
	}
	return denied
}

// errPath refuses a path with needless escapes.
const errPath = action.BadRequest("The path has characters that are percent-encoded and need not be.")

func (s *Server) noRoute(r *action.Request) error {
	if !isPlain(r.URL.EscapedPath()) {
		return errPath
	}
	if r.Route != nil {
		return action.ErrNoV1
	}
	if allow := s.door(r.Entry.Recipients).router.allowed(r.URL.Path); len(allow) > 0 {
		if !s.cfg.EnableAPIv1 && action.IsPathV1(strings.TrimPrefix(r.URL.Path, s.cfg.BasePath)) {
			return action.ErrNoV1 // no method is allowed
		}
		return &action.MethodError{Allow: allow}
	}
	if r.ForPeople() {
		_ = s.identify(r) // only the layout of the page depends on it
	}
	return record.ErrNotFound
}

// A panicError is a panic in an action. It keeps only the type of the panic's
// value, which may hold a secret.
type panicError struct {
	kind  string
	stack []byte
}

func (e *panicError) Error() string { return "panic of type " + e.kind }

// errorReply turns an error into a reply: a page for people, and JSON for programs.
func (s *Server) errorReply(r *action.Request, err error) action.Reply {
	switch {
	case errors.Is(err, errSignIn), errors.Is(err, record.ErrSession):
		return s.pages.GoToSignIn(r)
	case errors.Is(err, errMFA):
		return action.GoTo(action.MFAPath)
	case errors.Is(err, action.ErrHostUnknown) && r.ForPeople(): // that host does not have styles and scripts either
		return action.Reply{Status: http.StatusMisdirectedRequest, Text: &action.Text{Media: textType[0], Body: []byte(r.Locale.Text("problem_host_text") + "\n")}}
	case r.ForPeople():
		return action.ProblemOf(r, err).Page(r)
	case r.WantsText():
		return action.ProblemOf(r, err).Line(r)
	default:
		return action.ProblemOf(r, err).JSON(r)
	}
}
