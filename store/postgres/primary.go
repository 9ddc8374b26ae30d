package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// primaries choose among the hosts of a database. A host that accepts writes may be an old primary
// that came back after a standby replaced it: it acknowledges nothing, and its data is out of date.
// Its timeline is lower, so a process that has met the new primary refuses it. primaries asks all
// hosts at the start and every few seconds (survey), and tries other hosts first after a statement
// hangs.
type primaries struct {
	known atomic.Pointer[primary]
	first atomic.Uint32 // the number of hosts to be tried last; it only grows
	pool  atomic.Pointer[pgxpool.Pool]
}

// A primary identifies a host that accepts writes by its database cluster.
type primary struct {
	system   string // the cluster; each has its own timelines
	timeline int64  // grows when a standby becomes the primary
}

// errOldPrimary refuses a host.
var errOldPrimary = errors.New("it is an old primary that a standby has replaced")

// arrange changes the order in which a connection tries the hosts.
func (p *primaries) arrange(_ context.Context, c *pgx.ConnConfig) error {
	hosts := hostsOf(c)
	first := int(p.first.Load() % uint32(len(hosts)))
	var all []*pgconn.FallbackConfig
	for i := range hosts {
		all = append(all, hosts[(first+i)%len(hosts)]...)
	}
	try(c, all)
	return nil
}

// hostsOf returns the hosts of a configuration, each with its ways to connect: with and without
// TLS.
func hostsOf(c *pgx.ConnConfig) (hosts [][]*pgconn.FallbackConfig) {
	for _, f := range append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...) {
		if n := len(hosts); n > 0 && hosts[n-1][0].Host == f.Host && hosts[n-1][0].Port == f.Port {
			hosts[n-1] = append(hosts[n-1], f)
			continue
		}
		hosts = append(hosts, []*pgconn.FallbackConfig{f})
	}
	return hosts
}

// try sets the ways that connections try, one after another.
func try(c *pgx.ConnConfig, ways []*pgconn.FallbackConfig) {
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = ways[0].Host, ways[0].Port, ways[0].TLSConfig, ways[1:]
}

// survey asks all hosts at the same time, so that connections to an old primary end and no new ones
// are made. It skips hosts that do not answer.
func (p *primaries) survey(ctx context.Context, c *pgx.ConnConfig) {
	hosts := hostsOf(c)
	if len(hosts) < 2 {
		return
	}
	var asked sync.WaitGroup
	for _, ways := range hosts {
		one := c.Copy()
		try(one, ways)
		asked.Go(func() {
			if conn, err := pgconn.ConnectConfig(ctx, &one.Config); err == nil {
				_ = conn.Close(ctx)
			}
		})
	}
	asked.Wait()
}

// hung records that a statement did not end in time: the next connection tries another host first.
func (p *primaries) hung() { p.first.Add(1) }

// validate accepts a connection to a host that accepts writes, unless it is an old primary.
func (p *primaries) validate(ctx context.Context, c *pgconn.PgConn) error {
	if err := pgconn.ValidateConnectTargetSessionAttrsReadWrite(ctx, c); err != nil {
		return err
	}
	found, err := identify(ctx, c)
	if err != nil || found == nil {
		return err
	}
	for {
		known := p.known.Load()
		switch {
		case known != nil && *known == *found:
			return nil
		case known != nil && known.system == found.system && known.timeline > found.timeline:
			return fmt.Errorf("%w (timeline %d, and %d is known)", errOldPrimary, found.timeline, known.timeline)
		}
		if p.known.CompareAndSwap(known, found) {
			if pool := p.pool.Load(); known != nil && pool != nil {
				pool.Reset() // closes the connections to an older primary
			}
			return nil
		}
	}
}

// identify asks a host for its identity; nil if it has none, such as a database that only speaks
// PostgreSQL's protocol.
func identify(ctx context.Context, c *pgconn.PgConn) (*primary, error) {
	r := c.ExecParams(ctx, "select system_identifier::text, ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int::text from pg_control_system()",
		nil, nil, nil, nil).Read()
	var refused *pgconn.PgError
	if errors.As(r.Err, &refused) && refused.SeverityUnlocalized == "ERROR" {
		return nil, nil
	}
	if r.Err != nil {
		return nil, r.Err
	}
	if len(r.Rows) != 1 || len(r.Rows[0]) != 2 {
		return nil, nil
	}
	timeline, err := strconv.ParseInt(string(r.Rows[0][1]), 10, 64)
	return &primary{string(r.Rows[0][0]), timeline}, err
}
