package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

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
	attr, err := unprivileged(dir)
	env.OK(t, err)
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
