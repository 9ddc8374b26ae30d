package daemon

import (
	"strconv"
	"time"

	"pushbox/internal/admin"
	"pushbox/internal/durable"
	"pushbox/internal/instance"
	"pushbox/internal/metrics"
	"pushbox/server"
)

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

// messages returns the figures of the outbox, by the value of the label.
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
