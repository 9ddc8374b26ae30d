package metrics

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pushbox/store"
	"pushbox/store/record"
)

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
		created:     counter("creates_total", "Pushes created.", "kind"),
		viewed:      counter("views_total", "Views counted.").WithLabelValues(),
		ended:       counter("expiries_total", "Pushes that ended: by the last view, the time limit, a delete, or another cause.", "cause"),
		passphrases: counter("failed_passphrases_total", "Wrong passphrases.").WithLabelValues(),
		compacted:   counter("compactions_total", "Compactions of the database, manual or automatic."+fileOnly, "outcome"),
		swept:       counter("sweeps_total", "Sweeps.", "outcome"),
		lastSweep:   gauge("sweep_last_success_timestamp_seconds", "Time of the last successful sweep. 0: none yet.").WithLabelValues(),
	}
	for _, k := range record.Kinds() {
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
	return []prometheus.Collector{p.created, p.viewed, p.ended, p.passphrases, p.swept, p.lastSweep}
}

// Pushes returns the observer of a store.
func (m *Metrics) Pushes() store.Observer { return m.pushes }

func (p *pushes) Created(k record.Kind) { p.created.WithLabelValues(k.String()).Inc() }

func (p *pushes) Viewed() { p.viewed.Inc() }

func (p *pushes) Ended(c store.Cause) { p.ended.WithLabelValues(c.String()).Inc() }

func (p *pushes) PassphraseFailed() { p.passphrases.Inc() }

func (p *pushes) Compacted(err error) {
	switch {
	case err == nil:
		p.compacted.WithLabelValues(done).Inc()
	case errors.Is(err, record.ErrBusy):
		p.compacted.WithLabelValues(putOff).Inc()
	default:
		p.compacted.WithLabelValues(failed).Inc()
	}
}

// Swept counts a sweep that ended at that time, with err if it failed.
func (m *Metrics) Swept(at time.Time, err error) {
	if err != nil {
		m.pushes.swept.WithLabelValues(failed).Inc()
		return
	}
	m.pushes.swept.WithLabelValues(done).Inc()
	m.pushes.lastSweep.Set(seconds(at))
}

type engine struct {
	took       *prometheus.HistogramVec
	operations prometheus.Histogram
}

func newEngine() engine {
	e := engine{
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "store_commit_duration_seconds",
			Help:    "Duration of commits, until they are on the disk, by what they did beside their operations." + fileOnly,
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5},
		}, []string{"work"}),
		operations: prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: "store_commit_operations", Help: "Operations in a commit." + fileOnly,
			Buckets: prometheus.ExponentialBuckets(1, 2, 11),
		}),
	}
	for _, w := range record.CommitWorks() {
		e.took.WithLabelValues(string(w))
	}
	return e
}

func (e engine) all() []prometheus.Collector { return []prometheus.Collector{e.took, e.operations} }

// Committed counts a commit.
func (m *Metrics) Committed(c record.Commit) {
	m.engine.took.WithLabelValues(string(c.Work)).Observe(c.Took.Seconds())
	m.engine.operations.Observe(float64(c.Operations))
}
