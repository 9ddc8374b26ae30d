package metrics_test

import (
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"pushbox/config"
	"pushbox/internal/metrics"
	"pushbox/internal/testkit/env"
	"pushbox/server"
	"pushbox/store/storetest"
)

// BenchmarkRequest measures what metrics cost a request: an empty
// request to a server without metrics and to one with them, in turns, since machines differ from
// minute to minute.
func BenchmarkRequest(b *testing.B) {
	f := storetest.New(b)
	handler := func(o server.Observer) *server.Server {
		h, err := server.New(server.Options{
			Config: config.Default(), Store: f.Store, Log: zerolog.New(io.Discard), Version: "3.0.0", Monitoring: server.Monitoring{Observer: o},
		})
		env.OK(b, err)
		return h
	}
	var took [2]time.Duration
	both := [2]*server.Server{handler(nil), handler(metrics.New("3.0.0").Requests())}
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/healthz"}, RemoteAddr: "127.0.0.1:40000", Header: http.Header{}, Body: http.NoBody}
	const turn = 2000
	n := 0
	for b.Loop() {
		n += turn
		for i, h := range both {
			begin := time.Now()
			for range turn {
				h.ServeHTTP(&nowhere{header: make(http.Header)}, r)
			}
			took[i] += time.Since(begin)
		}
	}
	plain, counted := float64(took[0])/float64(n), float64(took[1])/float64(n)
	b.ReportMetric(plain, "ns/plain")
	b.ReportMetric(counted, "ns/counted")
	b.ReportMetric(counted-plain, "ns/cost")
	b.ReportMetric(counted/plain, "ratio")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkObserver measures the counting alone, from all cores at once.
func BenchmarkObserver(b *testing.B) {
	o := metrics.New("3.0.0").Requests()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			o.Began()
			o.Ended(server.Label{Route: "show", Method: http.MethodGet}, http.StatusOK, 3*time.Millisecond)
		}
	})
}

// BenchmarkScrape measures what Prometheus costs.
func BenchmarkScrape(b *testing.B) {
	m := attached()
	for b.Loop() {
		if _, _, err := m.Expose(); err != nil {
			b.Fatal(err)
		}
	}
}

// nowhere is a http.ResponseWriter that keeps nothing.
type nowhere struct{ header http.Header }

func (n *nowhere) Header() http.Header         { return n.header }
func (n *nowhere) WriteHeader(int)             {}
func (n *nowhere) Write(p []byte) (int, error) { return len(p), nil }
