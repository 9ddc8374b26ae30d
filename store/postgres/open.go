package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/internal/rights"
	"pushbox/internal/secret"
	"pushbox/store/record"
)

// Options say which database to use.
type Options struct {
	// URL has a form of libpq: postgres://user@host1,host2/name?sslmode=verify-full, or words such
	// as host=/run/postgresql. It may have settings of pgxpool, such as pool_max_conns, and of pgx,
	// such as default_query_exec_mode.
	URL secret.Text
	// Dir is the directory for backups without a path.
	Dir     string
	MaxSize int64 // bytes of the database above which creates are refused; 0: no limit
	Room    record.RoomLimits

	Attempt time.Duration // how long one attempt of a step may take; 0: 3 s
	Connect time.Duration // how long to wait for a connection to one host; 0: 2 s
	Moved   bool          // also open a database whose records were or are being moved out
	Poll    time.Duration // how often to poll the database, such as for a key ring that another server made; 0: 1 s

	// Trouble is called when the database cannot be used, with the reason: record.ErrUnavailable,
	// or record.ErrStandby. It is called with nil when the database can be used again. It may be nil.
	Trouble func(why error, lasted time.Duration)
	// Durable is called with the durability of the database, at first and when the settings or the
	// primary change. It may be nil.
	Durable func(d Durability)

	more   []migration   // added after the real migrations, for tests
	giveUp time.Duration // how long a step continues while the database does not answer, for tests; 0: patience attempts
}

// Bounds and defaults.
const (
	defaultAttempt = 3 * time.Second
	defaultConnect = 2 * time.Second
	defaultPoll    = time.Second
	defaultConns   = 16
	// maxTries is how often a step begins again because of a conflict, or because the database did
	// not answer.
	maxTries = 200
	// patience is how long a step continues while the database does not answer, in
	// attempts.
	patience = 3
)

// A DB is a record.Engine in a PostgreSQL database. Its methods may be called at the same
// time.
type DB struct {
	pool    *pgxpool.Pool
	hosts   *primaries
	opts    Options
	limits  atomic.Pointer[limits]
	ring    atomic.Pointer[ring] // nil until Unlock
	turns   turns[record.ID]     // for the changes of a push
	admin   turns[struct{}]      // for changes that the instance log reports
	tallies turns[tallyKey]      // for counts of tries
	triedAt atomic.Int64         // the latest time of a counted try, in microseconds since 1970
	creates batches[*creation]
	reads   batches[*reading]
	recent  recent
	mode    pgx.QueryExecMode // how unprepared statements are run
	pooled  atomic.Bool       // a pooler looked like the server: nothing is prepared
	numbers numbers
	self    opName // names this process in leases
	space   measured
	total   measured // bytes of all anonymous pushes

	moved atomic.Bool // the records are being moved out, or were

	unlocking sync.Mutex
	known     atomic.Int64    // the version of the ring that KeyRing returned last
	follow    record.Follower // set by Unlock, before ring; may be nil
	reloading sync.Mutex      // held while the key ring is read again
	swept     time.Time       // when rows of room and tally were last removed; of look
	waits     atomic.Bool     // writes wait for a standby, and none is connected

	telling  sync.Mutex // of Trouble and Durable
	trouble  trouble
	settings Durability // as reported, without standbys

	failed   chan struct{} // closed by outdate:
	failure  error         // set before it is closed
	outdated sync.Once

	met met // counts of conflicts and failures

	closing chan struct{}
	gate    sync.RWMutex // held by steps, and by Close when it closes
	polled  sync.WaitGroup
	once    sync.Once
	copying chan struct{} // holds a value while a backup runs
}

var (
	_ record.Engine     = (*DB)(nil)
	_ record.DumpEngine = (*DB)(nil)
)

// Open connects to the database, and makes or migrates its tables; it reports whether there were
// none. Before Unlock, a DB returns only its key ring.
//
// The error wraps record.ErrUnavailable if no host that takes writes answers, and record.ErrSchema
// if a later version of pushbox made the tables, and earlier versions may not use them. The error
// never contains the password.
func Open(ctx context.Context, o Options) (db *DB, created bool, err error) {
	if o.Attempt <= 0 {
		o.Attempt = defaultAttempt
	}
	if o.Connect <= 0 {
		o.Connect = defaultConnect
	}
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	if o.giveUp <= 0 {
		o.giveUp = patience * o.Attempt
	}
	c, err := poolConfig(o)
	if err != nil {
		return nil, false, err
	}
	hosts := &primaries{}
	c.BeforeConnect, c.ConnConfig.ValidateConnect = hosts.arrange, hosts.validate
	hosts.survey(ctx, c.ConnConfig)
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, false, fmt.Errorf("database_url: %w", err)
	}
	hosts.pool.Store(pool)
	db = &DB{pool: pool, hosts: hosts, opts: o, mode: c.ConnConfig.DefaultQueryExecMode, self: newOp(), failed: make(chan struct{}), closing: make(chan struct{}), copying: make(chan struct{}, 1)}
	db.SetSpaceLimits(record.SpaceLimits{MaxSize: o.MaxSize, Room: o.Room})
	if created, err = db.migrate(ctx); err != nil {
		pool.Close()
		return nil, false, err
	}
	return db, created, nil
}

// poolConfig reads the URL.
//
// Statements are sent unnamed, with their types from a cache in this process
// (QueryExecModeCacheDescribe): one round trip, and nothing stays on a server connection, so
// PgBouncer may give each transaction a different one. Without a pooler, frequent statements are
// prepared under a name. The URL may choose one way for all statements.
func poolConfig(o Options) (c *pgxpool.Config, err error) {
	err = rights.AsCaller(func() error { // whose .pgpass and certificates it reads
		c, err = pgxpool.ParseConfig(o.URL.Reveal())
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("database_url is not valid: %s", fault(err, o.URL))
	}
	text := o.URL.Reveal()
	if !regexp.MustCompile(`\bdefault_query_exec_mode\b`).MatchString(text) {
		c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
		c.AfterConnect = findPooler
	}
	if !regexp.MustCompile(`\bpool_max_conns\b`).MatchString(text) {
		c.MaxConns = defaultConns
	}
	c.ConnConfig.ConnectTimeout = o.Connect
	if c.ConnConfig.RuntimeParams["application_name"] == "" {
		c.ConnConfig.RuntimeParams["application_name"] = "pushbox"
	}
	c.ConnConfig.OnNotice = noteWarning
	return c, nil
}

// fault describes why pgx cannot parse a URL. The error of pgx quotes the URL, and its cause may
// quote a part, so fault returns the cause only if that contains no secret. Errors of connections
// contain none: they describe hosts, names and answers of servers.
func fault(err error, u secret.Text) string {
	text := err.Error()
	why := ""
	if cause := errors.Unwrap(err); cause != nil {
		why = " (" + cause.Error() + ")"
		text = strings.TrimSuffix(text, why)
	}
	if slices.ContainsFunc(secretsIn(u.Reveal()), func(s string) bool { return strings.Contains(why, s) }) {
		why = ""
	}
	if quoted := strings.LastIndex(text, "`: "); quoted >= 0 {
		text = text[quoted+len("`: "):]
	}
	return text + why
}

// HasPassword reports whether an address has a password in it.
func HasPassword(url string) bool { return len(secretsIn(url)) > 1 }

// secretsIn returns the whole URL, and its passwords as they may appear in a text.
func secretsIn(text string) (all []string) {
	if text == "" {
		return nil
	}
	all = append(all, text)
	if u, err := url.Parse(text); err == nil {
		if p, ok := u.User.Password(); ok && p != "" {
			all = append(all, p, url.QueryEscape(p), url.PathEscape(p))
		}
		for _, name := range []string{"password", "sslpassword"} {
			if p := u.Query().Get(name); p != "" {
				all = append(all, p, url.QueryEscape(p))
			}
		}
	}
	for _, m := range regexp.MustCompile(`(?:password\s*=\s*)('(?:[^'\\]|\\.)*'|[^\s&]+)|://[^/@]*?:([^@]+)@`).FindAllStringSubmatch(text, -1) {
		for _, p := range m[1:] {
			if p != "" {
				all = append(all, p)
			}
		}
	}
	return all
}

// Failed returns a channel that is closed when a later version of pushbox has changed the database
// so that this version cannot use it. From then on every method returns record.ErrFailed with
// record.ErrSchema. An unknown outcome does not end the engine: it is resolved by reading again.
func (db *DB) Failed() <-chan struct{} { return db.failed }

// Close waits for running steps, refuses others with record.ErrClosed, and closes the connections.
// Later calls do nothing.
func (db *DB) Close() error {
	db.once.Do(func() {
		close(db.closing)
		db.gate.Lock()
		defer db.gate.Unlock()
		db.polled.Wait()
		db.pool.Close()
	})
	return nil
}

// begin admits a step, whose end the caller reports by calling done.
func (db *DB) begin(ctx context.Context) (done func(), err error) {
	done, err = db.beginLocked(ctx)
	switch {
	case err != nil:
		return nil, err
	case db.ring.Load() == nil:
		err = record.ErrNoKeys
	case db.moved.Load():
		err = record.ErrMoved
	default:
		return done, nil
	}
	done()
	return nil, err
}

// beginLocked is begin for a step that needs no keys.
func (db *DB) beginLocked(ctx context.Context) (done func(), err error) {
	db.gate.RLock()
	select {
	case <-db.closing:
		err = record.ErrClosed
	case <-db.failed:
		err = db.failure
	default:
		err = ctx.Err()
	}
	if err != nil {
		db.gate.RUnlock()
		return nil, err
	}
	return db.gate.RUnlock, nil
}
