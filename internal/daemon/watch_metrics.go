package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/admin"
	"pushbox/internal/durable"

	"pushbox/config"
	"pushbox/internal/hint"
	"pushbox/internal/httpd"
	"pushbox/internal/instance"
	"pushbox/internal/metrics"
	"pushbox/internal/secret"
	"pushbox/server"
	"pushbox/store"
	"pushbox/store/record"
)

func (w *watch) openMetrics(ctx context.Context, o Options) (err error) {
	cfg := o.Config.Metrics
	w.metrics = metrics.New(o.Version)
	if w.token, err = readScrapeToken(cfg); err != nil || cfg.Listen == "" {
		return err
	}
	var lc net.ListenConfig
	if w.listener, err = lc.Listen(ctx, network(cfg.Listen), cfg.Listen); err != nil {
		return hint.With(fmt.Errorf("metrics.listen: %w", err), "choose another address for metrics.listen, or stop the program that uses this one")
	}
	return nil
}

const leastToken = 16

// readScrapeToken returns the token of the settings, or that in the file that they name,
// without white space around it; the zero Text if there is neither.
func readScrapeToken(m config.Metrics) (token secret.Text, err error) {
	key := "metrics.token"
	if m.TokenFile != "" {
		key = "metrics.token_file"
	}
	if token, err = instance.Secret(m.Token, m.TokenFile, key); err != nil || !m.HasToken() {
		return token, err
	}
	if text := token.Reveal(); len(text) < leastToken || strings.ContainsAny(text, " \t\r\n") {
		return secret.Text{}, hint.With(fmt.Errorf("%s: it must be one word of at least %d bytes", key, leastToken),
			"make one, for pushbox and for Prometheus: (umask 077; openssl rand -hex 32 > FILE)")
	}
	return token, nil
}

func (w *watch) observed(e record.Engine) record.Engine {
	if w.metrics == nil {
		return e
	}
	return store.Observed(e, w.metrics.Pushes())
}

// committed returns the function to call for each commit; nil: metrics are off.
func (w *watch) committed() func(record.Commit) {
	if w.metrics == nil {
		return nil
	}
	return w.metrics.Committed
}

// swept returns sweep, wrapped so that metrics count its rounds.
func (w *watch) swept(sweep func(context.Context) (time.Duration, error)) func(context.Context) (time.Duration, error) {
	if w.metrics == nil {
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

func (w *watch) options(o *server.Options) {
	o.Monitoring.Ready = w.ready
	if w.metrics != nil {
		o.Monitoring.Observer = w.metrics.Requests()
		o.Monitoring.Metrics, o.Monitoring.Token = w.metrics.Expose, w.token
	}
}

func (w *watch) attach(h *server.Server, from metrics.Sources) {
	if w.metrics != nil {
		w.scrape = h.Metrics()
		w.metrics.Attach(from)
	}
}

const (
	scrapeTimeout = 10 * time.Second
	scrapeDrain   = time.Second // that a stop gives to a scrape
)

// expose serves metrics. If its listener breaks, the server continues.
func (w *watch) expose(ctx context.Context) error {
	srv := httpd.NewServer(w.scrape, debugWriter{w.log}, scrapeTimeout, scrapeTimeout, 0)
	err := httpd.Run(ctx, w.listener, srv, scrapeDrain)
	if err != nil && !errors.Is(err, httpd.ErrCut) {
		w.log.Error().Err(err).Msg("the listener for metrics broke")
	}
	return nil
}

// sources returns the figures that a scrape asks the daemon for. certificate returns when
// the certificate expires; nil: there is none.
func (d *daemon) sources(h *server.Server, certificate func() time.Time) metrics.Sources {
	from := metrics.Sources{
		Store: d.store.Stats, Shared: instance.HasDatabaseURL(d.cfg), Server: h.Stats, Certificate: certificate, Messages: d.messages,
		FreeSpace: func() (int64, bool) {
			free, known, err := durable.FreeSpace(d.cfg.DataDir)
			return free, known && err == nil
		},
	}
	if d.cfg.Backup.Schedule > 0 {
		from.Backups = func() metrics.Backups {
			s := d.backups.state()
			return metrics.Backups{Last: s.last, Every: d.cfg.Backup.Schedule, Done: s.done, Failed: s.failed, AfterDone: s.afterDone, AfterFailed: s.afterFails}
		}
	}
	return from
}

func (d *daemon) messages() []metrics.Messages {
	hooks, mail := d.toWebhooks(), d.toMail()
	return []metrics.Messages{
		{By: "webhook", Waiting: hooks.Waiting, Dropped: hooks.Dropped, Failing: tries("webhook ", hooks.Failing)},
		{By: "mail", Waiting: mail.Waiting, Dropped: mail.Dropped, Failing: tries("mail", mail.Failing)},
	}
}

// mostReceivers is how many receivers of one kind metrics name: accounts add webhooks, and
// the number of series must not grow with them.
const mostReceivers = 50

// tries returns the failed tries by the name of the receiver. A webhook's name ends with its
// ID; its address may be a secret.
func tries(kind string, failing []admin.Receiver) map[string]int {
	out := make(map[string]int)
	for _, r := range failing[:min(len(failing), mostReceivers)] {
		name := kind
		if kind != "mail" {
			name += strconv.FormatUint(uint64(r.Webhook), 10)
		}
		out[name] = r.Tries
	}
	return out
}
