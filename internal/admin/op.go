package admin

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"pushbox/store"
)

// An Op is one thing that can be done to a store. Its input and its output
// survive JSON.
type Op[In, Out any] struct {
	name string
	do   func(ctx context.Context, s *store.Store, in In) (Out, error)
}

// Do does it to a store.
func (o Op[In, Out]) Do(ctx context.Context, s *store.Store, in In) (Out, error) {
	return o.do(ctx, s, in)
}

// Call has a server do it. The errors are those of Do, in the sense of
// errors.Is and errors.As, and ErrNoServer if nobody answers, ErrUnknown if the
// server has no such operation.
func (o Op[In, Out]) Call(ctx context.Context, c *Client, in In) (out Out, err error) {
	err = c.call(ctx, o.name, in, &out)
	return out, err
}

// An operation is an Op of whatever types.
type operation interface {
	title() string
	answer(ctx context.Context, s *store.Store, body io.Reader) (any, error)
}

func (o Op[In, Out]) title() string { return o.name }

// answer does it with the input that body holds as JSON.
func (o Op[In, Out]) answer(ctx context.Context, s *store.Store, body io.Reader) (any, error) {
	var in In
	d := json.NewDecoder(body)
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return nil, errors.New("the request makes no sense") // and err may quote it
	}
	return o.do(ctx, s, in)
}
