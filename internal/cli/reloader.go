package cli

import (
	"context"
	"errors"
	"sync"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/admin"
	"pushbox/server"
	"pushbox/store"
)

// A reloadable makes a part of the server ready to go by other settings. Calling
// apply, which cannot fail, is what does it: so where one part refuses, no part
// changes.
type reloadable func(cfg config.Config) (apply func(), err error)

// A reloader reads the configuration again and has all parts of the server go by
// it.
type reloader struct {
	src   config.Source
	log   zerolog.Logger
	parts []reloadable // in the order in which they change
	watch *watch       // is told; nil: nobody keeps one

	mu      sync.Mutex    // held by reload
	running config.Config // in force
}

func newReloader(running config.Config, src config.Source, log zerolog.Logger, parts ...reloadable) *reloader {
	return &reloader{running: running, src: src, log: log, parts: parts}
}

// storeReload is the store as a part.
func storeReload(s *store.Store) reloadable {
	return func(cfg config.Config) (func(), error) {
		return func() { s.Configure(storeOptions(cfg)) }, nil
	}
}

// handlerReload is what answers requests as a part, to be changed after the store.
func handlerReload(h *server.Server) reloadable {
	return func(cfg config.Config) (func(), error) {
		logo, err := readLogo(cfg.Brand.LogoFile)
		if err != nil {
			return nil, err
		}
		return h.Reload(cfg, logo)
	}
}

// reload brings in force what can be without a restart, all of it or, where
// something is wrong, nothing; and says so in the log. What is wrong is in the
// outcome and is no error.
func (r *reloader) reload(context.Context, admin.None) (admin.Reloaded, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch.reloading()
	defer r.watch.reloaded()
	c, err := config.Reload(r.running, r.src)
	if err == nil {
		err = r.apply(c.Config)
	}
	if err != nil {
		problems := problemsOf(err)
		r.log.Error().Strs("problems", problems).Msg("the configuration cannot be reloaded: nothing was changed")
		return admin.Reloaded{Problems: problems}, nil
	}
	r.running = c.Config
	r.log.Info().Strs("changed", c.Changed).Msg("the configuration was reloaded")
	if len(c.Waiting) > 0 {
		r.log.Warn().Strs("settings", c.Waiting).Msg("these settings were changed and wait for a restart")
	}
	return admin.Reloaded{Changed: c.Changed, Waiting: c.Waiting}, nil
}

// apply has every part go by the settings, or none.
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

// problemsOf is what is wrong, one by one.
func problemsOf(err error) (all []string) {
	if p := (*config.ProblemsError)(nil); errors.As(err, &p) {
		for _, one := range p.Problems {
			all = append(all, one.String())
		}
		return all
	}
	return []string{err.Error()}
}
