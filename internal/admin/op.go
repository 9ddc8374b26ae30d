package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"pushbox/store"
)

// Longest is how long an operation may take that does not tell how far it is: a
// check reads the whole database.
const Longest = 10 * time.Minute

// Progress is told how far an operation is: what is done, and how much there is
// in all, which may grow. It is not called again once the operation has ended.
type Progress func(done, total int64)

// An Op is one thing that can be done to a store. Its input and its output
// survive JSON.
type Op[In, Out any] struct {
	name string
	do   func(ctx context.Context, s *store.Store, in In) (Out, error)
	// long stands in place of do where it may take any time and tells how far
	// it is.
	long func(ctx context.Context, s *store.Store, in In, tell Progress) (Out, error)
	tell Progress
}

// WithProgress returns the operation, to be done while tell is told how far it
// is. Most operations are quick and tell nothing.
func (o Op[In, Out]) WithProgress(tell Progress) Op[In, Out] {
	o.tell = tell
	return o
}

// By returns the operation as one that a server does by do, and not to its store;
// for Serve.
func (o Op[In, Out]) By(do func(ctx context.Context, in In) (Out, error)) Op[In, Out] {
	o.do = func(ctx context.Context, _ *store.Store, in In) (Out, error) { return do(ctx, in) }
	return o
}

// Do does it to a store; ErrNoServer if it is done by a server alone.
func (o Op[In, Out]) Do(ctx context.Context, s *store.Store, in In) (out Out, err error) {
	if o.long == nil && o.do == nil {
		return out, ErrNoServer
	}
	if o.long != nil {
		return o.long(ctx, s, in, o.note)
	}
	ctx, cancel := context.WithTimeout(ctx, Longest)
	defer cancel()
	return o.do(ctx, s, in)
}

// Call has a server do it, which ends it when ctx ends. The errors are those of
// Do, in the sense of errors.Is and errors.As, and ErrNoServer if nobody
// answers, ErrUnknown if the server has no such operation, ErrSilent if it does
// not tell any more that it goes on.
func (o Op[In, Out]) Call(ctx context.Context, c *Client, in In) (out Out, err error) {
	if o.long != nil {
		err = c.follow(ctx, o.name, in, &out, o.note)
	} else {
		err = c.call(ctx, o.name, in, &out)
	}
	return out, err
}

// note tells whoever wants to know.
func (o Op[In, Out]) note(done, total int64) {
	if o.tell != nil {
		o.tell(done, total)
	}
}

// An operation is an Op of whatever types.
type operation interface {
	title() string
	isLong() bool
	answer(ctx context.Context, s *store.Store, body io.Reader, tell Progress) (any, error)
}

func (o Op[In, Out]) title() string { return o.name }
func (o Op[In, Out]) isLong() bool  { return o.long != nil }

// answer does it with the input that body holds as JSON.
func (o Op[In, Out]) answer(ctx context.Context, s *store.Store, body io.Reader, tell Progress) (any, error) {
	var in In
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return nil, errors.New("the request makes no sense") // and err may quote it
	}
	return o.WithProgress(tell).Do(ctx, s, in)
}
