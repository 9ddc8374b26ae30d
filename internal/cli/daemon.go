package cli

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/httpd"
	"pushbox/internal/mail"
	"pushbox/internal/webhook"
	"pushbox/store"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	answerGrace   = 5 * time.Second // to say that the request took too long
	maxHeader     = 32 << 10        // bytes
	failedDrain   = 2 * time.Second // after the store failed: each answer is an error
)

// A daemon serves a store that is open on listeners that are open. It owns the
// listeners.
type daemon struct {
	cfg     config.Config
	store   *store.Store
	log     zerolog.Logger
	control net.Listener
	doors   []door
	tls     tlsSide

	webhooks *webhook.Dispatcher // nil: nobody is told of anything
	mail     *mail.Mailer        // nil: no mail is sent
	watch    *watch              // nil: nobody keeps one

	newProbe func() (path string, err error) // as server.Server has it
	dumpable error                           // why a crash may leave secrets in a core dump; nil: it does not

	reloads *reloader
	hangups <-chan os.Signal // SIGHUP; nil: none comes
	lost    func() bool      // whether the terminal that the server was started on is gone; nil: there was none
}

// run serves until ctx ends, the store fails or a listener breaks. Then it
// drains the doors, and stops everything else, last the control socket and what is
// there for those who watch.
func (d *daemon) run(ctx context.Context) error {
	servers := make([]*http.Server, len(d.doors))
	for i, at := range d.doors {
		servers[i] = d.server(at.handler)
	}
	work := d.beginWork(ctx)
	control := begin(ctx, func(ctx context.Context) error {
		return admin.Serve(ctx, d.control, d.store, admin.Reload.By(d.reloads.reload), admin.Examine.By(d.examine), admin.Probe.By(d.probe))
	})
	signals := begin(ctx, d.obey)
	web := begin(ctx, func(ctx context.Context) error { return d.serveDoors(ctx, servers) })
	tls := begin(ctx, func(ctx context.Context) error {
		return d.tls.run(ctx, d.server(nil), addressForVisitors(d.doors), d.cfg.Limits.DrainTimeout)
	})
	d.announce()
	d.watch.serving(ctx, d.store)

	failed := false
	select {
	case <-ctx.Done():
		d.watch.stopping()
		d.log.Info().Msg("stopping")
		d.linger(web.done)
	case <-web.done:
	case <-tls.done:
	case <-control.done:
	case <-signals.done:
		d.log.Info().Msg("stopping: the terminal is gone")
	case <-d.store.Failed():
		failed = true
		d.log.Error().Msg("the store has failed and nothing more can be read or written: ending; a restart reads what is on the disk")
		cut := time.AfterFunc(failedDrain, func() {
			for _, srv := range servers {
				_ = srv.Close()
			}
		})
		defer cut.Stop()
	}
	d.watch.stopping()
	err := errors.Join(web.stop(), tls.stop(), stopAll(work), signals.stop(), control.stop(), d.watch.stop())
	if failed {
		err = errors.Join(err, fmt.Errorf("the server had to end: %w", store.ErrFailed))
	}
	d.log.Info().Err(err).Msg("stopped")
	return err
}

// beginWork begins what goes on beside the answering of requests, in the order in
// which it is to be stopped.
func (d *daemon) beginWork(ctx context.Context) (work []*task) {
	for _, w := range []func(context.Context) error{
		d.tell,
		d.sendMail,
		func(ctx context.Context) error { return keepBackups(ctx, d.cfg, d.store, d.log) },
		func(ctx context.Context) error { return loop(ctx, d.log, "a compaction", nil, d.store.Tidy) },
		func(ctx context.Context) error {
			return loop(ctx, d.log, "a sweep", d.store.Released(), d.watch.swept(d.store.Sweep))
		},
	} {
		work = append(work, begin(ctx, w))
	}
	return work
}

// announce says where the server is, in the log.
func (d *daemon) announce() {
	line := d.log.Info().Str("version", release).Str("address", addresses(d.doors, false))
	if public := addresses(d.doors, true); public != "" {
		line.Str("public_address", public)
	}
	line.Str("data_dir", d.cfg.DataDir).Str("key_file", keyPlace(d.cfg)).Msg("listening")
}

// server is the web server of a door, with every limit that net/http has.
func (d *daemon) server(handler http.Handler) *http.Server {
	timeout := d.cfg.Limits.RequestTimeout
	srv := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: min(headerTimeout, timeout),
		ReadTimeout:       timeout,
		WriteTimeout:      timeout + answerGrace,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          stdlog.New(debugWriter{d.log}, "", 0),

		DisableGeneralOptionsHandler: true, // or net/http answers OPTIONS * without the headers of every answer

		// A peer that reads nothing holds all streams of its connection.
		HTTP2: &http.HTTP2Config{WriteByteTimeout: d.cfg.Limits.StallTimeout},
	}
	d.tls.secure(srv)
	return srv
}

// linger serves on for a while after readiness has ended, for as long as it can.
func (d *daemon) linger(broken <-chan struct{}) {
	t := time.NewTimer(d.cfg.Limits.StopDelay)
	defer t.Stop()
	select {
	case <-t.C:
	case <-broken:
	case <-d.store.Failed():
	}
}

// drained turns requests that were cut off from a failure into a line in the log.
func (d *daemon) drained(err error) error {
	if errors.Is(err, httpd.ErrCut) {
		d.log.Warn().Dur("after_ms", d.cfg.Limits.DrainTimeout).Msg("requests were cut off")
		return nil
	}
	return err
}

// keyPlace is where the master key comes from, for the log.
func keyPlace(cfg config.Config) string {
	if !cfg.MasterKey.IsZero() {
		return "none: the setting master_key"
	}
	return cfg.KeyFile()
}
