package server

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"pushbox/internal/limit"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/deadline"
)

// Uploads in pieces. The form for a push sends a large body in several requests, its pieces: so a pause, or a lost
// connection, costs no more than the end of a piece. Each piece is a request like the whole one, to the same address and
// with the same cookies, so it is authenticated, counted and logged like any other. Three headers say what it is:
//
//	Upload-Token   names the upload; the browser chooses it at random
//	Upload-Length  the length of the whole body, in bytes
//	Upload-Offset  where in it the piece begins; none if the browser gives the upload up
//
// The action of the route runs once for all pieces, as a coroutine: where one piece ends, it waits for the next. It is
// the action that a whole request has, with the same limits, and it stores files while they arrive. When it returns, even
// before the last piece, that piece gets its reply. Any other piece gets 202 and, in the header Upload-Offset, where the
// next one begins, which an empty piece asks for; 409 and the same header if it begins elsewhere; and 410 if there is no
// such upload, or no longer.
//
// tus 1.0, the open protocol for this, has four requests of its own and stores a file before its push is created. So the
// server would have files without a push, with an owner, a size and an end of their own, which this way it has not.
const (
	uploadToken  = "Upload-Token"
	uploadLength = "Upload-Length"
	uploadOffset = "Upload-Offset"

	givenUp = "none"

	minUploadToken = 16 // characters
	maxUploadToken = 64

	parkedMost = 64 // uploads in pieces at a time
)

// parkedTime is how long an upload waits for its next piece, and how long its reply can be asked for again.
const parkedTime = 10 * time.Minute

// pieces are the uploads in pieces of a server.
type pieces struct {
	mu    sync.Mutex
	all   map[string]*piecewise
	slots *limit.Slots
	time  time.Duration // parkedTime, or less in a test
}

func newPieces() *pieces {
	return &pieces{all: make(map[string]*piecewise), slots: limit.NewSlots(parkedMost), time: parkedTime}
}

// A piecewise is one upload in pieces.
type piecewise struct {
	token  string
	of     *action.Request // what the action sees
	by     limit.Holder
	length int64

	turn    sync.Mutex                         // held by the piece that is being read, and by what ends the upload
	waiting atomic.Int32                       // pieces that wait for their turn
	read    atomic.Pointer[deadline.Deadlines] // of the piece that is being read; nil: none

	// turn guards:
	piece  *action.Request // the last one
	offset int64           // in the body: what the action has read
	yield  func(struct{}) bool
	next   func() (struct{}, bool)
	stop   func()
	parked time.Time
	ended  bool
	reply  action.Reply
	err    error
	timer  *time.Timer
}

// act runs the action of a request, or continues one with a further piece of its body.
func (s *Server) act(r *action.Request) (action.Reply, error) {
	if r.Method != http.MethodPost || !r.Route.Has(action.HasFiles) || !r.Route.Has(action.IsPage) || r.Header.Get(uploadToken) == "" {
		return r.Route.Action(r)
	}
	u, offset, err := s.pieces.find(r)
	switch {
	case err != nil || u == nil:
		return action.Reply{Status: http.StatusGone}, err
	case r.Header.Get(uploadOffset) == givenUp:
		u.takeTurn()
		u.turn.Unlock()
		s.pieces.expire(u, 0)
		return action.Reply{Status: http.StatusAccepted}, nil
	default:
		return s.pieces.take(u, r, offset)
	}
}

const errPiece = action.BadRequest("A piece of an upload needs a length of its own, and valid headers Upload-Token, Upload-Length and Upload-Offset.")

// find returns the upload that a piece belongs to, which it begins with the first one; nil if there is none.
func (p *pieces) find(r *action.Request) (u *piecewise, offset int64, err error) {
	token := r.Header.Get(uploadToken)
	length, lengthErr := strconv.ParseInt(r.Header.Get(uploadLength), 10, 64)
	offset, offsetErr := strconv.ParseInt(r.Header.Get(uploadOffset), 10, 64)
	if r.Header.Get(uploadOffset) == givenUp {
		offset, offsetErr = length, nil
	}
	own := r.Request.ContentLength
	if len(token) < minUploadToken || len(token) > maxUploadToken || errors.Join(lengthErr, offsetErr) != nil || own < 0 || offset < 0 || length < 1 || offset > length-own {
		return nil, 0, errPiece
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	u = p.all[token]
	switch {
	case u != nil && (u.length != length || u.of.Actor.Account != r.Actor.Account || u.of.URL.Path != r.URL.Path):
		return nil, 0, nil // it is another client's
	case u != nil || offset > 0:
		return u, offset, nil
	}
	u = &piecewise{token: token, length: length, by: r.Holder(), parked: time.Now()}
	if !p.slots.Take(u.by) {
		return nil, 0, action.ErrUploads
	}
	u.begin(r)
	u.timer = time.AfterFunc(p.time, func() { p.expire(u, p.time) })
	p.all[token] = u
	return u, 0, nil
}

// begin makes the request that the action sees, and the coroutine in which it will run.
func (u *piecewise) begin(r *action.Request) {
	of := *r
	of.Ctx = context.WithoutCancel(r.Ctx) // a piece may end before the upload does
	of.Request = r.Request.WithContext(of.Ctx)
	of.Request.Body, of.Request.ContentLength = io.NopCloser(u), u.length
	of.Body = body.NewReader(of.Request, &of.Deadlines)
	u.of = &of
	u.next, u.stop = iter.Pull(func(yield func(struct{}) bool) {
		u.yield = yield
		u.reply, u.err = of.Route.Action(&of)
	})
}

// Read reads the body for the action. At the end of a piece it waits for the next one.
func (u *piecewise) Read(b []byte) (int, error) {
	for u.offset < u.length {
		if u.waiting.Load() == 0 {
			n, err := u.piece.Request.Body.Read(b[:min(int64(len(b)), u.length-u.offset)])
			u.offset += int64(n)
			if n > 0 || err == nil {
				return n, nil
			}
		}
		if !u.yield(struct{}{}) {
			return 0, io.ErrUnexpectedEOF // the next piece did not come
		}
	}
	return 0, io.EOF
}

// takeTurn ends the piece that is being read, if one is: its client has sent another request, so it has given that one up.
func (u *piecewise) takeTurn() {
	u.waiting.Add(1)
	if reading := u.read.Load(); reading != nil {
		reading.StopReading()
	}
	u.turn.Lock()
	u.waiting.Add(-1)
}

// take reads a piece.
func (p *pieces) take(u *piecewise, r *action.Request, offset int64) (action.Reply, error) {
	u.takeTurn()
	defer u.turn.Unlock()
	switch {
	case u.ended && u.reply.To != "": // the client did not get the reply
		return u.reply, nil
	case u.ended: // while this piece waited for its turn
		return action.Reply{Status: http.StatusGone}, nil
	case offset != u.offset && r.Request.ContentLength == 0:
		return u.waits(http.StatusAccepted), nil
	case offset != u.offset:
		return u.waits(http.StatusConflict), nil
	}
	u.piece = r
	u.of.Deadlines.Continue(&r.Deadlines, time.Since(u.parked))
	u.read.Store(&r.Deadlines)
	ended := true // also by a panic of the action
	defer func() {
		u.read.Store(nil)
		u.parked = time.Now()
		r.Deadlines.Sending(deadline.Pace{Begin: u.parked})
		u.timer.Reset(p.time)
		if !ended {
			return
		}
		p.end(u)
		if u.reply.To == "" { // only what the browser is led to can be asked for again
			p.forget(u)
		}
		r.Memory, r.Session = u.of.Memory, u.of.Session
		if u.offset < u.length {
			r.Body.Abandon()
		}
	}()
	_, more := u.next()
	ended = !more
	if ended {
		return u.reply, u.err
	}
	return u.waits(http.StatusAccepted), nil
}

// waits is the reply that says where the next piece begins.
func (u *piecewise) waits(status int) action.Reply {
	return action.Reply{Status: status, Header: [][2]string{{uploadOffset, strconv.FormatInt(u.offset, 10)}}}
}

// end gives back the slot of an upload whose action has returned. Its caller holds its turn.
func (p *pieces) end(u *piecewise) {
	u.ended = true
	p.slots.Free(u.by)
}

// forget has further pieces of an upload find none.
func (p *pieces) forget(u *piecewise) {
	u.timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, u.token)
}

// expire forgets an upload that has waited for that time. An action that still waits for a piece ends.
func (p *pieces) expire(u *piecewise, waited time.Duration) {
	u.turn.Lock()
	defer u.turn.Unlock()
	if time.Since(u.parked) < waited {
		return // a piece came first
	}
	p.forget(u)
	if !u.ended {
		u.stop()
		u.of.Memory.Release()
		p.end(u)
	}
}

// EndUploads ends the uploads in pieces that wait for their next piece, and frees what they stored. No request may be
// running.
func (s *Server) EndUploads() {
	p := s.latest.Load().pieces
	p.mu.Lock()
	all := make([]*piecewise, 0, len(p.all))
	for _, u := range p.all {
		all = append(all, u)
	}
	p.mu.Unlock()
	for _, u := range all {
		p.expire(u, 0)
	}
}
