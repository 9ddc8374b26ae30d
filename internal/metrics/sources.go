package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pushbox/server"
	"pushbox/store"
)

// Sources return figures at each scrape.
type Sources struct {
	Store  func() (store.Stats, error) // after an error, a scrape has no metrics of the store
	Server func() server.Stats

	// Certificate returns when the certificate in use ends, the first of several; zero if
	// there is none yet. nil: the server has no certificates.
	Certificate func() time.Time
}

// Attach adds the sources. Call it once.
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
		live:        desc("live_pushes", "Live pushes, and pushes past their time limit that no sweep has ended yet. Missing until the first count is done."),
		size:        desc("store_size_bytes", "Size of the database file."),
		used:        desc("store_used_bytes", "Used bytes of the database file."),
		freePages:   desc("store_free_pages", "Free pages of the database file."),
		journal:     desc("store_journal_rows", "Durable rows of the journal that wait to be folded into the database."),
		lag:         desc("sweep_lag_seconds", "How long the oldest due push has waited to be destroyed. 0: none is due."),
		uploads:     desc("uploads_running", "Uploads of files in progress."),
		downloads:   desc("downloads_running", "Downloads of files in progress."),
		memory:      desc("body_memory_bytes", "Memory in use for large requests, and for large answers that reveal pushes.", "use"),
		certificate: desc("certificate_expiry_timestamp_seconds", "When the TLS certificate expires. Missing if there is none."),
	}
}

// Describe sends every metric that Collect may send.
func (a *asking) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{
		a.live, a.size, a.used, a.freePages, a.journal, a.lag, a.uploads, a.downloads, a.memory, a.certificate,
	} {
		ch <- d
	}
}

// Collect asks the sources, and sends their figures.
func (a *asking) Collect(ch chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	if v, err := a.Store(); err == nil {
		if v.Live >= 0 {
			send(a.live, float64(v.Live))
		}
		send(a.size, float64(v.Size))
		send(a.used, float64(v.Size-v.Unused))
		send(a.freePages, float64(v.FreePages))
		send(a.journal, float64(v.Journal))
		send(a.lag, v.Lag.Seconds())
	}
	stats := a.Server()
	send(a.uploads, float64(stats.Uploads))
	send(a.downloads, float64(stats.Downloads))
	send(a.memory, float64(stats.RequestMemory), "requests")
	send(a.memory, float64(stats.AnswerMemory), "answers")
	if a.Certificate != nil {
		if end := a.Certificate(); !end.IsZero() {
			send(a.certificate, float64(end.Unix()))
		}
	}
}
