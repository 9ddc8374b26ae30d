package server

import (
	"errors"
	"strconv"
	"time"

	"pushbox/store"
)

// markDone is the mark of a path to a page that has just done what it is for.
const markDone = "done"

// number reads a field that names a session or a token; 0, which none has, if it
// cannot be one.
func (f webFields) number(name string) uint64 {
	n, err := strconv.ParseUint(f[name], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// unlessGone is err, but nil where what was to be ended is not there: it has
// ended before, or is not the caller's.
func unlessGone(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// someTime is a time that need not be; nil: never.
func someTime(t time.Time) *moment {
	if t.IsZero() {
		return nil
	}
	m := newMoment(t)
	return &m
}
