package metrics_test

import (
	"bytes"
	"errors"
	"maps"
	"strings"
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

// wantSamples fails the test unless a scrape has those lines, and none that begins as one
// of the others.
func wantSamples(t *testing.T, m *metrics.Metrics, lines string, others ...string) {
	t.Helper()
	_, text, err := m.Expose()
	env.OK(t, err)
	for line := range strings.Lines(strings.TrimSpace(lines) + "\n") {
		if line = strings.TrimSpace(line) + "\n"; !strings.Contains("\n"+string(text), "\n"+line) {
			name, _, _ := strings.Cut(line, " ")
			_, rest, _ := strings.Cut("\n"+string(text), "\n"+name)
			got, _, _ := strings.Cut(rest, "\n")
			t.Errorf("it has %s%s, not %s", name, got, line)
		}
	}
	for _, o := range others {
		if strings.Contains(string(text), "\n"+o) {
			t.Errorf("it has %s", o)
		}
	}
}

func TestEachThingIsCountedWhereItBelongs(t *testing.T) {
	t.Parallel()
	m := attached()
	r, p := m.Requests(), m.Pushes()
	r.Began()
	r.Began()
	r.Ended(server.Label{Route: "show", Method: "GET"}, 204, 20*time.Millisecond)
	for _, status := range []int{303, 404, 500, 507, 0} {
		r.Began()
		r.Ended(server.Label{Route: "create", Method: "POST"}, status, time.Second)
	}
	r.Limited("queue")
	for _, k := range []record.Kind{record.Text, record.URL, record.URL} {
		p.Created(k)
	}
	p.Viewed()
	p.Ended(store.CauseViews)
	p.Ended(store.CauseTime)
	p.Ended(store.CauseHand)
	p.Ended(store.CauseOther)
	p.Ended(store.CauseOther)
	p.PassphraseFailed()
	p.Compacted(nil)
	p.Compacted(record.ErrBusy)
	p.Compacted(record.ErrFull)
	m.Swept(time.UnixMilli(1_700_000_000_500), nil)
	m.Swept(time.UnixMilli(1_800_000_000_000), errors.New("no"))
	m.Committed(record.Commit{Work: record.WorkFold, Operations: 3, Took: 2 * time.Millisecond})
	wantSamples(t, m, `
		pushbox_http_requests_in_flight 1
		pushbox_http_requests_total{class="2xx",method="GET",route="show"} 1
		pushbox_http_requests_total{class="3xx",method="POST",route="create"} 1
		pushbox_http_requests_total{class="4xx",method="POST",route="create"} 1
		pushbox_http_requests_total{class="5xx",method="POST",route="create"} 3
		pushbox_http_request_duration_seconds_bucket{route="show",le="0.01"} 0
		pushbox_http_request_duration_seconds_bucket{route="show",le="0.025"} 1
		pushbox_http_request_duration_seconds_count{route="create"} 5
		pushbox_limited_total{limit="queue"} 1
		pushbox_creates_total{kind="text"} 1
		pushbox_creates_total{kind="url"} 2
		pushbox_creates_total{kind="file"} 0
		pushbox_views_total 1
		pushbox_expiries_total{cause="views"} 1
		pushbox_expiries_total{cause="time"} 1
		pushbox_expiries_total{cause="deleted"} 1
		pushbox_expiries_total{cause="other"} 2
		pushbox_failed_passphrases_total 1
		pushbox_compactions_total{outcome="done"} 1
		pushbox_compactions_total{outcome="put_off"} 1
		pushbox_compactions_total{outcome="failed"} 1
		pushbox_sweeps_total{outcome="done"} 1
		pushbox_sweeps_total{outcome="failed"} 1
		pushbox_sweep_last_success_timestamp_seconds 1.7000000005e+09
		pushbox_store_commit_duration_seconds_bucket{work="fold",le="0.001"} 0
		pushbox_store_commit_duration_seconds_bucket{work="fold",le="0.0025"} 1
		pushbox_store_commit_operations_bucket{le="2"} 0
		pushbox_store_commit_operations_bucket{le="4"} 1
		pushbox_live_pushes 7
		pushbox_store_size_bytes 1000
		pushbox_store_used_bytes 700
		pushbox_store_free_pages 3
		pushbox_store_journal_rows 5
		pushbox_sweep_lag_seconds 9
		pushbox_uploads_running 11
		pushbox_downloads_running 13
		pushbox_body_memory_bytes{use="requests"} 17
		pushbox_body_memory_bytes{use="answers"} 19
		pushbox_certificate_expiry_timestamp_seconds 2e+09
		pushbox_free_space_bytes 23
		pushbox_messages_waiting{by="webhook"} 29
		pushbox_messages_dropped_total{by="webhook"} 31
		pushbox_receiver_failed_tries{receiver="webhook 3"} 37
		pushbox_messages_waiting{by="mail"} 41
		pushbox_messages_dropped_total{by="mail"} 43
		pushbox_backup_last_success_timestamp_seconds 1.9e+09
		pushbox_backup_interval_seconds 3600
		pushbox_backups_total{outcome="done"} 47
		pushbox_backups_total{outcome="failed"} 53
		pushbox_backup_commands_total{outcome="done"} 59
		pushbox_backup_commands_total{outcome="failed"} 61`)
}

// Over PostgreSQL there are figures of the way to it, and none of a file.
func TestMetricsOfPostgresAreNotThoseOfAFile(t *testing.T) {
	t.Parallel()
	ofFile := []string{
		"pushbox_store_used_bytes", "pushbox_store_free_pages", "pushbox_store_journal_rows", "pushbox_store_commit", "pushbox_compactions_total", "pushbox_free_space_bytes",
	}
	wantSamples(t, overPostgres(nil), `
		pushbox_database_reachable 1
		pushbox_database_connections{state="in_use"} 2
		pushbox_database_connections{state="idle"} 3
		pushbox_database_connections_max 16
		pushbox_database_connection_waits_total 5
		pushbox_database_connection_wait_seconds_total 7
		pushbox_database_attempts_repeated_total{reason="conflict"} 11
		pushbox_database_attempts_repeated_total{reason="failure"} 13
		pushbox_database_unknown_outcomes_total{outcome="found_out"} 17
		pushbox_database_unknown_outcomes_total{outcome="left"} 19
		pushbox_store_size_bytes 1000
		pushbox_live_pushes 7
		pushbox_sweep_lag_seconds 9`, ofFile...)
	wantSamples(t, overPostgres(record.ErrUnavailable), `
		pushbox_database_reachable 0
		pushbox_database_connections{state="in_use"} 0
		pushbox_database_connections_max 16
		pushbox_uploads_running 11`, append(ofFile, "pushbox_store_size_bytes", "pushbox_live_pushes", "pushbox_sweep_lag")...)
	wantSamples(t, attached(), "pushbox_store_free_pages 3", "pushbox_database_")
}

func TestWhatIsNotKnownIsNotTold(t *testing.T) {
	t.Parallel()
	without := attached(func(s *metrics.Sources) {
		s.Store = func() (store.Stats, error) { return store.Stats{}, nil }
		s.Certificate, s.Backups = nil, nil
		s.FreeSpace = func() (int64, bool) { return 0, false }
	})
	wantSamples(t, without, "pushbox_store_size_bytes 0", "pushbox_certificate", "pushbox_backup", "pushbox_free_space")
	failed := attached(func(s *metrics.Sources) {
		s.Store = func() (store.Stats, error) { return store.Stats{}, record.ErrFailed }
		s.Certificate = func() time.Time { return time.Time{} }
		s.Backups = func() metrics.Backups { return metrics.Backups{Every: time.Hour} }
	})
	wantSamples(t, failed, "pushbox_backup_last_success_timestamp_seconds 0")
	wantSamples(t, failed, "pushbox_uploads_running 11", "pushbox_live_pushes", "pushbox_store_size", "pushbox_sweep_lag", "pushbox_certificate")
}

func TestUnknownLabelsAreNotCounted(t *testing.T) {
	t.Parallel()
	m := attached()
	before := len(families(t, m)["pushbox_http_requests_total"].Metric)
	m.Requests().Began()
	m.Requests().Ended(server.Label{Route: "/p/secret", Method: "GET"}, 200, time.Second)
	m.Requests().Ended(server.Label{Route: "show", Method: "FROB"}, 200, time.Second)
	m.Requests().Limited("secret")
	_, text, err := m.Expose()
	if err != nil || strings.Contains(string(text), "secret") || strings.Contains(string(text), "FROB") {
		t.Errorf("a name that is none of the program's is there: %v", err)
	}
	if n := len(families(t, m)["pushbox_http_requests_total"].Metric); n != before || n < 200 {
		t.Errorf("%d series became %d", before, n)
	}
}

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
	return env.Must(p.TextToMetricFamilies(bytes.NewReader(text)))(t)
}
