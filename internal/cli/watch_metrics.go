package cli

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"pushbox/config"
	"pushbox/internal/metrics"
	"pushbox/internal/secret"
	"pushbox/server"
	"pushbox/store"
)

// openMetrics begins to count, and opens what metrics are asked for by.
func (w *watch) openMetrics(ctx context.Context, cfg config.Metrics) (err error) {
	w.metrics = metrics.New(release)
	if w.token, err = readScrapeToken(cfg.TokenFile); err != nil || cfg.Listen == "" {
		return err
	}
	var lc net.ListenConfig
	if w.listener, err = lc.Listen(ctx, network(cfg.Listen), cfg.Listen); err != nil {
		return withHint(fmt.Errorf("metrics.listen: %w", err), "choose another address for metrics.listen, or end what uses this one")
	}
	return nil
}

// leastToken is how short a token may be, in bytes.
const leastToken = 16

// readScrapeToken reads the token of a file, but for white space around it; none
// where there is no name.
func readScrapeToken(name string) (secret.Text, error) {
	if name == "" {
		return secret.Text{}, nil
	}
	token, err := readSecretFile(name)
	if err != nil {
		return token, fmt.Errorf("metrics.token_file: %w", err)
	}
	if text := token.Reveal(); len(text) < leastToken || strings.ContainsAny(text, " \t\r\n") {
		return secret.Text{}, withHint(fmt.Errorf("metrics.token_file: %s does not hold one word of %d bytes or more", name, leastToken),
			"make one, for pushbox and for Prometheus: openssl rand -hex 32 > FILE")
	}
	return token, nil
}

// observed is the engine, with all that becomes of pushes told.
func (w *watch) observed(e store.Engine) store.Engine {
	if w == nil || w.metrics == nil {
		return e
	}
	return store.Observed(e, w.metrics.Pushes())
}

// committed is who to tell of commits; nil: nobody.
func (w *watch) committed() func(operations int, took time.Duration) {
	if w == nil || w.metrics == nil {
		return nil
	}
	return w.metrics.Committed
}

// swept is the sweep, with each round counted.
func (w *watch) swept(sweep func(context.Context) (time.Duration, error)) func(context.Context) (time.Duration, error) {
	if w == nil || w.metrics == nil {
		return sweep
	}
	return func(ctx context.Context) (time.Duration, error) {
		wait, err := sweep(ctx)
		if ctx.Err() == nil {
			w.metrics.Swept(time.Now(), err)
		}
		return wait, err
	}
}

// options adds to a server's what it has to know.
func (w *watch) options(o *server.Options) {
	o.Watch.Ready = w.ready
	if w.metrics != nil {
		o.Watch.Observer = w.metrics.Requests()
		o.Watch.Metrics, o.Watch.Token = w.metrics.Expose, w.token
	}
}

// attach says whom metrics ask. certificate tells when the certificate ends; nil: there
// is none.
func (w *watch) attach(s *store.Store, h *server.Server, certificate func() time.Time) {
	if w.metrics != nil {
		w.metrics.Attach(metrics.Sources{Vitals: s.Vitals, Load: h.Load, Certificate: certificate})
	}
}

// countDelay is how long counting leaves a server alone that has just begun.
const countDelay = 250 * time.Millisecond

// count counts the live pushes. Without their number there is one metric less.
func (w *watch) count(ctx context.Context, s *store.Store) error {
	if !sleep(ctx, nil, countDelay) {
		return nil
	}
	if err := s.CountLive(ctx); err != nil && ctx.Err() == nil {
		w.log.Error().Err(err).Msg("live pushes could not be counted")
	}
	return nil
}
