package metrics

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pushbox/store"
)

// pushes is a store.Observer, and counts sweeps.
type pushes struct {
	created     *prometheus.CounterVec
	viewed      prometheus.Counter
	ended       *prometheus.CounterVec
	passphrases prometheus.Counter
	compacted   *prometheus.CounterVec
	swept       *prometheus.CounterVec
	lastSweep   prometheus.Gauge
}

// Values of the label outcome.
const (
	done   = "done"
	putOff = "put_off"
	failed = "failed"
)

func newPushes() *pushes {
	p := &pushes{
		created:     counter("creates_total", "Pushes that were created.", "kind"),
		viewed:      counter("views_total", "Views that were counted.").WithLabelValues(),
		ended:       counter("expiries_total", "Pushes that ended: by their last view, their time limit, by hand, or otherwise.", "cause"),
		passphrases: counter("failed_passphrases_total", "Wrong passphrases.").WithLabelValues(),
		compacted:   counter("compactions_total", "Compactions of the database that ended, by hand or by themselves.", "outcome"),
		swept:       counter("sweeps_total", "Rounds of the sweeper.", "outcome"),
		lastSweep:   gauge("sweep_last_success_timestamp_seconds", "When the sweeper last got through a round; 0: not yet.").WithLabelValues(),
	}
	for _, k := range []store.Kind{store.Text, store.File, store.URL, store.QR} {
		p.created.WithLabelValues(k.String())
	}
	for _, c := range store.Causes() {
		p.ended.WithLabelValues(c.String())
	}
	for _, outcome := range []string{done, putOff, failed} {
		p.compacted.WithLabelValues(outcome)
	}
	for _, outcome := range []string{done, failed} {
		p.swept.WithLabelValues(outcome)
	}
	return p
}

func (p *pushes) all() []prometheus.Collector {
	vecs := []prometheus.Collector{p.created, p.viewed, p.ended, p.passphrases, p.compacted, p.swept, p.lastSweep}
	return vecs
}

// Pushes is who to tell what becomes of pushes.
func (m *Metrics) Pushes() store.Observer { return m.pushes }

// Created counts a new push.
func (p *pushes) Created(k store.Kind) { p.created.WithLabelValues(k.String()).Inc() }

// Viewed counts a view.
func (p *pushes) Viewed() { p.viewed.Inc() }

// Ended counts the end of a push.
func (p *pushes) Ended(c store.Cause) { p.ended.WithLabelValues(c.String()).Inc() }

// PassphraseFailed counts a wrong passphrase.
func (p *pushes) PassphraseFailed() { p.passphrases.Inc() }

// Compacted counts a compaction.
func (p *pushes) Compacted(err error) {
	switch {
	case err == nil:
		p.compacted.WithLabelValues(done).Inc()
	case errors.Is(err, store.ErrBusy):
		p.compacted.WithLabelValues(putOff).Inc()
	default:
		p.compacted.WithLabelValues(failed).Inc()
	}
}

// Swept counts a round of the sweeper that ended at that time.
func (m *Metrics) Swept(at time.Time, err error) {
	if err != nil {
		m.pushes.swept.WithLabelValues(failed).Inc()
		return
	}
	m.pushes.swept.WithLabelValues(done).Inc()
	m.pushes.lastSweep.Set(float64(at.UnixMilli()) / 1000)
}

// engine is what is told of each commit.
type engine struct{ took, operations prometheus.Histogram }

func newEngine() engine {
	return engine{
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: "store_commit_duration_seconds", Help: "How long commits took, until they were on the disk.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5},
		}),
		operations: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: "store_commit_operations", Help: "How many operations shared a commit.",
			Buckets: prometheus.ExponentialBuckets(1, 2, 11),
		}),
	}
}

func (e engine) all() []prometheus.Collector { return []prometheus.Collector{e.took, e.operations} }

// Committed counts a commit of that many operations.
func (m *Metrics) Committed(operations int, took time.Duration) {
	m.engine.took.Observe(took.Seconds())
	m.engine.operations.Observe(float64(operations))
}
