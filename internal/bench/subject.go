package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

const (
	manyViews = 100_000 // the view limit of pushes that are there to be viewed: the most that pushbox can be set to
	fewViews  = 5       // that of other pushes
	fillers   = 64      // connections that store pushes
)

// A subject is a server that is measured.
type subject struct {
	spec
	child  *child   // nil: somebody else runs it
	tokens []string // of the pushes to view
}

// start starts the server if it is for us to run. What it keeps lies in dir, and
// is still there when it is started again.
func (s *subject) start(ctx context.Context, dir string) (err error) {
	switch {
	case s.name == bareWord:
		var self string
		if self, err = os.Executable(); err == nil {
			s.child, s.url, err = startChild(ctx, filepath.Join(dir, "bare.log"), plainEnviron(), self, bareWord)
		}
	case s.path != "":
		var path string
		if path, err = filepath.Abs(s.path); err == nil {
			s.child, s.url, err = startChild(ctx, filepath.Join(dir, s.name+".log"), pushboxEnviron(), path,
				"serve", "--listen", "127.0.0.1:0", "--data-dir", s.name) // relative, as a socket's path must not be long
		}
	}
	if err == nil && s.child != nil {
		s.pids = []int{s.child.cmd.Process.Pid}
	}
	return err
}

// pushboxEnviron has the setting without which views would end early. No limit
// stands in the way: those on requests do not hold for direct callers on loopback.
func pushboxEnviron() []string {
	return plainEnviron("PUSHBOX_PW_EXPIRE_AFTER_VIEWS_MAX=" + strconv.Itoa(manyViews))
}

// dataDir is where a pushbox of ours keeps its data.
func (s *subject) dataDir(dir string) string { return filepath.Join(dir, s.name) }

// stop ends a server that start has started.
func (s *subject) stop() error {
	if s.child == nil {
		return nil
	}
	c := s.child
	s.child, s.pids = nil, nil
	return c.stop()
}

// dial returns a client that has a connection, or makes it with its first request.
func (s *subject) dial(ctx context.Context, raw bool) (client, error) {
	if raw {
		return dialRaw(ctx, s)
	}
	return newNetClient(s), nil
}

// fill stores pushes, by the API, for views to choose from.
func (s *subject) fill(ctx context.Context, o options) error {
	s.tokens = make([]string, o.stored)
	r := s.api.create(payload(o.payload), manyViews)
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(fillers, o.stored) {
		group.Go(func() error { return s.fillSome(ctx, o.raw, r, &next) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("store pushes in %s: %w", s.name, err)
	}
	return nil
}

// fillSome stores those whose numbers next gives out.
func (s *subject) fillSome(ctx context.Context, raw bool, r request, next *atomic.Int64) error {
	c, err := s.dial(ctx, raw)
	if err != nil {
		return err
	}
	defer c.close()
	for i := next.Add(1) - 1; i < int64(len(s.tokens)); i = next.Add(1) - 1 {
		answer, err := ask(ctx, c, r)
		if err == nil {
			s.tokens[i], err = s.api.token(answer)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ask is for requests that are not measured: it does not wait for ever.
func ask(ctx context.Context, c client, r request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.do(ctx, r)
}

// operations are what is measured of the subject.
func (s *subject) operations(o options) []operation {
	create := s.api.create(payload(o.payload), fewViews)
	if s.name == bareWord {
		return []operation{{subject: s, name: bareWord, next: func() request { return create }, check: checkBare}}
	}
	return []operation{
		{subject: s, name: "create", next: func() request { return create }, check: func(answer []byte) error {
			_, err := s.api.token(answer)
			return err
		}},
		{subject: s, name: "view", next: func() request { return s.api.view(s.tokens[rand.IntN(len(s.tokens))]) }, check: func(answer []byte) error {
			return s.api.checkView(answer, o.payload)
		}},
	}
}

func checkBare(answer []byte) error {
	if len(answer) != bareLength {
		return fmt.Errorf("the bare handler answered %d bytes", len(answer))
	}
	return nil
}

// payload is a text of n letters.
func payload(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(i%26)
	}
	return string(b)
}
