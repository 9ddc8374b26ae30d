// Package metrics counts the work of a server for Prometheus. Only this package imports the
// libraries of Prometheus: store and server report events to their observers, and a scrape asks
// them for the rest.
//
// Every label has a fixed set of values, which are present from the start: names of the
// program, never a path, a method, an address or a word from a request.
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

// Metrics counts events, and exposes all metrics. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	requests *requests
	pushes   *pushes
	engine   engine
	scraping sync.Mutex // one scrape at a time: it costs more than the work that it measures
}

// New returns metrics for a program of that version. All counts are 0.
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), requests: newRequests(), pushes: newPushes(), engine: newEngine()}
	build := gauge("build_info", "Version of the running program. Always 1.", "version", "goversion")
	build.WithLabelValues(version, runtime.Version()).Set(1)
	m.registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(m.requests.all()...)
	m.registry.MustRegister(m.pushes.all()...)
	return m
}

// Expose returns all metrics in the text format 0.0.4 of Prometheus, and its media type.
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
