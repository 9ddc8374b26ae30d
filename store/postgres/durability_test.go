package postgres_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/postgres"
)

// What a database promises is read from its settings and its standbys as they are.
func TestDurabilityIsWhatTheSettingsComeTo(t *testing.T) {
	t.Parallel()
	pgtest.Need(t) // or the test is skipped
	c, err := pgtest.Start("listen_addresses=", "wal_sender_timeout=0", "max_wal_senders=4", "log_min_messages=fatal", "autovacuum=off")
	env.OK(t, err)
	t.Cleanup(c.Stop)
	url := c.Database(t)
	db, _, err := postgres.Open(t.Context(), unhurried(url))
	env.OK(t, err)
	defer db.Close()
	admin, err := pgx.Connect(t.Context(), url.Reveal()+" synchronous_commit=local")
	env.OK(t, err)
	defer admin.Close(context.WithoutCancel(t.Context()))
	for _, step := range []struct {
		name, set string
		standby   string // the name of one that begins to follow
		level     postgres.DurabilityLevel
		waits     bool
		says      string
	}{
		{name: "as it comes", level: postgres.Single, says: "durability: single: each write is on the disk of one PostgreSQL "},
		{name: "no synchronous commit", set: "synchronous_commit = off", level: postgres.Unknown, says: "durability: unknown: "},
		{name: "no fsync", set: "fsync = off", level: postgres.Unknown, says: "runs with fsync off"},
		{name: "a name without a standby", set: "synchronous_standby_names = 'second'", level: postgres.Replicated, waits: true, says: "none of them is connected now, so writes wait"},
		{name: "another standby than the named one", set: "synchronous_standby_names = 'second'", standby: "third", level: postgres.Replicated, waits: true, says: "so writes wait"},
		{name: "a standby without a name", level: postgres.Single, says: "durability: single: "},
		{name: "the named standby", set: "synchronous_standby_names = 'third'", level: postgres.Replicated, says: "durability: replicated: each write to PostgreSQL "},
		{name: "the named standby, of which nothing is written", set: "synchronous_standby_names = 'third'; synchronous_commit = local", level: postgres.Single, says: "durability: single: "},
		{name: "the named standby, in memory", set: "synchronous_standby_names = 'third'; synchronous_commit = remote_write", level: postgres.Replicated, says: "(synchronous_commit remote_write)"},
		{name: "as it came, so that the database can be dropped", level: postgres.Single, says: "durability: single: "},
	} {
		set := []string{"alter system reset all"}
		for one := range strings.SplitSeq(step.set, "; ") {
			if one != "" {
				set = append(set, "alter system set "+one)
			}
		}
		for _, statement := range append(set, "select pg_reload_conf()") {
			if _, err := admin.Exec(t.Context(), statement); err != nil {
				t.Fatalf("%s: %s: %v", step.name, statement, err)
			}
		}
		if step.standby != "" {
			follow(t, c, step.standby)
		}
		var d postgres.Durability
		for late := time.Now().Add(env.Patience); time.Now().Before(late); time.Sleep(5 * time.Millisecond) {
			if d, err = db.Durability(t.Context()); err != nil {
				t.Fatal(err)
			}
			if d.Level() == step.level && d.Waits() == step.waits && strings.Contains(d.String(), step.says) && (step.standby == "" || d.Standbys == 1) {
				break
			}
		}
		if d.Level() != step.level || d.Waits() != step.waits || !strings.Contains(d.String(), step.says) {
			t.Errorf("%s: %+v: %s", step.name, d, d)
		}
	}
}

// follow has a program follow the log of a cluster, under a name, as a standby does that
// writes all of it to its disk at once.
func follow(t *testing.T, c *pgtest.Cluster, name string) {
	t.Helper()
	program, err := filepath.Glob("/usr/lib/postgresql/*/bin/pg_receivewal")
	if err != nil || len(program) == 0 {
		t.Fatalf("there is no pg_receivewal: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), program[len(program)-1], "--synchronous", "--no-loop", "-D", t.TempDir(), "-d", "host="+c.Dir+" user=postgres application_name="+name)
	env.OK(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() }) // its context ended it
}

func TestAnInspectionTellsOfTheDatabaseAndChangesNothing(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	inspect := func(url secret.Text) postgres.Inspection {
		t.Helper()
		i, err := postgres.Inspect(t.Context(), unhurried(url))
		env.OK(t, err)
		return i
	}
	for range 2 {
		if i := inspect(url); i.Schema != 0 || i.Knows == 0 || !i.Superuser || i.User != "postgres" || i.Way != postgres.WayLocal || i.Size == 0 || i.FSync || i.FullPages || i.Ahead.Abs() > time.Second {
			t.Errorf("an empty database: %+v", i)
		}
	}
	db := mover(t, url)
	_, role, _ := strings.Cut(url.Reveal(), "dbname=") // a name of its own, in a cluster that tests share
	pgtest.Raw(t, url, "create role "+role+" login", "grant select on all tables in schema public to "+role)
	plain := secret.New(strings.Replace(url.Reveal(), "user=postgres", "user="+role, 1))
	if i := inspect(plain); i.Schema != i.Knows || i.Superuser || i.User != role || i.Moved || i.Level() != postgres.Unknown {
		t.Errorf("a plain role: %+v", i)
	}
	if _, err := db.Depart(t.Context(), postgres.Departure{}); err != nil {
		t.Fatal(err)
	}
	if i := inspect(url); !i.Moved {
		t.Errorf("a database that moves: %+v", i)
	}
	_, err := postgres.Inspect(t.Context(), postgres.Options{URL: secret.New("host=" + t.TempDir() + " user=postgres password=swordfish"), Connect: time.Second})
	if err == nil || strings.Contains(err.Error(), "swordfish") {
		t.Errorf("where there is nothing: %v", err)
	}
}

func TestTheWayToADatabaseIsJudgedByWhatIsVerified(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]postgres.Way{
		"disable": postgres.WayOpen, "require": postgres.WayUnverified, "verify-ca": postgres.WayUnnamed, "verify-full": postgres.WayVerified,
	} {
		got, err := postgres.WayOfURL("postgres://ann@db.example.com/box?sslmode=" + mode)
		if err != nil || got != want {
			t.Errorf("sslmode=%s: %s, not %s, %v", mode, got, want, err)
		}
	}
}
