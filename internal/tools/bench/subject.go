package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

const (
	fillers = 64  // connections that store pushes
	kept    = 100 // file pushes, and pushes with a passphrase, that are viewed again and again
	owner   = "bench@example.com"
)

// A subject is a server that is measured.
type subject struct {
	spec
	child  *child   // nil: the server runs already
	tokens []string // of the pushes to view
	files  []string // of file pushes
	locked []string // of pushes with a passphrase
}

// start starts the server, unless it runs already. Its data stays in dir when it is
// stopped and started again.
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
				"serve", "--listen", "127.0.0.1:0", "--data-dir", s.name) // relative: the path of a socket must be short
		}
	}
	if err == nil && s.child != nil {
		s.pids = []int{s.child.cmd.Process.Pid}
	}
	return err
}

// pushboxEnviron raises the view limit of pushes, and the limits for passphrases. Rate
// limits need no setting: they do not apply to direct clients on loopback.
func pushboxEnviron() []string {
	most := strconv.Itoa(manyViews)
	return plainEnviron("PUSHBOX_PW_EXPIRE_AFTER_VIEWS_MAX="+most, "PUSHBOX_FILES_EXPIRE_AFTER_VIEWS_MAX="+most,
		"PUSHBOX_LIMITS_PASSPHRASES_PER_CLIENT=1000", "PUSHBOX_LIMITS_PASSPHRASES_PER_PUSH=10000",
		"PUSHBOX_LIMITS_PASSPHRASES_PER_LIFE=100000", "PUSHBOX_LIMITS_PASSPHRASE_QUEUE=10000")
}

// dataDir is the data directory of a pushbox that was started here.
func (s *subject) dataDir(dir string) string { return filepath.Join(dir, s.name) }

// stop stops a server that start has started.
func (s *subject) stop() error {
	if s.child == nil {
		return nil
	}
	c := s.child
	s.child, s.pids = nil, nil
	return c.stop()
}

// dial returns a client. It connects now or with its first request.
func (s *subject) dial(ctx context.Context, raw bool) (client, error) {
	if raw {
		return dialRaw(ctx, s)
	}
	return newNetClient(s), nil
}

// fill stores the pushes for views through the API.
func (s *subject) fill(ctx context.Context, o options) error {
	p := push{payload: payload(o.payload), views: 1}
	if s.api.plain {
		p.views = manyViews
	}
	s.tokens = make([]string, o.stored)
	if err := s.store(ctx, o.raw, s.tokens, s.create(p)); err != nil || s.path == "" {
		return err
	}
	if o.measures(lastFileView) || o.measures(plainFileView) {
		if err := s.register(ctx); err != nil {
			return err
		}
		file := p
		file.file, s.files = true, make([]string, kept)
		if err := s.store(ctx, o.raw, s.files, s.create(file)); err != nil {
			return err
		}
	}
	if o.measures(wrongWord) || o.measures(rightWord) {
		p.passphrase, s.locked = passphrase, make([]string, kept)
		return s.store(ctx, o.raw, s.locked, s.create(p))
	}
	return nil
}

// create is the request that creates a push. A server that the tool has started is given
// its API token only for files, which need one.
func (s *subject) create(p push) request {
	r := s.api.create(p)
	r.authorized = p.file || s.path == ""
	return r
}

// remove is the request that deletes a push.
func (s *subject) remove(token string) request {
	r := s.api.remove(token)
	r.authorized = s.path == ""
	return r
}

// register makes an account on a server that was started here, with an API token, unless
// it was done.
func (s *subject) register(ctx context.Context) error {
	if s.token != "" {
		return nil
	}
	add := s.command(ctx, "user", "add", owner, "--password-stdin", "--init")
	add.Stdin = strings.NewReader(rand.Text() + "\n")
	if out, err := add.CombinedOutput(); err != nil {
		return fmt.Errorf("add an account to %s: %w: %s", s.name, err, out)
	}
	token, err := s.command(ctx, "token", "create", owner).Output()
	if err != nil {
		return fmt.Errorf("make an API token of %s: %w", s.name, err)
	}
	s.token = strings.TrimSpace(string(token))
	return nil
}

// command is a command of the started server's program, about its data.
func (s *subject) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, s.child.cmd.Path, append(args, "--data-dir", s.name)...)
	c.Dir, c.Env = s.child.cmd.Dir, s.child.cmd.Env
	return c
}

// store sends the create until it has a token for each place.
func (s *subject) store(ctx context.Context, raw bool, tokens []string, create request) error {
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range min(fillers, len(tokens)) {
		group.Go(func() error { return s.storeSome(ctx, raw, tokens, create, &next) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("store pushes in %s: %w", s.name, err)
	}
	return nil
}

// storeSome fills the places whose numbers it takes from next.
func (s *subject) storeSome(ctx context.Context, raw bool, tokens []string, create request, next *atomic.Int64) error {
	c, err := s.dial(ctx, raw)
	if err != nil {
		return err
	}
	defer c.close()
	for i := next.Add(1) - 1; i < int64(len(tokens)); i = next.Add(1) - 1 {
		answer, err := ask(ctx, c, create)
		if err == nil {
			tokens[i], err = s.api.tokenIn(answer)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ask sends a request that is not measured, with a time limit.
func ask(ctx context.Context, c client, r request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return c.do(ctx, r)
}
