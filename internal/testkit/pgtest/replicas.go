package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

// replicated are the settings of clusters that survive each other. The page cache survives
// the kill of a process, so fsync may be off.
var replicated = []string{
	"fsync=off", "full_page_writes=off", "synchronous_commit=on", "listen_addresses=", "max_connections=200",
	"shared_buffers=32MB", "log_min_messages=fatal", "wal_keep_size=1GB", "wal_retrieve_retry_interval=100ms",
	"dynamic_shared_memory_type=mmap", // in the directory, so that nothing stays of one that is killed
}

// Replicas are clusters of one database: a primary, and standbys that follow it. A commit
// is acknowledged when one standby has it.
type Replicas struct {
	t       testing.TB
	nodes   []*Cluster
	primary int
}

// database is the name of the database of Replicas.
const database = "pushbox"

// NewReplicas starts n clusters with one empty database, on Unix sockets. They end with the
// test. Where PostgreSQL is missing the test is skipped, as by Need.
func NewReplicas(t testing.TB, n int) *Replicas {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skipf("this needs /proc, to find the processes of a PostgreSQL: %v", err)
	}
	r := &Replicas{t: t}
	t.Cleanup(r.end)
	first, err := initialize("")
	if errors.Is(err, errMissing) && os.Getenv(Required) == "" {
		t.Skip(err)
	}
	env.OK(t, err)
	r.nodes = append(r.nodes, first)
	for len(r.nodes) < n {
		env.OK(t, r.copy())
	}
	names := make([]string, n)
	for i := range names {
		names[i] = nodeName(i)
	}
	settings := append(slices.Clone(replicated), fmt.Sprintf("synchronous_standby_names=ANY 1 (%s)", strings.Join(names, ", ")))
	for _, c := range r.nodes {
		env.OK(t, c.start(settings))
	}
	for _, c := range r.nodes {
		env.OK(t, c.await())
	}
	env.OK(t, first.do("create database "+database))
	return r
}

func nodeName(n int) string { return fmt.Sprintf("n%d", n) }

// copy adds a standby of the first cluster, which does not run yet.
func (r *Replicas) copy() error {
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return err
	}
	c := &Cluster{Dir: dir}
	name := nodeName(len(r.nodes))
	r.nodes = append(r.nodes, c)
	follow := fmt.Sprintf("primary_conninfo = '%s'\n", r.nodes[0].conninfo(name))
	return errors.Join(
		c.program("cp", "-a", r.nodes[0].data(), c.data()),
		c.program("sh", "-c", `touch "$0/standby.signal" && printf %s "$1" >>"$0/postgresql.auto.conf"`, c.data(), follow))
}

// conninfo is what a standby of that name follows the cluster by.
func (c *Cluster) conninfo(standby string) string {
	return fmt.Sprintf("host=%s user=postgres application_name=%s", c.Dir, standby)
}

// URL is the address of the database, with all hosts.
func (r *Replicas) URL() secret.Text {
	var dirs []string
	for _, c := range r.nodes {
		dirs = append(dirs, c.Dir)
	}
	return secret.New(fmt.Sprintf("host=%s user=postgres dbname=%s", strings.Join(dirs, ","), database))
}

// PrimaryURL is the address of the database at its primary alone.
func (r *Replicas) PrimaryURL() secret.Text {
	return secret.New(r.nodes[r.primary].address(database))
}

// Primary is the number of the primary.
func (r *Replicas) Primary() int { return r.primary }

// Standbys are the numbers of all others.
func (r *Replicas) Standbys() (all []int) {
	for i := range r.nodes {
		if i != r.primary {
			all = append(all, i)
		}
	}
	return all
}

// Kill kills all processes of a cluster at once.
func (r *Replicas) Kill(n int) {
	r.t.Helper()
	r.signal(n, syscall.SIGSTOP) // or the others would see the first one die
	r.signal(n, syscall.SIGKILL)
	<-r.nodes[n].waited
}

// Freeze stops all processes of a cluster: it keeps its connections and answers nothing.
func (r *Replicas) Freeze(n int) {
	r.t.Helper()
	r.signal(n, syscall.SIGSTOP)
}

// Thaw has a cluster continue where Freeze stopped it.
func (r *Replicas) Thaw(n int) {
	r.t.Helper()
	r.signal(n, syscall.SIGCONT)
}

// signal sends a signal to the first process of a cluster and to its children.
func (r *Replicas) signal(n int, s syscall.Signal) {
	r.t.Helper()
	for sent := map[int]bool{}; ; {
		more := false
		for _, pid := range r.nodes[n].family() {
			if sent[pid] {
				continue
			}
			sent[pid], more = true, true
			if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
				r.t.Fatal(err)
			}
		}
		if !more {
			return
		}
	}
}

// family are the processes of a cluster, the first one first.
func (c *Cluster) family() []int {
	first := c.process.Pid
	all := []int{first}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, _ := os.ReadFile(path) // it may have ended
		_, rest, _ := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(first) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))) // the pattern has digits alone
			all = append(all, pid)
		}
	}
	return all
}

// Promote makes a primary of the standby that has received most, and has the others follow
// it. First all standbys leave the old primary: so no commit of it is acknowledged from then on,
// even if it was neither killed nor frozen, or is thawed.
func (r *Replicas) Promote() {
	r.t.Helper()
	standbys := r.Standbys()
	for _, n := range standbys {
		r.follow(n, "")
		env.Eventually(r.t, "a standby leaves the old primary", func() bool { return r.number(n, "select count(*) from pg_stat_wal_receiver") == 0 })
	}
	most := int64(-1)
	for _, n := range standbys {
		if at := r.number(n, "select (coalesce(pg_last_wal_receive_lsn(), '0/0') - '0/0')::bigint"); at > most {
			r.primary, most = n, at
		}
	}
	env.OK(r.t, r.nodes[r.primary].do("select pg_promote()"))
	for _, n := range standbys {
		if n != r.primary {
			r.follow(n, r.nodes[r.primary].conninfo(nodeName(n)))
		}
	}
}

// follow has a standby follow another primary; none if it is empty.
func (r *Replicas) follow(n int, conninfo string) {
	r.t.Helper()
	c := r.nodes[n]
	env.OK(r.t, errors.Join(c.do("alter system set primary_conninfo = '"+conninfo+"'"), c.do("select pg_reload_conf()")))
}

// number is what a query gives at a node.
func (r *Replicas) number(n int, query string) int64 {
	r.t.Helper()
	return Count(r.t, secret.New(r.nodes[n].address("postgres")), query)
}

// end ends all clusters and removes their directories.
func (r *Replicas) end() {
	for n, c := range r.nodes {
		if c.process != nil {
			r.signal(n, syscall.SIGKILL)
			c.end(syscall.SIGKILL)
			c.forgetMemory()
		}
		_ = os.RemoveAll(c.Dir) // of the temporary directory
	}
}

// forgetMemory removes the piece of shared memory that a killed server leaves behind, whose
// number its directory has. There are few of them on a system.
func (c *Cluster) forgetMemory() {
	text, _ := os.ReadFile(filepath.Join(c.data(), "postmaster.pid")) // missing if it ended by itself
	lines := strings.Split(string(text), "\n")
	if len(lines) < 7 {
		return
	}
	if f := strings.Fields(lines[6]); len(f) == 2 {
		_ = exec.Command("ipcrm", "-m", f[1]).Run() // it may be gone
	}
}
