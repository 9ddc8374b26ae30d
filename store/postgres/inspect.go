package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/jackc/pgx/v5"

	"pushbox/store/record"
)

// An Inspection describes a database and the connection to it for an administrator.
type Inspection struct {
	Durability
	FullPages bool          // full_page_writes
	Ahead     time.Duration // how much the clock of this machine is ahead of the database's
	Way       Way
	User      string
	Superuser bool
	Size      int64 // of the database, in bytes
	Schema    int   // 0: it has no tables of pushbox
	Oldest    int   // programs that know only schemas below this may not use the tables
	Knows     int   // the schema that this version of pushbox makes
	Empty     bool  // there are no records yet
	Moved     bool  // the records were moved out, or a move was interrupted
}

// A Way is how the connection to a database is protected.
type Way string

// The ways.
const (
	WayLocal      Way = "local"      // the connection does not leave this machine
	WayVerified   Way = "verified"   // TLS, and the certificate and its name are verified
	WayUnnamed    Way = "unnamed"    // TLS, and the certificate is verified, but not its name
	WayUnverified Way = "unverified" // TLS, and no certificate is verified
	WayOpen       Way = "open"       // no TLS
)

// Inspect inspects the database over a separate connection, and changes nothing: it neither makes
// nor upgrades tables. The error wraps record.ErrUnavailable if no host that takes writes answers.
// It never contains the password.
func Inspect(ctx context.Context, o Options) (i Inspection, err error) {
	if o.Connect <= 0 {
		o.Connect = defaultConnect
	}
	c, err := poolConfig(o)
	if err != nil {
		return i, err
	}
	db := &DB{opts: o} // for the texts of errors
	hosts := &primaries{}
	c.ConnConfig.ValidateConnect = hosts.validate
	hosts.survey(ctx, c.ConnConfig)
	conn, err := pgx.ConnectConfig(ctx, c.ConnConfig)
	if err != nil {
		return i, db.unavailable(err)
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if err = i.read(ctx, conn); err != nil && !isOwn(err) {
		err = db.named(err)
	}
	return i, err
}

func (i *Inspection) read(ctx context.Context, conn *pgx.Conn) (err error) {
	i.Way, i.Knows = wayOf(conn), len(migrations)
	if i.Durability, i.Ahead, err = readDurability(ctx, conn); err != nil {
		return err
	}
	err = conn.QueryRow(ctx, `select current_setting('full_page_writes') = 'on', current_user, current_setting('is_superuser') = 'on', pg_database_size(current_database())`).
		Scan(&i.FullPages, &i.User, &i.Superuser, &i.Size)
	if err != nil {
		return err
	}
	return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(t pgx.Tx) (err error) {
		found, err := schemaOf(ctx, t)
		i.Schema, i.Oldest = found.number, found.oldest
		switch {
		case errors.Is(err, record.ErrSchema):
			return decide(err)
		case err != nil || i.Schema == 0:
			i.Empty = err == nil
			return err
		}
		var floor int64
		err = t.QueryRow(ctx, "select floor, sealed is null from ring").Scan(&floor, &i.Empty)
		i.Moved = departureOf(floor) != Departure{}
		return err
	})
}

// wayOf returns how a connection is protected.
func wayOf(c *pgx.Conn) Way {
	conn := c.PgConn().Conn()
	switch a := conn.RemoteAddr().(type) {
	case *net.UnixAddr:
		return WayLocal
	case *net.TCPAddr:
		if a.IP.IsLoopback() {
			return WayLocal
		}
	}
	if _, ok := conn.(*tls.Conn); !ok {
		return WayOpen
	}
	return wayOfTLS(c.Config().TLSConfig)
}

// wayOfTLS returns what a client verifies. For a chain without the name, pgx sets a verification
// function.
func wayOfTLS(c *tls.Config) Way {
	switch {
	case c == nil:
		return WayOpen
	case !c.InsecureSkipVerify:
		return WayVerified
	case c.VerifyPeerCertificate != nil || c.VerifyConnection != nil:
		return WayUnnamed
	default:
		return WayUnverified
	}
}
