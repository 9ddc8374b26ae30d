package metrics_test

import (
	"bytes"
	"maps"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"pushbox/internal/metrics"
	"pushbox/internal/testkit/env"
	"pushbox/server"
	"pushbox/store"
	"pushbox/store/record"
)

// attached are metrics that ask sources which have everything to tell.
func attached(changes ...func(*metrics.Sources)) *metrics.Metrics {
	s := metrics.Sources{
		Store: func() (store.Stats, error) {
			return store.Stats{EngineStats: record.EngineStats{Space: record.Space{Size: 1000, Unused: 300}, FreePages: 3, Journal: 5, Live: 7}, Lag: 9 * time.Second}, nil
		},
		Server: func() server.Stats {
			return server.Stats{Uploads: 11, Downloads: 13, RequestMemory: 17, AnswerMemory: 19}
		},
		Certificate: func() time.Time { return time.Unix(2_000_000_000, 0) },
		FreeSpace:   func() (int64, bool) { return 23, true },
		Messages: func() []metrics.Messages {
			return []metrics.Messages{
				{By: "webhook", Waiting: 29, Dropped: 31, Failing: map[string]int{"webhook 3": 37}},
				{By: "mail", Waiting: 41, Dropped: 43},
			}
		},
		Backups: func() metrics.Backups {
			return metrics.Backups{Last: time.Unix(1_900_000_000, 0), Every: time.Hour, Done: 47, Failed: 53, AfterDone: 59, AfterFailed: 61}
		},
	}
	for _, change := range changes {
		change(&s)
	}
	m := metrics.New("3.0.0")
	m.Attach(s)
	return m
}

// overPostgres are metrics of a server over PostgreSQL.
func overPostgres(err error) *metrics.Metrics {
	return attached(func(s *metrics.Sources) {
		s.Shared = true
		s.Store = func() (store.Stats, error) {
			if err != nil {
				return store.Stats{EngineStats: record.EngineStats{Shared: &record.SharedStats{Max: 16}}}, err
			}
			shared := &record.SharedStats{InUse: 2, Idle: 3, Max: 16, Waits: 5, Waited: 7 * time.Second, Conflicts: 11, Retries: 13, FoundOut: 17, LeftUnknown: 19}
			return store.Stats{EngineStats: record.EngineStats{Space: record.Space{Size: 1000}, Live: 7, Shared: shared}, Lag: 9 * time.Second}, nil
		}
	})
}

// allFamilies are what scrapes tell, with a file and with PostgreSQL.
func allFamilies(t testing.TB) map[string]*dto.MetricFamily {
	t.Helper()
	all := families(t, attached())
	maps.Copy(all, families(t, overPostgres(nil)))
	return all
}

// families are what a scrape tells, as Prometheus reads it.
func families(t testing.TB, m *metrics.Metrics) map[string]*dto.MetricFamily {
	t.Helper()
	_, text, err := m.Expose()
	env.OK(t, err)
	p := expfmt.NewTextParser(model.LegacyValidation)
	all, err := p.TextToMetricFamilies(bytes.NewReader(text))
	env.OK(t, err)
	return all
}
