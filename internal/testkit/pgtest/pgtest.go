// Package pgtest starts PostgreSQL for tests, from the programs that the system has. One
// cluster serves a test process, on a Unix socket in a temporary directory, and each test
// gets a database of its own. A test binary that uses it has in TestMain:
//
//	os.Exit(pgtest.Main(m))
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pushbox/internal/secret"
)

// Required is the environment variable that has a test fail where PostgreSQL is missing;
// else it is skipped.
const Required = "PUSHBOX_TEST_POSTGRES"

// fast are settings for tests of what a database does, not of what survives a loss of
// power.
var fast = []string{
	"fsync=off", "full_page_writes=off", "synchronous_commit=off", "listen_addresses=", "max_connections=400",
	"shared_buffers=64MB", "log_min_messages=fatal", "max_wal_size=1GB", "autovacuum_naptime=5s",
}

// A Cluster is a PostgreSQL server with its directory.
type Cluster struct {
	Dir     string // of the socket, and of all else
	process *os.Process
	waited  chan struct{} // closed when the process is gone
	release chan struct{} // ends the thread that the process depends on
	made    atomic.Int64  // databases
	copying string        // how a new database is made, as create database takes it
}

// shared is the cluster of this process.
var shared struct {
	sync.Mutex
	cluster *Cluster
	err     error
}

// errMissing says that the system has no PostgreSQL.
var errMissing = errors.New("PostgreSQL is not installed (Debian: apt-get install postgresql)")

// Main runs the tests of a package, and then stops the cluster if one was started.
func Main(m *testing.M) (code int) {
	code = m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster != nil {
		shared.cluster.Stop()
	}
	return code
}

// Tests are the tests of a package, as what runs them takes them.
type Tests struct{ M *testing.M }

// Run is Main.
func (t Tests) Run() (code int) { return Main(t.M) }

// URL returns the address of a new, empty database of this process's cluster. It is
// dropped when the test ends. Where PostgreSQL is missing the test is skipped, as by Need.
func URL(t testing.TB) secret.Text {
	t.Helper()
	return Need(t).Database(t)
}

// Need returns the cluster of this process. Where PostgreSQL is missing the test is
// skipped, unless Required is set.
func Need(t testing.TB) *Cluster {
	t.Helper()
	c, err := Shared()
	switch {
	case err != nil:
		t.Fatal(err)
	case c == nil:
		t.Skip(errMissing)
	}
	return c
}

// Shared returns the cluster of this process; nil where PostgreSQL is missing and Required is
// not set.
func Shared() (*Cluster, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster == nil && shared.err == nil {
		shared.cluster, shared.err = Start(fast...)
	}
	if errors.Is(shared.err, errMissing) && os.Getenv(Required) == "" {
		return nil, nil
	}
	return shared.cluster, shared.err
}

// programs finds the directory of initdb and postgres, the newest there is.
func programs() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		if path, err := exec.LookPath("postgres"); err == nil {
			return filepath.Dir(path), nil
		}
		return "", errMissing
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // no number counts as the oldest
		return n
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })
	return filepath.Dir(newest), nil
}

// Start makes a cluster with these settings and starts it. PostgreSQL refuses to run as
// root, so root has it run as the user "nobody".
func Start(settings ...string) (c *Cluster, err error) {
	c, err = initialize(inMemory())
	if err != nil {
		return nil, err
	}
	if err := c.start(settings); err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.Dir))
	}
	return c, c.await()
}

// initialize makes the directory of a cluster, in another one.
func initialize(in string) (c *Cluster, err error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(in, "pg")
	if err != nil {
		return nil, err
	}
	c = &Cluster{Dir: dir}
	if err := c.program(filepath.Join(bin, "initdb"), "-D", c.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, nil
}

func (c *Cluster) data() string { return filepath.Join(c.Dir, "data") }

// program runs a program as the user that PostgreSQL runs as.
func (c *Cluster) program(path string, args ...string) error {
	attr, err := unprivileged(c.Dir)
	if err != nil {
		return err
	}
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr, cmd.Dir = attr, c.Dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(path), err, out)
	}
	return nil
}

// start starts the server, which then takes some time until it answers.
func (c *Cluster) start(settings []string) error {
	bin, err := programs()
	if err != nil {
		return err
	}
	attr, err := unprivileged(c.Dir)
	if err != nil {
		return err
	}
	args := []string{"-D", c.data(), "-c", "unix_socket_directories=" + c.Dir}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	return c.run(filepath.Join(bin, "postgres"), args, attr)
}

// unprivileged returns how to start PostgreSQL: as the user "nobody", if this process is root. It
// dies with this process.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{}
	dieWithParent(attr)
	if os.Geteuid() != 0 {
		return attr, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, uidErr := strconv.Atoi(nobody.Uid)
	gid, gidErr := strconv.Atoi(nobody.Gid)
	if err := errors.Join(uidErr, gidErr); err != nil {
		return nil, err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, os.Chown(dir, uid, gid)
}

// run starts the server from a thread that lives as long as the server may: the system
// ends a process with the thread that started it.
func (c *Cluster) run(program string, args []string, attr *syscall.SysProcAttr) error {
	c.waited, c.release = make(chan struct{}), make(chan struct{})
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		server := exec.Command(program, args...)
		server.SysProcAttr, server.Dir = attr, c.Dir
		server.Stdout, server.Stderr = io.Discard, io.Discard
		err := server.Start()
		if err == nil {
			c.process = server.Process
			go func() {
				_ = server.Wait() // it was told to end
				close(c.waited)
			}()
		}
		started <- err
		<-c.release
	}()
	return <-started
}

// await waits until the server answers.
func (c *Cluster) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, c.address("postgres"))
		if err == nil {
			// Without a sync a copy of files is some ten times as fast as a log of their pages.
			if major, _, _ := strings.Cut(conn.PgConn().ParameterStatus("server_version"), "."); major >= "15" {
				c.copying = " strategy file_copy"
			}
			return conn.Close(ctx)
		}
		select {
		case <-c.waited:
			return fmt.Errorf("PostgreSQL ended: %w", err)
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (c *Cluster) address(name string) string {
	return fmt.Sprintf("host=%s user=postgres dbname=%s", c.Dir, name)
}

// Socket is the path of the server's socket.
func (c *Cluster) Socket() string { return filepath.Join(c.Dir, ".s.PGSQL.5432") }

// Stop ends the server at once and removes its directory.
func (c *Cluster) Stop() {
	c.end(syscall.SIGQUIT)
	_ = os.RemoveAll(c.Dir) // of the temporary directory
}

// end ends the process by a signal.
func (c *Cluster) end(s syscall.Signal) {
	_ = c.process.Signal(s) // it may be gone
	<-c.waited
	close(c.release)
}
