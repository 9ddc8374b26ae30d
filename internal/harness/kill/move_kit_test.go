package kill

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/bolt"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A mover is a directory whose database moves to PostgreSQL and back.
type mover struct {
	t       *testing.T
	dir     string
	cluster *pgtest.Cluster
	url     secret.Text // of the present PostgreSQL database
	all     string      // the digest of all records
}

// newMover fills a store and stops its server.
func newMover(t *testing.T, mebibytes int) *mover {
	t.Helper()
	cluster := pgtest.Need(t)
	b := newBackupServer(t)
	b.fillUp(t, mebibytes)
	for n := range 50 {
		env.OK(t, b.create(fmt.Sprint("push ", n), ""))
	}
	for token := range b.answered() {
		env.Must(b.view(token))(t)
	}
	proctest.APIToken(t, b.dir)
	b.Stop()
	m := &mover{t: t, dir: b.dir, cluster: cluster}
	m.all = m.inFile("pushbox.db")
	m.url = cluster.Database(t)
	return m
}

// digest is the number of all records of an engine, and a sum over them.
func (m *mover) digest(e record.DumpEngine) string {
	m.t.Helper()
	sealed := env.Must(e.KeyRing(m.t.Context()))(m.t)
	key := env.Must(seal.LoadKeyFile(filepath.Join(m.dir, "data", "master.key")))(m.t)
	ring := env.Must(seal.OpenRing(key, sealed))(m.t)
	env.OK(m.t, e.Unlock(m.t.Context(), ring, nil, nil))
	n, sum := 0, sha256.New()
	for r, err := range e.Dump(m.t.Context()) {
		env.OK(m.t, err)
		n++
		fmt.Fprintf(sum, "%d %x %x\n", r.Kind, r.Key, r.Value)
	}
	return fmt.Sprintf("%d records, %x", n, sum.Sum(nil))
}

func (m *mover) inFile(name string) string {
	m.t.Helper()
	e, _, err := bolt.Open(m.t.Context(), bolt.Options{Path: filepath.Join(m.dir, "data", name)})
	env.OK(m.t, err)
	defer e.Close()
	return m.digest(e)
}

func (m *mover) postgres() *postgres.DB {
	m.t.Helper()
	e, _, err := postgres.Open(m.t.Context(), postgres.Options{URL: m.url, Dir: m.dir, Moved: true})
	env.OK(m.t, err)
	return e
}

func (m *mover) inPostgres() string {
	m.t.Helper()
	e := m.postgres()
	defer e.Close()
	return m.digest(e)
}

// command is pushbox over a PostgreSQL database.
func (m *mover) command(url string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command("pushbox", args...)
	cmd.Dir, cmd.Env = m.dir, append(proctest.LoadEnviron(), "PUSHBOX_DATABASE_URL="+url)
	if url == "" {
		cmd.Env = proctest.LoadEnviron()
	}
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = io.Discard, &stderr
	return cmd, &stderr
}

// finish runs a move to its end, and checks that all records are where they went to. It
// returns how long the move took.
func (m *mover) finish(args ...string) (took time.Duration) {
	m.t.Helper()
	cmd, stderr := m.command(m.url.Reveal(), args...)
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		m.t.Fatalf("pushbox %v: %v\n%s\n%v", args, err, stderr, names(m.t, filepath.Join(m.dir, "data"), "*"))
	}
	took = time.Since(begun)
	file, database := m.judge()
	back := len(args) > 1
	if file != back || database == back {
		m.t.Fatalf("after %v the file may be served: %t, PostgreSQL: %t\n%s", args, file, database, stderr)
	}
	got := ""
	if back {
		got = m.inFile("pushbox.db")
	} else {
		got = m.inPostgres()
	}
	if got != m.all {
		m.t.Fatalf("P1: after %v there are %s, not %s", args, got, m.all)
	}
	if left := names(m.t, filepath.Join(m.dir, "data"), "pushbox.db.*ing*"); len(left) > 0 {
		m.t.Errorf("after %v there is %v", args, left)
	}
	return took
}

// judge looks which place a server may serve, by what servers say: at most one.
func (m *mover) judge() (file, database bool) {
	m.t.Helper()
	_, err := os.Lstat(filepath.Join(m.dir, "data", "pushbox.db"))
	file = err == nil
	e := m.postgres()
	defer e.Close()
	mark := env.Must(e.Departure(m.t.Context()))(m.t)
	sealed := env.Must(e.KeyRing(m.t.Context()))(m.t)
	database = sealed != nil && mark == (postgres.Departure{})
	if file && database {
		m.t.Fatal("P1: two places may be served")
	}
	if !file { // no server makes a new one then
		m.refuses("")
	}
	if !database {
		m.refuses(m.url.Reveal())
	}
	return file, database
}

// refuses checks that no server starts.
func (m *mover) refuses(url string) {
	m.t.Helper()
	cmd, stderr := m.command(url, "serve", "--listen", "127.0.0.1:0")
	timer := time.AfterFunc(proctest.Patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Run(); err == nil || !cmd.ProcessState.Exited() || !strings.Contains(stderr.String(), "hint: ") {
		m.t.Fatalf("P1: a server with the database %q: %v\n%s", url, err, stderr)
	}
}

// next removes what a move to PostgreSQL left, so that there can be another one.
func (m *mover) next() {
	m.t.Helper()
	for _, name := range names(m.t, filepath.Join(m.dir, "data"), "pushbox.db.moved") {
		env.OK(m.t, os.Remove(name))
	}
}

// A gate is between pushbox and PostgreSQL, and kills a process at one of its commits.
type gate struct {
	url     string
	at      int64            // which commit
	after   bool             // when PostgreSQL has answered; else before it hears of it
	process chan *os.Process // that it kills
	commits atomic.Int64
	killed  atomic.Bool
}

// newGate listens until the test ends.
func (m *mover) newGate(at int64, after bool) *gate {
	m.t.Helper()
	dir := env.ShortDir(m.t)
	l := env.Must(net.Listen("unix", filepath.Join(dir, filepath.Base(m.cluster.Socket()))))(m.t)
	g := &gate{url: strings.Replace(m.url.Reveal(), m.cluster.Dir, dir, 1), at: at, after: after, process: make(chan *os.Process, 1)}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { g.pass(client, m.cluster.Socket()) })
		}
	})
	m.t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	return g
}

// pass hands on what one connection says, until either side ends.
func (g *gate) pass(client net.Conn, socket string) {
	defer client.Close()
	server, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer server.Close()
	var last atomic.Bool // the next answer is that of the commit
	var answers sync.WaitGroup
	defer answers.Wait()
	answers.Go(func() {
		defer client.Close()
		b := make([]byte, 64<<10)
		for {
			n, err := server.Read(b)
			if last.Load() {
				g.end()
				return
			}
			if _, writeErr := client.Write(b[:n]); errors.Join(err, writeErr) != nil {
				return
			}
		}
	})
	defer server.Close()
	for first := true; ; first = false {
		message, err := readMessage(client, first)
		if err != nil {
			return
		}
		if bytes.Equal(message, []byte("Q\x00\x00\x00\x0bcommit\x00")) && g.commits.Add(1) == g.at {
			if !g.after {
				g.end()
				return
			}
			last.Store(true)
		}
		if _, err := server.Write(message); err != nil {
			return
		}
	}
}

func (g *gate) end() {
	g.killed.Store(true)
	_ = (<-g.process).Kill()
}

// readMessage reads a message of a client; the first has no type.
func readMessage(r io.Reader, first bool) ([]byte, error) {
	head := make([]byte, 5)
	if first {
		head = head[:4]
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	rest := make([]byte, max(0, int(binary.BigEndian.Uint32(head[len(head)-4:]))-4))
	_, err := io.ReadFull(r, rest)
	return append(head, rest...), err
}
