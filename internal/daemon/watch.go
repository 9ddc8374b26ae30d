package daemon

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/metrics"
	"pushbox/internal/sdnotify"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
)

// A watch reports on the server: to the service manager, to readiness probes and to
// Prometheus. It owns the listener for metrics. The zero watch reports nothing.
type watch struct {
	log      zerolog.Logger
	notify   sdnotify.Notifier
	phase    atomic.Int32
	metrics  *metrics.Metrics // nil: metrics are off
	token    secret.Text      // that readers of metrics must send; zero: none
	listener net.Listener     // for metrics; nil: none
	scrape   http.Handler     // on that listener
	tasks    []*task
}

// Phases of a server, in order.
const (
	isStarting = iota
	isServing
	isStopping
)

func newWatch(ctx context.Context, o Options, log zerolog.Logger) (*watch, error) {
	notify, err := sdnotify.From(o.Source.Environ)
	if err != nil {
		log.Warn().Err(err).Msg("some states cannot be reported to the service manager")
	}
	w := &watch{log: log, notify: notify}
	if o.Config.Metrics == (config.Metrics{}) {
		return w, nil
	}
	return w, w.openMetrics(ctx, o)
}

func (w *watch) close() {
	if w.listener != nil {
		_ = w.listener.Close()
	}
}

func (w *watch) ready() error {
	switch w.phase.Load() {
	case isStarting:
		return action.ErrStarting
	case isServing:
		return nil
	default:
		return action.ErrStopping
	}
}

// serving reports that the server serves, and starts the work of the watch.
func (w *watch) serving(ctx context.Context, s *store.Store) {
	w.phase.Store(isServing)
	w.tell(w.notify.Ready)
	if every := w.notify.Watchdog() / 2; every > 0 {
		w.tasks = append(w.tasks, begin(ctx, func(ctx context.Context) error { return w.feed(ctx, every, s.Ping, w.notify.Alive) }))
	}
	if w.listener != nil {
		w.tasks = append(w.tasks, begin(ctx, w.expose))
		w.log.Info().Stringer("address", w.listener.Addr()).Msg("listening for metrics")
	}
}

func (w *watch) stopping() {
	if w.phase.Swap(isStopping) != isStopping {
		w.tell(w.notify.Stopping)
	}
}

// trouble logs why the database of several servers cannot be used, once, and with nil that it can
// be again.
func (w *watch) trouble(why error, lasted time.Duration) {
	if why == nil {
		w.log.Info().Dur("away_ms", lasted.Round(time.Millisecond)).Msg("the database can be used again")
		return
	}
	w.log.Warn().Msg(why.Error())
}

// stop ends the work of the watch. It is called last, so that metrics can be read until the end of a stop.
func (w *watch) stop() error {
	return stopAll(w.tasks)
}

func (w *watch) tell(say func() error) {
	if err := say(); err != nil {
		w.log.Warn().Err(err).Msg("the service manager could not be informed")
	}
}

// feed feeds the watchdog of the service manager: each period it calls alive if ping succeeds
// within the period. A database of several servers that cannot be reached does not count:
// a restart would not help, and the server continues when the database does.
func (w *watch) feed(ctx context.Context, every time.Duration, ping func(context.Context) error, alive func() error) error {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		if err := within(ctx, every, ping); err != nil && !errors.Is(err, record.ErrUnavailable) {
			w.log.Error().Err(err).Msg("the store does not answer: the watchdog gets no keep-alive")
			continue
		}
		w.tell(alive)
	}
}

func within(ctx context.Context, d time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return f(ctx)
}
