package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pushbox/server"
)

// classes are the values of the label class: hundreds of statuses, from 2.
var classes = [...]string{"2xx", "3xx", "4xx", "5xx"}

// classOf is the index of a status in classes. A request without an answer is a
// fault of the server.
func classOf(status int) int {
	if c := status/100 - 2; c >= 0 && c < len(classes) {
		return c
	}
	return len(classes) - 1
}

// A series is what is counted of requests with one label.
type series struct {
	ended [len(classes)]prometheus.Counter
	took  prometheus.Observer
}

// requests is a server.Observer.
type requests struct {
	ended   *prometheus.CounterVec
	took    *prometheus.HistogramVec
	running prometheus.Gauge
	limited *prometheus.CounterVec

	of     map[server.Label]*series      // written by newRequests alone
	limits map[string]prometheus.Counter // the same
}

func newRequests() *requests {
	r := &requests{
		ended: counter("http_requests_total", "Requests that were answered.", "route", "method", "class"),
		took: histogram("http_request_duration_seconds", "How long requests took, from their head to the end of the answer.",
			[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30}, "route"),
		running: gauge("http_requests_in_flight", "Requests that are being answered.").WithLabelValues(),
		limited: counter("limited_total", "Requests that a limit refused.", "limit"),
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

// Requests is who to tell of requests.
func (m *Metrics) Requests() server.Observer { return m.requests }

// Began counts a request that runs.
func (r *requests) Began() { r.running.Inc() }

// Ended counts a request that was answered.
func (r *requests) Ended(l server.Label, status int, took time.Duration) {
	r.running.Dec()
	if s := r.of[l]; s != nil {
		s.ended[classOf(status)].Inc()
		s.took.Observe(took.Seconds())
	}
}

// Limited counts a request that a limit refused.
func (r *requests) Limited(limit string) {
	if c := r.limits[limit]; c != nil {
		c.Inc()
	}
}
