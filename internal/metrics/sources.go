package metrics

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"pushbox/server"
	"pushbox/store"
	"pushbox/store/record"
)

// Sources return figures at each scrape.
type Sources struct {
	Store  func() (store.Stats, error) // after an error, a scrape has no metrics of the store but Stats.Shared
	Shared bool                        // the database is one that several servers share: it has no file
	Server func() server.Stats

	// Messages returns figures of each way to send messages, in any order.
	Messages func() []Messages

	// FreeSpace returns the free bytes of the data directory's file system; false: they are
	// not known.
	FreeSpace func() (bytes int64, known bool)

	// Backups returns figures of scheduled backups; nil: none are scheduled.
	Backups func() Backups

	// Certificate returns when the certificate in use ends, the first of several; zero if
	// there is none yet. nil: the server has no certificates.
	Certificate func() time.Time
}

// Messages are the figures of one way to send messages.
type Messages struct {
	By      string         // webhook or mail
	Waiting int            // messages
	Dropped uint64         // messages that were never delivered, since the start
	Failing map[string]int // failed tries in a row, by receiver; a receiver that works is not there
}

// Backups are figures of scheduled backups.
type Backups struct {
	Last         time.Time     // when the newest was begun; zero: there is none
	Every        time.Duration // from one to the next
	Done, Failed uint64        // since the start

	AfterDone, AfterFailed uint64 // runs of backup.after
}

// Attach adds the sources. Call it once.
func (m *Metrics) Attach(s Sources) {
	m.registry.MustRegister(asking{s})
	if !s.Shared {
		m.registry.MustRegister(m.engine.all()...)
		m.registry.MustRegister(m.pushes.compacted)
	}
}

// asking is a prometheus.Collector over Sources. It describes no metric beforehand, so that each has its
// name and help where it is sent.
type asking struct{ Sources }

// What ends the help of metrics that not every database has.
const (
	fileOnly   = " Missing with PostgreSQL."
	sharedOnly = " Missing with a database file."
)

func (asking) Describe(chan<- *prometheus.Desc) {}

// figures sends the figures of one scrape.
type figures chan<- prometheus.Metric

// gauge sends a figure that may fall. labels are pairs of a name and a value.
func (to figures) gauge(name, help string, value float64, labels ...string) {
	to.send(prometheus.GaugeValue, name, help, value, labels)
}

// count sends a figure that only rises.
func (to figures) count(name, help string, value float64, labels ...string) {
	to.send(prometheus.CounterValue, name, help, value, labels)
}

func (to figures) send(kind prometheus.ValueType, name, help string, value float64, labels []string) {
	var names, values []string
	for pair := range slices.Chunk(labels, 2) {
		names, values = append(names, pair[0]), append(values, pair[1])
	}
	d := prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, names, nil)
	to <- prometheus.MustNewConstMetric(d, kind, value, values...)
}

func (a asking) Collect(ch chan<- prometheus.Metric) {
	to := figures(ch)
	v, err := a.Store()
	if s := v.Shared; s != nil {
		to.shared(*s, err == nil)
	}
	if err == nil {
		to.store(v, a.Shared)
	}
	stats := a.Server()
	to.gauge("uploads_running", "Uploads of files in progress.", float64(stats.Uploads))
	to.gauge("downloads_running", "Downloads of files in progress.", float64(stats.Downloads))
	const memory, memoryHelp = "body_memory_bytes", "Memory in use for large requests, and for large answers that reveal pushes."
	to.gauge(memory, memoryHelp, float64(stats.RequestMemory), "use", "requests")
	to.gauge(memory, memoryHelp, float64(stats.AnswerMemory), "use", "answers")
	if a.Certificate != nil {
		if end := a.Certificate(); !end.IsZero() {
			to.gauge("certificate_expiry_timestamp_seconds", "When the TLS certificate expires. Missing if there is none.", float64(end.Unix()))
		}
	}
	if n, known := a.FreeSpace(); known && !a.Shared {
		to.gauge("free_space_bytes", "Free space on the file system of the data directory. Missing where the system does not report it, and with PostgreSQL.", float64(n))
	}
	for _, m := range a.Messages() {
		to.gauge("messages_waiting", "Messages that wait to be delivered.", float64(m.Waiting), "by", m.By)
		to.count("messages_dropped_total", "Messages that were dropped: the outbox was full, the time was up, or the receiver refused for good.", float64(m.Dropped), "by", m.By)
		for receiver, n := range m.Failing {
			to.gauge("receiver_failed_tries", "Failed tries in a row of a receiver whose last try failed: mail, or webhook and its ID; webhook 0 is that of the server. Missing for receivers that work.",
				float64(n), "receiver", receiver)
		}
	}
	if a.Backups != nil {
		to.backups(a.Backups())
	}
}

// store sends the figures of a store.
func (to figures) store(v store.Stats, shared bool) {
	to.gauge("live_pushes", "Live pushes, and pushes past their time limit that no sweep has ended yet.", float64(v.Live))
	to.gauge("store_size_bytes", "Size of the database file, or of the PostgreSQL database.", float64(v.Size))
	if !shared {
		to.gauge("store_used_bytes", "Used bytes of the database file."+fileOnly, float64(v.Size-v.Unused))
		to.gauge("store_free_pages", "Free pages of the database file."+fileOnly, float64(v.FreePages))
		to.gauge("store_journal_rows", "Durable rows of the journal that wait to be folded into the database."+fileOnly, float64(v.Journal))
	}
	to.gauge("sweep_lag_seconds", "How long the oldest due push has waited to be destroyed. 0: none is due.", v.Lag.Seconds())
}

// backups sends the figures of scheduled backups.
func (to figures) backups(b Backups) {
	to.gauge("backup_last_success_timestamp_seconds", "When the newest scheduled backup was begun. 0: there is none. Missing if none are scheduled.", seconds(b.Last))
	to.gauge("backup_interval_seconds", "Time from one scheduled backup to the next. Missing if none are scheduled.", b.Every.Seconds())
	for outcome, n := range map[string][2]uint64{done: {b.Done, b.AfterDone}, failed: {b.Failed, b.AfterFailed}} {
		to.count("backups_total", "Scheduled backups. Missing if none are scheduled.", float64(n[0]), "outcome", outcome)
		to.count("backup_commands_total", "Runs of backup.after. Missing if no backups are scheduled.", float64(n[1]), "outcome", outcome)
	}
}

// shared sends the figures of the way to a database that several servers share.
func (to figures) shared(s record.SharedStats, reachable bool) {
	answers := 0.0
	if reachable {
		answers = 1
	}
	to.gauge("database_reachable", "1: PostgreSQL answers. 0: it does not."+sharedOnly, answers)
	for state, n := range map[string]float64{"in_use": float64(s.InUse), "idle": float64(s.Idle)} {
		to.gauge("database_connections", "Connections of this server to PostgreSQL."+sharedOnly, n, "state", state)
	}
	to.gauge("database_connections_max", "Connections to PostgreSQL that this server may have."+sharedOnly, float64(s.Max))
	to.count("database_connection_waits_total", "Steps that waited for a connection to PostgreSQL."+sharedOnly, float64(s.Waits))
	to.count("database_connection_wait_seconds_total", "Total time for which steps waited for a connection."+sharedOnly, s.Waited.Seconds())
	for reason, n := range map[string]uint64{"conflict": s.Conflicts, "failure": s.Retries} {
		to.count("database_attempts_repeated_total",
			"Attempts at PostgreSQL that began again: another change was first (conflict), or something failed."+sharedOnly, float64(n), "reason", reason)
	}
	for outcome, n := range map[string]uint64{"found_out": s.FoundOut, "left": s.LeftUnknown} {
		to.count("database_unknown_outcomes_total",
			"Steps with an unknown outcome in PostgreSQL, which was then determined or stayed unknown."+sharedOnly, float64(n), "outcome", outcome)
	}
}

// seconds returns a time as Prometheus has it; 0 for no time.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
