package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"pushbox/internal/tools/tool"
)

type subject struct {
	name     string
	path     string // of the pushbox to start; "": another server, or none
	api      *api
	start    func(context.Context, *bench, *subject) error // nil: it runs already
	stop     func() error                                  // stops what start has started last
	local    client                                        // what this process does itself; nil: clients connect to urls, in turns
	urls     []string
	token    string // for the API; "": none
	pids     []int
	stored   int      // pushes in it before it is measured
	payload  string   // of each
	owned    bool     // they belong to an account
	servers  int      // that start starts; 0 is 1
	settings []string // for their environment

	tokens []string // of the pushes to view
	files  []string // of file pushes
	locked []string // of pushes with a passphrase
}

// can reports whether the operation can be measured: most need an account or other settings.
func (s *subject) can(operation string) bool {
	return s.path != "" && operation != bareWord || slices.Contains(s.api.can, operation)
}

func (b *bench) launch(ctx context.Context, s *subject, name string, environ []string, program string, args ...string) error {
	server, err := tool.Start(ctx, b.dir, name+".log", environ, program, args...)
	if err != nil {
		return err
	}
	b.ends = append(b.ends, server.Stop)
	s.urls, s.pids, s.stop = append(s.urls, server.URL), append(s.pids, server.PID()), server.Stop
	return nil
}

// raised are the settings of a started pushbox: a high view limit of pushes, and high limits for passphrases. Rate limits
// need none: they do not apply to direct clients on loopback.
var raised = map[string]string{
	"pw.expire_after_views_max": strconv.Itoa(manyViews), "files.expire_after_views_max": strconv.Itoa(manyViews),
	"limits.passphrases_per_client": "1000", "limits.passphrases_per_push": "10000",
	"limits.passphrases_per_life": "100000", "limits.passphrase_queue": "10000", "limits.account_pushes": "0",
}

// startPushbox starts the servers of a subject, with those of the raised settings that the program prints: an older one
// refuses to start with a setting that it does not know. The paths of data directories are relative, since the path of a
// socket must be short.
func startPushbox(ctx context.Context, b *bench, s *subject) error {
	path, err := filepath.Abs(s.path)
	if err != nil {
		return err
	}
	printed, err := tool.Output(ctx, b.dir, tool.Environ(), "", path, "config", "print")
	if err != nil {
		return err
	}
	environ := tool.Environ(s.settings...)
	for name, value := range raised {
		_, key, _ := strings.Cut(name, ".")
		if strings.Contains(printed, "\n  "+key+":") {
			environ = append(environ, "PUSHBOX_"+strings.ToUpper(strings.ReplaceAll(name, ".", "_"))+"="+value)
		}
	}
	if b.commits {
		environ = append(environ, "PUSHBOX_METRICS_TOKEN="+metricsToken)
	}
	for n := range max(s.servers, 1) {
		name := s.name + strings.Repeat("-2", n)
		if err := b.launch(ctx, s, name, environ, path, "serve", "--listen", "127.0.0.1:0", "--data-dir", name); err != nil {
			return err
		}
	}
	if s.owned || slices.Contains(b.only, lastFileView) || slices.Contains(b.only, plainFileView) {
		s.token, err = tool.APIToken(ctx, b.dir, environ, path, s.name)
	}
	return err
}

// dial returns the i-th client, which works until the deadline of ctx. It connects now or with its first request.
func (s *subject) dial(ctx context.Context, b *bench, i int) (client, error) {
	switch {
	case s.local != nil:
		return s.local, nil
	case b.client == "raw":
		return dialRaw(ctx, s.urls[i%len(s.urls)], s.token)
	default:
		net := http.Client{Transport: new(http.Transport)} // of its own, with one connection
		return &netClient{ctx: ctx, http: net, base: s.urls[i%len(s.urls)], token: s.token}, nil
	}
}

// create is the request that creates a push. A server that the tool has started is given its API token only for files,
// which need one.
func (s *subject) create(views int, more string) request {
	return request{
		method: http.MethodPost, path: s.api.createPath, body: []byte(s.api.body(s.payload, views, more)), status: s.api.created,
		authorized: s.path == "" || more == withFile,
	}
}

// ready starts a subject and stores the pushes for views through its API.
func (b *bench) ready(ctx context.Context, s *subject) (err error) {
	if s.start != nil {
		if err := s.start(ctx, b, s); err != nil {
			return fmt.Errorf("start %s: %w", s.name, err)
		}
	}
	if s.tokens != nil || !s.can(createPush) {
		return nil
	}
	fmt.Fprintf(b.notes, "%s: store %d pushes\n", s.name, s.stored)
	stored := s.create(manyViews, "")
	stored.authorized = stored.authorized || s.owned
	s.tokens, err = s.store(ctx, b, s.stored, stored)
	if err == nil && slices.Contains(b.only, plainFileView) && s.can(plainFileView) {
		s.files, err = s.store(ctx, b, kept, s.create(manyViews, withFile))
	}
	if err == nil && (slices.Contains(b.only, wrongWord) || slices.Contains(b.only, rightWord)) && s.can(rightWord) {
		s.locked, err = s.store(ctx, b, kept, s.create(manyViews, withPhrase))
	}
	return err
}

func (s *subject) store(ctx context.Context, b *bench, n int, create request) ([]string, error) {
	const fillers, slowest = 32, 100 * time.Millisecond // no more uploads than an account may have; for a create, on average
	tokens := make([]string, max(n, 0))                 // a stock may have more than it needs
	ctx, cancel := context.WithTimeout(ctx, tool.Patience+time.Duration(len(tokens))*slowest)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	for first := range min(fillers, len(tokens)) {
		group.Go(func() error {
			c, err := s.dial(ctx, b, first)
			if err != nil {
				return err
			}
			defer c.close()
			for i := first; i < len(tokens) && err == nil; i += fillers {
				var answer []byte
				if answer, err = ask(c, create); err == nil {
					tokens[i], err = s.api.tokenIn(answer)
				}
				err = cmp.Or(err, ctx.Err())
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("store pushes in %s: %w", s.name, err)
	}
	return tokens, nil
}
