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
	"pushbox/server/body"
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
	r := s.newRequest(s.entry(recipients), w, hr)
	defer r.memory.Release()
	s.monitoring.Observer.Began()
	defer func() { s.monitoring.Observer.Ended(s.label(r), status, time.Since(start)) }()
	rep, err := s.run(r)
	if err != nil {
		s.noteLimit(err)
		rep, err = s.renderError(r, err)
	}
	status = rep.status
	n, sendErr := s.send(w, r, rep)
	s.logAccess(r, rep.status, n, time.Since(start), errors.Join(err, sendErr))
}

func (s *Server) newRequest(e *entryPoint, w http.ResponseWriter, hr *http.Request) *request {
	r := &request{Request: hr, entry: e, ctx: hr.Context(), id: strconv.FormatUint(rand.Uint64(), 36)}
	r.proxied = s.takeProxied(e, hr)
	r.deadlines = newDeadlines(w, &s.cfg.Limits)
	r.Body = body.NewReader(hr, &r.deadlines)
	if isPlain(hr.URL.EscapedPath()) {
		var params httprouter.Params
		r.route, params = e.router.find(hr.Method, hr.URL.Path)
		r.readPath(params)
	}
	if r.forPeople() {
		r.locale = s.chooseLocale(r)
	}
	r.client = s.proxies.Client(hr.RemoteAddr, hr.Header)
	s.noteUnbelieved(r)
	r.actor = store.Actor{
		Client:    r.client.Key(),
		Marks:     s.marks(r),
		Local:     r.client.Direct,
		IP:        r.client.Short(s.cfg.Privacy.IPv4Prefix, s.cfg.Privacy.IPv6Prefix),
		UserAgent: hr.UserAgent(),
		Referrer:  secret.New(hr.Referer()),
	}
	r.memory = s.limits.requestMemory.Reserve(r.holder())
	return r
}

// readPath keeps the parameters of the path.
func (r *request) readPath(params httprouter.Params) {
	for _, p := range params {
		switch p.Key {
		case tokenParam:
			r.push, _ = store.ParseName(p.Value)
			r.urlToken, _ = r.push.(store.Token)
			r.sentToken = secret.New(p.Value)
		case requestParam:
			r.requestID, _ = store.ParseRequestID(p.Value)
		case grantParam:
			r.grant = secret.New(p.Value)
		case fileParam:
			r.file = p.Value
		case actParam, policyParam:
			r.act = p.Value
		case nameParam, languageParam, accountParam:
			r.name = secret.New(p.Value)
		}
	}
}

// renderError turns an error into a reply that is ready to be sent. If its page
// cannot be rendered, the reply is a line of text, and the cause joins the error.
func (s *Server) renderError(r *request, err error) (reply, error) {
	rep := s.errorReply(r, err)
	if fault := s.render(r, &rep); fault != nil {
		line := []byte(r.whatWentWrong() + "\n")
		return reply{status: http.StatusInternalServerError, text: &text{media: textType[0], body: line}}, errors.Join(err, fault)
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
func (s *Server) run(r *request) (rep reply, err error) {
	defer caught(&err)
	if err := s.admit(r); err != nil {
		return reply{}, err
	}
	if !r.route.has(hasFiles) {
		var cancel context.CancelFunc
		r.ctx, cancel = context.WithTimeout(r.ctx, s.cfg.Limits.RequestTimeout)
		defer cancel()
	}
	if r.actor.Account != 0 { // which is known only now
		r.memory = s.limits.requestMemory.Reserve(r.holder())
	}
	if r.route.has(hasList) {
		if err := r.reserve(listMemory); err != nil {
			return reply{}, err
		}
	}
	rep, err = r.route.action(r)
	err = s.countUnknown(r, err)
	if err == nil {
		err = s.render(r, &rep)
	}
	return rep, err
}

// admit refuses a request before an action sees it.
func (s *Server) admit(r *request) (err error) {
	if !s.answersTo(r) {
		return cmp.Or(s.countRequest(r), error(errHostUnknown))
	}
	if r.route == nil || r.route.has(isV1) && !s.cfg.EnableAPIv1 {
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
	if denied == nil && r.route.has(hasLinks) {
		r.base, denied = s.base(r)
	}
	return denied
}

// errPath refuses a path with needless escapes.
const errPath = badRequest("The path has characters that are percent-encoded and need not be.")

func (s *Server) noRoute(r *request) error {
	if !isPlain(r.URL.EscapedPath()) {
		return errPath
	}
	if r.route != nil {
		return errNoV1
	}
	if allow := r.entry.router.allowed(r.URL.Path); len(allow) > 0 {
		if !s.cfg.EnableAPIv1 && isPathV1(strings.TrimPrefix(r.URL.Path, s.cfg.BasePath)) {
			return errNoV1 // no method is allowed
		}
		return &methodError{allow: allow}
	}
	if r.forPeople() {
		_ = s.identify(r) // only the frame of the page depends on it
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
