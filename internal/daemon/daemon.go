package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/durable"
	"pushbox/internal/httpd"
	"pushbox/internal/humanize"
	"pushbox/internal/instance"
	"pushbox/internal/mail"
	"pushbox/internal/webhook"
	"pushbox/store"
	"pushbox/store/record"
)

const (
	answerGrace = 5 * time.Second // to say that the request took too long
	failedDrain = 2 * time.Second // after the store failed, when every answer is an error
)

// A daemon serves an open store on open listeners. It owns the listeners.
type daemon struct {
	cfg       config.Config
	version   string
	store     *store.Store
	log       zerolog.Logger
	control   net.Listener
	endpoints []endpoint
	conns     *httpd.Connections // nil: without bounds
	tls       tlsSetup

	webhooks *webhook.Dispatcher // nil: no webhooks are sent
	people   *directoryLink      // nil: no directory is asked
	mail     *mail.Mailer        // nil: no mail is sent
	backups  *backups
	watch    *watch
	events   *follower // nil: the instance log is not followed
	lost     bool      // the log has that the database file was deleted; the sweeper's

	newProbe   func() (path string, err error) // server.Server.NewProbe
	endUploads func()                          // server.Server.EndUploads; nil: there are none
	dumpable   error                           // why a crash may write secrets to a core dump; nil: it cannot

	reloads      *reloader
	hangups      <-chan os.Signal // SIGHUP; nil: none
	terminalGone func() bool      // whether the terminal of the server is gone; nil: there was none
}

// run serves until ctx ends, the store fails or a listener breaks. Then it drains the
// listeners and stops everything else: the control socket, the watch and the follower of the
// instance log last.
func (d *daemon) run(ctx context.Context) error {
	servers := make([]*http.Server, len(d.endpoints))
	for i, at := range d.endpoints {
		servers[i] = d.server(d.conns.Handler(at.handler))
	}
	events := begin(ctx, d.follow)
	work := d.beginWork(ctx)
	control := begin(ctx, func(ctx context.Context) error {
		return admin.Serve(ctx, d.control, d.store, admin.Reload.By(d.reloads.reload), admin.Health.By(d.health),
			admin.Failing.By(d.failing), admin.Examine.By(d.examine), admin.Probe.By(d.probe))
	})
	signals := begin(ctx, d.obey)
	web := begin(ctx, func(ctx context.Context) error { return d.serve(ctx, servers) })
	tls := begin(ctx, func(ctx context.Context) error {
		return d.tls.run(ctx, d.server(nil), addressForVisitors(d.endpoints), d.cfg.Limits.DrainTimeout)
	})
	d.watch.serving(ctx, d.store)
	d.announce() // once it is ready: a client that waits for this line may ask at once
	d.warnOfRoom()

	var failed error
	select {
	case <-ctx.Done():
		d.watch.stopping()
		d.log.Info().Msg("stopping")
		d.waitStopDelay(web.done)
	case <-web.done:
	case <-tls.done:
	case <-control.done:
	case <-signals.done:
		d.log.Info().Msg("stopping: the terminal is gone")
	case <-d.store.Failed():
		failed = cmp.Or(d.store.Reach(context.WithoutCancel(ctx)), record.ErrFailed) // it says why
		d.log.Error().Err(failed).Msg("the store has failed, and nothing can be read or written: exiting; a restart recovers all acknowledged data")
		cut := time.AfterFunc(failedDrain, func() {
			for _, srv := range servers {
				_ = srv.Close()
			}
		})
		defer cut.Stop()
	}
	d.watch.stopping()
	err := web.stop()
	if d.endUploads != nil {
		d.endUploads()
	}
	err = errors.Join(err, tls.stop(), stopAll(work), signals.stop(), control.stop(), d.watch.stop(), events.stop())
	if failed != nil {
		err = errors.Join(err, fmt.Errorf("the server had to end: %w", failed))
	}
	d.log.Info().Err(err).Msg("stopped")
	return err
}

// beginWork starts the background work. run stops it in the same order.
func (d *daemon) beginWork(ctx context.Context) (work []*task) {
	if d.webhooks != nil {
		work = append(work, begin(ctx, d.webhooks.Run))
	}
	if d.mail != nil {
		work = append(work, begin(ctx, d.mail.Run))
	}
	for _, w := range []func(context.Context) error{
		d.people.follow,
		d.backups.keep,
		func(ctx context.Context) error { return loop(ctx, d.log, "a compaction", nil, d.store.CompactIfNeeded) },
		func(ctx context.Context) error { return loop(ctx, d.log, "sealing anew", nil, d.store.RenewIfNeeded) },
		func(ctx context.Context) error {
			return loop(ctx, d.log, "removing old databases", nil, d.removeCopies)
		},
		func(ctx context.Context) error {
			return loop(ctx, d.log, "following other servers", nil, d.store.Follow)
		},
		func(ctx context.Context) error {
			return loop(ctx, d.log, "a sweep", d.store.OrphansChanged(), d.watch.swept(d.sweep))
		},
	} {
		work = append(work, begin(ctx, w))
	}
	return work
}

// sweep sweeps, and logs once that the database file was deleted or replaced.
func (d *daemon) sweep(ctx context.Context) (wait time.Duration, err error) {
	if err := d.store.Reach(ctx); errors.Is(err, record.ErrLost) && !d.lost {
		d.lost = true
		d.log.Error().Err(err).Msg("do not stop the server: `pushbox backup FILE` saves everything now; then stop it, and `pushbox restore --keep-live FILE`")
	}
	return d.store.Sweep(ctx)
}

// removeCopies removes the old databases that upgrades have kept, and logs that.
func (d *daemon) removeCopies(ctx context.Context) (wait time.Duration, err error) {
	n, wait, err := d.store.RemoveCopies(ctx)
	if n > 0 {
		d.log.Info().Int("files", n).Msg("removed old databases that upgrades had kept")
	}
	return wait, err
}

func (d *daemon) announce() {
	line := d.log.Info().Str("version", d.version).Str("address", addresses(d.endpoints, false))
	if public := addresses(d.endpoints, true); public != "" {
		line.Str("public_address", public)
	}
	line.Str("data_dir", d.cfg.DataDir).Str("key_file", instance.KeyPlace(d.cfg)).Msg("listening")
}

// warnOfRoom logs that too little of the disk is free to create anything.
func (d *daemon) warnOfRoom() {
	least := int64(d.cfg.Limits.MinFreeSpace)
	free, known, err := durable.FreeSpace(d.cfg.DataDir)
	if err == nil && known && free < least && !instance.HasDatabaseURL(d.cfg) {
		d.log.Warn().Msg(fmt.Sprintf("nothing can be created: %s are free on the file system of %s, below %s (limits.min_free_space); make room",
			humanize.Size(free), d.cfg.DataDir, humanize.Size(least)))
	}
}

func (d *daemon) server(handler http.Handler) *http.Server {
	timeout := d.cfg.Limits.RequestTimeout
	srv := httpd.NewServer(handler, debugWriter{d.log}, timeout, timeout+answerGrace, d.cfg.Limits.StallTimeout)
	d.tls.secure(srv)
	return srv
}

// waitStopDelay keeps serving for limits.stop_delay after readiness has ended.
func (d *daemon) waitStopDelay(broken <-chan struct{}) {
	t := time.NewTimer(d.cfg.Limits.StopDelay)
	defer t.Stop()
	select {
	case <-t.C:
	case <-broken:
	case <-d.store.Failed():
	}
}
