package metrics

import (
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
	m.registry.MustRegister(newAsking(s))
	if !s.Shared {
		m.registry.MustRegister(m.engine.all()...)
		m.registry.MustRegister(m.pushes.compacted)
	}
}

// asking is a prometheus.Collector over Sources.
type asking struct {
	Sources
	live, size, used, freePages, journal, lag *prometheus.Desc

	uploads, downloads, memory, certificate, free *prometheus.Desc

	waiting, dropped, failing      *prometheus.Desc
	lastBackup, everyBackup, ended *prometheus.Desc
	after                          *prometheus.Desc

	reachable, connections, mostConnections, waits, waited, again, unknown *prometheus.Desc
}

// What ends the help of metrics that not every database has.
const (
	fileOnly   = " Missing with PostgreSQL."
	sharedOnly = " Missing with a database file."
)

func newAsking(s Sources) *asking {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
	}
	return &asking{
		Sources:     s,
		live:        desc("live_pushes", "Live pushes, and pushes past their time limit that no sweep has ended yet. Missing until the first count is done."),
		size:        desc("store_size_bytes", "Size of the database file, or of the PostgreSQL database."),
		used:        desc("store_used_bytes", "Used bytes of the database file."+fileOnly),
		freePages:   desc("store_free_pages", "Free pages of the database file."+fileOnly),
		journal:     desc("store_journal_rows", "Durable rows of the journal that wait to be folded into the database."+fileOnly),
		lag:         desc("sweep_lag_seconds", "How long the oldest due push has waited to be destroyed. 0: none is due."),
		uploads:     desc("uploads_running", "Uploads of files in progress."),
		downloads:   desc("downloads_running", "Downloads of files in progress."),
		memory:      desc("body_memory_bytes", "Memory in use for large requests, and for large answers that reveal pushes.", "use"),
		certificate: desc("certificate_expiry_timestamp_seconds", "When the TLS certificate expires. Missing if there is none."),
		free:        desc("free_space_bytes", "Free space on the file system of the data directory. Missing where the system does not report it, and with PostgreSQL."),
		waiting:     desc("messages_waiting", "Messages that wait to be delivered.", "by"),
		dropped:     desc("messages_dropped_total", "Messages that were never delivered: no room, given up, or refused for good.", "by"),
		failing:     desc("receiver_failed_tries", "Failed tries in a row of a receiver that took no message at the last try: mail, or webhook and its ID; webhook 0 is that of the server. Missing for receivers that work.", "receiver"),
		lastBackup:  desc("backup_last_success_timestamp_seconds", "When the newest scheduled backup was begun. 0: there is none. Missing if none are scheduled."),
		everyBackup: desc("backup_interval_seconds", "Time from one scheduled backup to the next. Missing if none are scheduled."),
		ended:       desc("backups_total", "Scheduled backups. Missing if none are scheduled.", "outcome"),
		after:       desc("backup_commands_total", "Runs of backup.after. Missing if no backups are scheduled.", "outcome"),

		reachable:       desc("database_reachable", "1: PostgreSQL answers. 0: it does not."+sharedOnly),
		connections:     desc("database_connections", "Connections of this server to PostgreSQL."+sharedOnly, "state"),
		mostConnections: desc("database_connections_max", "Connections to PostgreSQL that this server may have."+sharedOnly),
		waits:           desc("database_connection_waits_total", "Steps that waited for a connection to PostgreSQL."+sharedOnly),
		waited:          desc("database_connection_wait_seconds_total", "Time for which steps waited for a connection, together."+sharedOnly),
		again:           desc("database_attempts_repeated_total", "Attempts at PostgreSQL that began again: another change came first (conflict), or something failed."+sharedOnly, "reason"),
		unknown:         desc("database_unknown_outcomes_total", "Steps of which it was not known whether PostgreSQL had done them: that was found out, or left unknown."+sharedOnly, "outcome"),
	}
}

// Describe sends every metric that Collect may send.
func (a *asking) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{
		a.live, a.size, a.used, a.freePages, a.journal, a.lag, a.uploads, a.downloads, a.memory, a.certificate, a.free,
		a.waiting, a.dropped, a.failing, a.lastBackup, a.everyBackup, a.ended, a.after,
		a.reachable, a.connections, a.mostConnections, a.waits, a.waited, a.again, a.unknown,
	} {
		ch <- d
	}
}

// Collect asks the sources, and sends their figures.
func (a *asking) Collect(ch chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	count := func(d *prometheus.Desc, n uint64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), labels...)
	}
	v, err := a.Store()
	if s := v.Shared; s != nil {
		a.sendShared(ch, *s, err == nil, send, count)
	}
	if err == nil {
		if v.Live >= 0 {
			send(a.live, float64(v.Live))
		}
		send(a.size, float64(v.Size))
		if !a.Shared {
			send(a.used, float64(v.Size-v.Unused))
			send(a.freePages, float64(v.FreePages))
			send(a.journal, float64(v.Journal))
		}
		send(a.lag, v.Lag.Seconds())
	}
	stats := a.Server()
	send(a.uploads, float64(stats.Uploads))
	send(a.downloads, float64(stats.Downloads))
	send(a.memory, float64(stats.RequestMemory), "requests")
	send(a.memory, float64(stats.AnswerMemory), "answers")
	if a.Certificate != nil {
		if end := a.Certificate(); !end.IsZero() {
			send(a.certificate, float64(end.Unix()))
		}
	}
	if n, known := a.FreeSpace(); known && !a.Shared {
		send(a.free, float64(n))
	}
	for _, m := range a.Messages() {
		send(a.waiting, float64(m.Waiting), m.By)
		count(a.dropped, m.Dropped, m.By)
		for receiver, n := range m.Failing {
			send(a.failing, float64(n), receiver)
		}
	}
	if a.Backups == nil {
		return
	}
	b := a.Backups()
	send(a.lastBackup, seconds(b.Last))
	send(a.everyBackup, b.Every.Seconds())
	count(a.ended, b.Done, done)
	count(a.ended, b.Failed, failed)
	count(a.after, b.AfterDone, done)
	count(a.after, b.AfterFailed, failed)
}

// sendShared sends the figures of the way to a database that several servers share.
func (a *asking) sendShared(ch chan<- prometheus.Metric, s record.SharedStats, reachable bool, send func(d *prometheus.Desc, v float64, labels ...string), count func(d *prometheus.Desc, n uint64, labels ...string)) {
	answers := 0.0
	if reachable {
		answers = 1
	}
	send(a.reachable, answers)
	send(a.connections, float64(s.InUse), "in_use")
	send(a.connections, float64(s.Idle), "idle")
	send(a.mostConnections, float64(s.Max))
	count(a.waits, s.Waits)
	ch <- prometheus.MustNewConstMetric(a.waited, prometheus.CounterValue, s.Waited.Seconds())
	count(a.again, s.Conflicts, "conflict")
	count(a.again, s.Retries, "failure")
	count(a.unknown, s.FoundOut, "found_out")
	count(a.unknown, s.LeftUnknown, "left")
}

// seconds returns a time as Prometheus has it; 0 for no time.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
