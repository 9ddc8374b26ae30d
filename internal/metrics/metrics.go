// Package metrics counts what a server does, for Prometheus. It is the only
// importer of its libraries: store and server tell their observers, and are asked
// for the rest when somebody scrapes.
//
// Every label has a fixed set of values, which are there from the start: names that
// the program has, never a path, a method, an address or a word that somebody sent.
package metrics

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
)

// A Metrics counts. Its methods may be called at the same time.
type Metrics struct {
	registry *prometheus.Registry
	requests *requests
	pushes   *pushes
	engine   engine
	scraping sync.Mutex // one scrape at a time: they cost more than what they tell of
}

// New returns metrics that count from nothing, for a program of that version.
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), requests: newRequests(), pushes: newPushes(), engine: newEngine()}
	build := gauge("build_info", "What runs: always 1.", "version", "goversion")
	build.WithLabelValues(version, runtime.Version()).Set(1)
	m.registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(m.requests.all()...)
	m.registry.MustRegister(m.pushes.all()...)
	m.registry.MustRegister(m.engine.all()...)
	return m
}

// Expose returns all metrics in Prometheus' text format 0.0.4, and its media type.
func (m *Metrics) Expose() (media string, text []byte, err error) {
	m.scraping.Lock()
	defer m.scraping.Unlock()
	families, err := m.registry.Gather()
	if err != nil {
		return "", nil, fmt.Errorf("gather metrics: %w", err)
	}
	var b bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&b, f); err != nil {
			return "", nil, fmt.Errorf("write metrics: %w", err)
		}
	}
	return string(expfmt.NewFormat(expfmt.TypeTextPlain)), b.Bytes(), nil
}

// namespace is what the name of each metric of pushbox begins with.
const namespace = "pushbox"

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}
