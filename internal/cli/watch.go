package cli

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/metrics"
	"pushbox/internal/sdnotify"
	"pushbox/internal/secret"
	"pushbox/server"
	"pushbox/store"
)

// A watch is what a server has for those who watch it: a service manager, whoever
// asks whether it is ready, and Prometheus. It owns the listener for metrics. Nil is a
// watch that nobody keeps.
type watch struct {
	log      zerolog.Logger
	notify   sdnotify.Notifier
	phase    atomic.Int32
	metrics  *metrics.Metrics // nil: nobody asks for any
	token    secret.Text      // what who asks must have; zero: nothing
	listener net.Listener     // nil: none
	tasks    []*task
}

// Phases of a server, in order.
const (
	isStarting = iota
	isServing
	isStopping
)

// newWatch opens what the configuration and the environment ask for. Whoever opens
// a watch closes it.
func newWatch(ctx context.Context, cfg config.Config, environ []string, log zerolog.Logger) (*watch, error) {
	notify, err := sdnotify.From(environ)
	if err != nil {
		log.Warn().Err(err).Msg("not everything can be told to the service manager")
	}
	w := &watch{log: log, notify: notify}
	if cfg.Metrics == (config.Metrics{}) {
		return w, nil
	}
	return w, w.openMetrics(ctx, cfg.Metrics)
}

// close lets go of the listener, if nothing has done so yet.
func (w *watch) close() {
	if w.listener != nil {
		_ = w.listener.Close()
	}
}

// ready says whether requests should be sent here.
func (w *watch) ready() error {
	switch w.phase.Load() {
	case isStarting:
		return server.ErrStarting
	case isServing:
		return nil
	default:
		return server.ErrStopping
	}
}

// serving says that the server serves, and begins what goes on beside it.
func (w *watch) serving(ctx context.Context, s *store.Store) {
	if w == nil {
		return
	}
	w.phase.Store(isServing)
	w.tell(w.notify.Ready)
	if every := w.notify.Watchdog() / 2; every > 0 {
		w.begin(ctx, func(ctx context.Context) error { return w.feed(ctx, every, s.Ping, w.notify.Alive) })
	}
	if w.metrics != nil {
		w.begin(ctx, func(ctx context.Context) error { return w.count(ctx, s) })
	}
	if w.listener != nil {
		w.begin(ctx, w.expose)
		w.log.Info().Stringer("address", w.listener.Addr()).Msg("listening for metrics")
	}
}

func (w *watch) begin(ctx context.Context, work func(context.Context) error) {
	w.tasks = append(w.tasks, begin(ctx, work))
}

// stopping says that the server is about to stop: readiness ends.
func (w *watch) stopping() {
	if w != nil && w.phase.Swap(isStopping) != isStopping {
		w.tell(w.notify.Stopping)
	}
}

// reloading says that the configuration is read again.
func (w *watch) reloading() {
	if w != nil {
		w.tell(w.notify.Reloading)
	}
}

// reloaded says that this is done, with whatever outcome.
func (w *watch) reloaded() {
	if w != nil {
		w.tell(w.notify.Ready)
	}
}

// stop ends what serving began. Those who watch see all of a stop but this.
func (w *watch) stop() error {
	if w == nil {
		return nil
	}
	return stopAll(w.tasks)
}

// tell says something to the service manager. That it cannot be told ends nothing.
func (w *watch) tell(say func() error) {
	if err := say(); err != nil {
		w.log.Warn().Err(err).Msg("the service manager was not told")
	}
}
