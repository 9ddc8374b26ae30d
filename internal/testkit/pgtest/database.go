package pgtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
