package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"pushbox/store"
)

// Longest is how long an operation may take that does not report progress: a check reads
// the whole database.
const Longest = 10 * time.Minute

// A Progress is called with the progress of an operation and with the total, which may grow. It is
// not called after the operation has ended.
type Progress func(done, total int64)

// An Op is one operation on a store. Its input and its output can be sent as JSON.
type Op[In, Out any] struct {
	name string
	do   func(ctx context.Context, s *store.Store, in In) (Out, error)
	// long replaces do in an operation that may take any time and reports progress.
	long  func(ctx context.Context, s *store.Store, in In, tell Progress) (Out, error)
	tell  Progress
	reads bool // it changes nothing
	asIs  bool // it changes something, and no upgrade may come before it
}

// Reads reports whether the operation changes nothing.
func (o Op[In, Out]) Reads() bool { return o.reads }

// AsIs reports whether the operation must not upgrade a database of an older schema: reading it
// changes nothing, and a backup must be possible before an upgrade.
func (o Op[In, Out]) AsIs() bool { return o.reads || o.asIs }

// Reading returns the operation for an input with which it changes nothing.
func (o Op[In, Out]) Reading() Op[In, Out] {
	o.reads = true
	return o
}

// WithProgress returns the operation with tell as its Progress. Most operations are quick
// and never call it.
func (o Op[In, Out]) WithProgress(tell Progress) Op[In, Out] {
	o.tell = tell
	return o
}

// By returns the operation for Serve, which then calls do.
func (o Op[In, Out]) By(do func(ctx context.Context, in In) (Out, error)) Op[In, Out] {
	o.do = func(ctx context.Context, _ *store.Store, in In) (Out, error) { return do(ctx, in) }
	return o
}

// Do runs the operation on a store. It returns ErrNoServer for an operation that only a server
// does.
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

// Call makes a server run the operation. The server ends it when ctx ends. The errors are those of
// Do, in the sense of errors.Is and errors.As; ErrNoServer if no server listens, ErrUnknown if the
// server does not have the operation, and ErrSilent if it has stopped reporting progress.
func (o Op[In, Out]) Call(ctx context.Context, c *Client, in In) (out Out, err error) {
	if o.long != nil {
		err = c.follow(ctx, o.name, in, &out, o.note)
	} else {
		err = c.call(ctx, o.name, in, &out)
	}
	return out, err
}

func (o Op[In, Out]) note(done, total int64) {
	if o.tell != nil {
		o.tell(done, total)
	}
}

// An operation is an Op of any types.
type operation interface {
	title() string
	isLong() bool
	answer(ctx context.Context, s *store.Store, body io.Reader, tell Progress) (any, error)
}

func (o Op[In, Out]) title() string { return o.name }
func (o Op[In, Out]) isLong() bool  { return o.long != nil }

// answer does the operation with the input in body, which is JSON.
func (o Op[In, Out]) answer(ctx context.Context, s *store.Store, body io.Reader, tell Progress) (any, error) {
	var in In
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return nil, errors.New("the request is malformed") // and err may quote it
	}
	return o.WithProgress(tell).Do(ctx, s, in)
}
