package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

// Database returns the address of a new, empty database, which is dropped when the test
// ends.
func (c *Cluster) Database(t testing.TB) secret.Text {
	t.Helper()
	url, drop, err := c.NewDatabase()
	env.OK(t, err)
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
	return url
}

// NewDatabase makes a new, empty database, and returns its address.
func (c *Cluster) NewDatabase() (url secret.Text, drop func() error, err error) {
	name := fmt.Sprintf("t%d", c.made.Add(1))
	if err := c.do("create database " + name + c.copying); err != nil {
		return url, nil, err
	}
	return secret.New(c.address(name)), func() error { return c.do("drop database " + name + " with (force)") }, nil
}

func (c *Cluster) do(statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return execute(ctx, c.address("postgres"), statement)
}

// execute runs statements in a database.
func execute(ctx context.Context, address, statements string) error {
	return with(ctx, address, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, statements)
		return err
	})
}

// with uses a connection of its own.
func with(ctx context.Context, address string, use func(*pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	return errors.Join(use(conn), conn.Close(context.WithoutCancel(ctx)))
}

// Raw runs statements in a database, as a test that damages it does.
func Raw(t testing.TB, url secret.Text, statements ...string) {
	t.Helper()
	env.OK(t, execute(t.Context(), url.Reveal(), strings.Join(statements, ";")))
}

// Count returns the number that a query gives.
func Count(t testing.TB, url secret.Text, query string) (n int64) {
	t.Helper()
	err := with(t.Context(), url.Reveal(), func(conn *pgx.Conn) error { return conn.QueryRow(t.Context(), query).Scan(&n) })
	env.OK(t, err)
	return n
}

// Running is how many statements run in a database, of all its clients.
func Running(t testing.TB, url secret.Text) int64 {
	t.Helper()
	return Count(t, url, `select count(*) from pg_stat_activity where datname = current_database() and state <> 'idle'
		and pid <> pg_backend_pid() and backend_type = 'client backend'`)
}

const bouncerPort = 6432

// A Bouncer is a PgBouncer in transaction mode in front of a cluster.
type Bouncer struct{ dir string }

// NewBouncer starts a PgBouncer in front of the cluster of this process. It ends with the
// test. Where PgBouncer is missing the test is skipped, unless Required is set.
func NewBouncer(t testing.TB) Bouncer {
	t.Helper()
	program := "/usr/sbin/pgbouncer"
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		program = path
	} else if _, err := os.Stat(program); err != nil {
		const missing = "PgBouncer is not installed (Debian: apt-get install pgbouncer)"
		if os.Getenv(Required) == "" {
			t.Skip(missing)
		}
		t.Fatal(missing)
	}
	dir := env.ShortDir(t)
	settings := filepath.Join(dir, "pgbouncer.ini")
	// Few server connections, so that a client seldom gets the same one twice.
	text := fmt.Sprintf(`[databases]
* = host=%s user=postgres
[pgbouncer]
listen_addr =
listen_port = %d
unix_socket_dir = %s
auth_type = any
pool_mode = transaction
default_pool_size = 5
max_client_conn = 2000
`, Need(t).Dir, bouncerPort, dir)
	env.OK(t, os.WriteFile(settings, []byte(text), 0o644))
	c := &Cluster{Dir: dir}
	attr := env.Must(unprivileged(dir))(t)
	env.OK(t, c.run(program, []string{"-q", settings}, attr))
	t.Cleanup(func() { c.end(syscall.SIGKILL) })
	env.Eventually(t, "PgBouncer listens", func() bool {
		select {
		case <-c.waited:
			t.Fatal("PgBouncer ended")
		default:
		}
		_, err := os.Stat(filepath.Join(dir, fmt.Sprintf(".s.PGSQL.%d", bouncerPort)))
		return err == nil
	})
	return Bouncer{dir}
}

// Before returns the address by which PgBouncer gives the database at url.
func (b Bouncer) Before(url secret.Text) secret.Text {
	_, rest, _ := strings.Cut(url.Reveal(), " ")
	return secret.New(fmt.Sprintf("host=%s port=%d %s", b.dir, bouncerPort, rest))
}
