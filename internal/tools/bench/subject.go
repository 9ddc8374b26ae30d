package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
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
	fillers = 32  // connections that store pushes: no more uploads than one account may have
	kept    = 100 // file pushes, and pushes with a passphrase, that are viewed again and again
	owner   = "bench@example.com"
)

// A subject is a server that is measured.
type subject struct {
	spec
	child     *child // nil: the server runs already
	beside    *child // a second server over the same database; nil: none
	besideURL string
	dialed    atomic.Int64

	owned      bool        // its stored pushes belong to an account
	settings   []string    // of its environment
	servers    int         // 0 is 1
	statements *statements // of the subject pgx; nil: another
	tokens     []string    // of the pushes to view
	files      []string    // of file pushes
	locked     []string    // of pushes with a passphrase
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
		if path, err = filepath.Abs(s.path); err != nil {
			return err
		}
		var environ []string
		if environ, err = pushboxEnviron(ctx, path); err == nil {
			environ = append(environ, s.settings...)
			s.child, s.url, err = startChild(ctx, filepath.Join(dir, s.name+".log"), environ, path, s.serve(s.name)...)
			if err == nil && s.servers > 1 {
				s.beside, s.besideURL, err = startChild(ctx, filepath.Join(dir, s.name+"-2.log"), environ, path, s.serve(s.name+"-2")...)
			}
		}
	}
	for _, c := range []*child{s.child, s.beside} {
		if c != nil {
			s.pids = append(s.pids, c.cmd.Process.Pid)
		}
	}
	return err
}

// serve is the command of a server; the directory is relative, since the path of a socket
// must be short.
func (s *subject) serve(dataDir string) []string {
	return []string{"serve", "--listen", "127.0.0.1:0", "--data-dir", dataDir}
}

// address is the URL of one of its servers, in turns.
func (s *subject) address() string {
	if s.beside != nil && s.dialed.Add(1)%2 == 0 {
		return s.besideURL
	}
	return s.url
}

// raised are the settings of a started pushbox: a high view limit of pushes, and high limits
// for passphrases. Rate limits need none: they do not apply to direct clients on loopback.
func raised() map[string]string {
	most := strconv.Itoa(manyViews)
	return map[string]string{
		"pw.expire_after_views_max": most, "files.expire_after_views_max": most,
		"limits.passphrases_per_client": "1000", "limits.passphrases_per_push": "10000",
		"limits.passphrases_per_life": "100000", "limits.passphrase_queue": "10000", "limits.account_pushes": "0",
	}
}

// pushboxEnviron returns the environment of a program of pushbox, with those of the raised
// settings that it has: an older program refuses to start with one that it does not know.
func pushboxEnviron(ctx context.Context, program string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ask := exec.CommandContext(ctx, program, "config", "print")
	ask.Env = plainEnviron()
	var says bytes.Buffer
	ask.Stderr = &says
	printed, err := ask.Output()
	if err != nil {
		return nil, fmt.Errorf("ask %s for its settings: %w\n%s", program, err, says.Bytes())
	}
	var all []string
	for key, value := range raised() {
		if hasSetting(string(printed), key) {
			all = append(all, "PUSHBOX_"+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))+"="+value)
		}
	}
	return plainEnviron(all...), nil
}

// hasSetting reports whether printed settings, in YAML, have that key of a section.
func hasSetting(printed, key string) bool {
	section, name, _ := strings.Cut(key, ".")
	in := ""
	for line := range strings.Lines(printed) {
		word, _, _ := strings.Cut(line, ":")
		if !strings.HasPrefix(word, " ") {
			in = word
		} else if in == section && strings.TrimSpace(word) == name {
			return true
		}
	}
	return false
}

// dataDir is the data directory of a pushbox that was started here.
func (s *subject) dataDir(dir string) string { return filepath.Join(dir, s.name) }

// stop stops a server that start has started.
func (s *subject) stop() error {
	if s.statements != nil {
		s.statements.pool.Close()
	}
	var errs []error
	for _, c := range []*child{s.child, s.beside} {
		if c != nil {
			errs = append(errs, c.stop())
		}
	}
	s.child, s.beside, s.pids = nil, nil, nil
	return errors.Join(errs...)
}

// dial returns a client. It connects now or with its first request.
func (s *subject) dial(ctx context.Context, raw bool) (client, error) {
	if s.statements != nil {
		return statementClient{s.statements}, nil
	}
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
	stored := s.create(p)
	if s.owned {
		if err := s.register(ctx); err != nil {
			return err
		}
		stored.authorized = true
	}
	if err := s.store(ctx, o.raw, s.tokens, stored); err != nil || s.path == "" {
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
