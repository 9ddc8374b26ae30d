package daemon

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/internal/instance"
	"pushbox/internal/terminal"
	"pushbox/server"
	"pushbox/store"
)

// A reloadable prepares a part of the server for new settings. The returned apply puts them
// in force and cannot fail: so if one part refuses, no part changes.
type reloadable func(cfg config.Config) (apply func(), err error)

// A reloader reads the configuration again, and applies it to all parts of the server.
type reloader struct {
	src   config.Source
	log   zerolog.Logger
	parts []reloadable // in the order in which they change
	watch *watch       // is told
	note  noteReload   // is told, too

	mu      sync.Mutex     // held by reload
	running config.Config  // in force
	values  []config.Value // of it
}

// A noteReload writes a reload to the instance log.
type noteReload func(ctx context.Context, by store.Actor, refused bool, changed []string) error

// newReloader returns a reloader without a watch and without the instance log.
func newReloader(o Options, log zerolog.Logger, parts ...reloadable) *reloader {
	note := func(context.Context, store.Actor, bool, []string) error { return nil }
	return &reloader{running: o.Config, values: o.Values, src: o.Source, log: log, parts: parts, watch: new(watch), note: note}
}

func storeReload(s *store.Store) reloadable {
	return func(cfg config.Config) (func(), error) {
		return func() { s.Configure(instance.StoreOptions(cfg)) }, nil
	}
}

// handlerReload returns the reloadable of the handler, which must change after the store.
func handlerReload(h *server.Server) reloadable {
	return func(cfg config.Config) (func(), error) {
		logo, err := readLogo(cfg.Brand.LogoFile)
		if err != nil {
			return nil, err
		}
		return h.Reload(cfg, logo)
	}
}

// reload puts in force all settings that need no restart, or none if the configuration has
// a problem. It logs the outcome in the instance log, and then in a last line here. Problems are
// part of the result, not an error.
func (r *reloader) reload(ctx context.Context, _ admin.None) (admin.Reloaded, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch.tell(r.watch.notify.Reloading)
	defer r.watch.tell(r.watch.notify.Ready)
	c, err := config.Reload(r.running, r.src)
	if err == nil {
		err = r.apply(c.Config)
	}
	if err != nil {
		problems := problemsOf(err)
		r.tell(ctx, true, nil)
		r.log.Error().Strs("problems", problems).Msg("the configuration cannot be reloaded: nothing was changed")
		return admin.Reloaded{Problems: problems}, nil
	}
	for i, v := range c.Values {
		if slices.Contains(c.Waiting, v.Key) && i < len(r.values) {
			c.Values[i] = r.values[i]
		}
	}
	r.running, r.values = c.Config, c.Values
	if len(c.Waiting) > 0 {
		r.log.Warn().Strs("settings", c.Waiting).Msg("these settings were changed and wait for a restart")
	}
	r.tell(ctx, false, c.Changed)
	r.log.Info().Strs("changed", c.Changed).Msg("the configuration was reloaded")
	return admin.Reloaded{Changed: c.Changed, Waiting: c.Waiting}, nil
}

func (r *reloader) inForce() (config.Config, []config.Value) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running, r.values
}

// tell writes a reload to the instance log. Only the operator can cause one, by the control
// socket or by a signal.
func (r *reloader) tell(ctx context.Context, refused bool, changed []string) {
	if err := r.note(ctx, store.Actor{Role: store.Operator}, refused, changed); err != nil {
		r.log.Error().Err(err).Msg("the reload could not be written to the instance log")
	}
}

// apply puts the settings in force in every part, or in none.
func (r *reloader) apply(cfg config.Config) error {
	var applies []func()
	var errs []error
	for _, prepare := range r.parts {
		apply, err := prepare(cfg)
		applies, errs = append(applies, apply), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, apply := range applies {
		apply()
	}
	return nil
}

func problemsOf(err error) (all []string) {
	if p := (*config.ProblemsError)(nil); errors.As(err, &p) {
		for _, one := range p.Problems {
			all = append(all, one.String())
		}
		return all
	}
	return []string{err.Error()}
}

// listenForHangups receives SIGHUP from now on, so that it does not end the process, until
// ignore is called. Windows has no such signal.
func listenForHangups() (hangups <-chan os.Signal, ignore func()) {
	c := make(chan os.Signal, 1) // one waiting signal is enough: its reload reads the newest files
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

func lostTerminal(w io.Writer) func() bool {
	if !terminal.Is(w) {
		return nil
	}
	return func() bool { return !terminal.Is(w) }
}

// obey reloads the configuration at each SIGHUP until ctx ends. It returns early if the signal came
// because the terminal was closed: that should end the programs in it.
func (d *daemon) obey(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-d.hangups:
			if d.terminalGone != nil && d.terminalGone() {
				return nil
			}
			_, _ = d.reloads.reload(ctx, admin.None{}) // the log has the outcome
		}
	}
}
