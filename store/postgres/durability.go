package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// MaxClockDifference is how much the clock of a server may differ from that of the database. So the
// clocks of two servers differ by at most twice as much.
const MaxClockDifference = 5 * time.Second

// A Durability describes the durability of an acknowledged write, by the settings of the database
// for this role.
type Durability struct {
	Host          string // where the server is: an address and a port, or the path of a socket
	Version       int    // of the server, such as 170002
	FSync         bool
	Commit        string // synchronous_commit
	Named         bool   // synchronous_standby_names has a name
	Standbys      int    // connected standbys
	Synchronous   int    // connected standbys that a commit waits for
	StandbysKnown bool   // the role may see which these are
}

// A DurabilityLevel sums up a Durability.
type DurabilityLevel string

// The levels.
const (
	Replicated DurabilityLevel = "replicated" // each write waits for a standby
	Single     DurabilityLevel = "single"     // each write is on the disk of one server
	Unknown    DurabilityLevel = "unknown"    // a crash of the machine may lose acknowledged writes
)

// Level sums up the settings. The number of connected standbys does not matter, because a server
// waits for a named standby even while none is connected.
func (d Durability) Level() DurabilityLevel {
	switch {
	case !d.FSync || d.Commit == "off":
		return Unknown
	case d.Named && d.Commit != "local":
		return Replicated
	default:
		return Single
	}
}

// Waits reports whether writes wait for a standby although none is connected, as far as that is
// known.
func (d Durability) Waits() bool {
	return d.Named && d.Commit != "off" && d.Commit != "local" && (d.Standbys == 0 || d.StandbysKnown && d.Synchronous == 0)
}

// Release is the version of the server in its usual form.
func (d Durability) Release() string {
	return fmt.Sprintf("PostgreSQL %d.%d", d.Version/10000, d.Version%10000)
}

// String is a line for the log.
func (d Durability) String() string {
	level, where := d.Level(), d.Release()+" at "+d.Host
	says := "each write is on the disk of one " + where + " before it is acknowledged, and on a standby only later, if there is one"
	switch {
	case !d.FSync:
		says = where + " runs with fsync off, so a crash may lose everything"
	case level == Unknown:
		says = where + " runs with synchronous_commit off, so a crash may lose what was acknowledged"
	case level == Replicated:
		says = "each write to " + where + " waits for a standby (synchronous_commit " + d.Commit + ")"
		if d.Waits() {
			says += "; none of them is connected now, so writes wait"
		}
	}
	return fmt.Sprintf("durability: %s: %s", level, says)
}

// durabilityQuery reads a Durability and the clock. A role that may not see the states of standbys
// sees how many connections they have.
const durabilityQuery = `select current_setting('server_version_num')::int, current_setting('fsync') = 'on', current_setting('synchronous_commit'),
	current_setting('synchronous_standby_names'), clock_timestamp(), count(*) filter (where r.pid is not null and r.state is distinct from 'backup'),
	count(*) filter (where r.sync_state in ('sync', 'quorum')), count(*) = count(r.sync_state)
	from (select) one left join pg_stat_replication r on true`

// readDurability returns a Durability, and by how much the clock of this machine is at least ahead
// of the database's: a slow answer makes this less precise, but not wrong.
func readDurability(ctx context.Context, c *pgx.Conn) (d Durability, ahead time.Duration, err error) {
	d.Host = hostOf(c)
	var names string
	var there time.Time
	begun := time.Now()
	err = c.QueryRow(ctx, durabilityQuery).Scan(&d.Version, &d.FSync, &d.Commit, &names, &there, &d.Standbys, &d.Synchronous, &d.StandbysKnown)
	d.Named = strings.TrimSpace(names) != ""
	if ended := time.Now(); begun.After(there) {
		ahead = begun.Sub(there)
	} else if ended.Before(there) {
		ahead = ended.Sub(there)
	}
	return d, ahead, err
}

// Durability asks the database. It returns an error if the clocks differ by more than five seconds:
// servers with such clocks would not agree on when a push ends.
func (db *DB) Durability(ctx context.Context) (d Durability, err error) {
	done, err := db.beginLocked(ctx)
	if err != nil {
		return d, err
	}
	defer done()
	var ahead time.Duration
	err = db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) (err error) {
		if d, ahead, err = readDurability(ctx, c.Conn()); err == nil {
			db.observed(d)
		}
		return err
	})
	if err == nil && ahead.Abs() > MaxClockDifference {
		err = fmt.Errorf("%w: the clocks of the database and of this machine differ by %s: set both by NTP", record.ErrClock, ahead.Abs().Round(time.Second))
	}
	return d, err
}
