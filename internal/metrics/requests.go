package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pushbox/server"
)

// classes are the values of the label class, from status 200 on.
var classes = [...]string{"2xx", "3xx", "4xx", "5xx"}

// classOf returns the index of a status in classes. A request without an answer counts as
// an error of the server.
func classOf(status int) int {
	if c := status/100 - 2; c >= 0 && c < len(classes) {
		return c
	}
	return len(classes) - 1
}

type series struct {
	ended [len(classes)]prometheus.Counter
	took  prometheus.Observer
}

type requests struct {
	ended   *prometheus.CounterVec
	took    *prometheus.HistogramVec
	running prometheus.Gauge
	limited *prometheus.CounterVec

	of     map[server.Label]*series      // only newRequests writes to it
	limits map[string]prometheus.Counter // likewise
}

func newRequests() *requests {
	r := &requests{
		ended: counter("http_requests_total", "Requests answered.", "route", "method", "class"),
		took: histogram("http_request_duration_seconds", "Duration of requests, from their header to the end of the answer.",
			[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30}, "route"),
		running: gauge("http_requests_in_flight", "Requests in progress.").WithLabelValues(),
		limited: counter("limited_total", "Requests refused by a limit.", "limit"),
		of:      make(map[server.Label]*series),
		limits:  make(map[string]prometheus.Counter),
	}
	for _, l := range server.Labels() {
		s := &series{took: r.took.WithLabelValues(l.Route)}
		for c, name := range classes {
			s.ended[c] = r.ended.WithLabelValues(l.Route, l.Method, name)
		}
		r.of[l] = s
	}
	for _, name := range server.Limits() {
		r.limits[name] = r.limited.WithLabelValues(name)
	}
	return r
}

func (r *requests) all() []prometheus.Collector {
	return []prometheus.Collector{r.ended, r.took, r.running, r.limited}
}

// Requests returns the observer of a server.
func (m *Metrics) Requests() server.Observer { return m.requests }

func (r *requests) Began() { r.running.Inc() }

func (r *requests) Ended(l server.Label, status int, took time.Duration) {
	r.running.Dec()
	if s := r.of[l]; s != nil {
		s.ended[classOf(status)].Inc()
		s.took.Observe(took.Seconds())
	}
}

func (r *requests) Limited(limit string) {
	if c := r.limits[limit]; c != nil {
		c.Inc()
	}
}
