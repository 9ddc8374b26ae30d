package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pushbox/server"
	"pushbox/store"
)

// Sources are asked at each scrape.
type Sources struct {
	Vitals func() (store.Vitals, error) // while it returns an error, there is nothing of the store
	Load   func() server.Load

	// Certificate is when the certificate in use ends, the earliest of several; zero:
	// there is none. nil: there never is.
	Certificate func() time.Time
}

// Attach has m ask those sources. It is done once.
func (m *Metrics) Attach(s Sources) { m.registry.MustRegister(newAsking(s)) }

// asking is a prometheus.Collector over Sources.
type asking struct {
	Sources
	live, size, used, freePages, journal, lag *prometheus.Desc

	uploads, downloads, memory, certificate *prometheus.Desc
}

func newAsking(s Sources) *asking {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
	}
	return &asking{
		Sources:     s,
		live:        desc("live_pushes", "Pushes that can still be retrieved, with those whose time is over until a sweep meets them. Missing until they have been counted."),
		size:        desc("store_size_bytes", "Size of the database file."),
		used:        desc("store_used_bytes", "How much of the database file is in use."),
		freePages:   desc("store_free_pages", "Pages of the database file that nothing is in."),
		journal:     desc("store_journal_rows", "Changes that are durable and wait to be put where they belong."),
		lag:         desc("sweep_lag_seconds", "How long the push that has been due for the longest time has waited to be destroyed; 0: none is due."),
		uploads:     desc("uploads_running", "Uploads of files that run."),
		downloads:   desc("downloads_running", "Downloads of files that run."),
		memory:      desc("body_memory_bytes", "Memory that large requests have, and large answers that open pushes.", "use"),
		certificate: desc("certificate_expiry_timestamp_seconds", "When the TLS certificate ends. Missing where there is none."),
	}
}

// Describe sends what there can be.
func (a *asking) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{
		a.live, a.size, a.used, a.freePages, a.journal, a.lag, a.uploads, a.downloads, a.memory, a.certificate,
	} {
		ch <- d
	}
}

// Collect asks, and sends what there is.
func (a *asking) Collect(ch chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	if v, err := a.Vitals(); err == nil {
		if v.Live >= 0 {
			send(a.live, float64(v.Live))
		}
		send(a.size, float64(v.Size))
		send(a.used, float64(v.Size-v.Unused))
		send(a.freePages, float64(v.FreePages))
		send(a.journal, float64(v.Journal))
		send(a.lag, v.Lag.Seconds())
	}
	load := a.Load()
	send(a.uploads, float64(load.Uploads))
	send(a.downloads, float64(load.Downloads))
	send(a.memory, float64(load.Bodies), "requests")
	send(a.memory, float64(load.Reveals), "answers")
	if a.Certificate != nil {
		if end := a.Certificate(); !end.IsZero() {
			send(a.certificate, float64(end.Unix()))
		}
	}
}
