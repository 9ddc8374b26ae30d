package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.etcd.io/bbolt"

	"pushbox/internal/tools/tool"
)

const idLen = 22 // bytes of the ID of a push: 6 of time, the rest random

// The subjects of the commands bolt and postgres.
const (
	boltWord   = "bbolt"          // bare rows in a file; with postgres, a server over a file
	pgxWord    = "pgx"            // bare statements
	oneServer  = "postgres"       // a server over a database
	twoServers = "postgres, two"  // two servers over one database
	oneLarge   = "postgres, many" // a server over a database with many pushes
)

// local is what this process does itself. A create has the number of views, and is answered with the token; the path of
// a view is the token.
var local = api{
	can:  []string{createPush, plainView, hotView},
	body: func(_ string, views int, _ string) string { return strconv.Itoa(views) },
}

// The buckets of store/bolt that a create writes to, with the place of the push's ID in their keys; and the one that a
// view writes to: number → ID, counts, audit entry.
var (
	createBuckets = []string{"pushes", "payloads", "expiry", "audit"}
	idPlaces      = []int{0, 0, 1 + 8, 0}
	viewBucket    = "journal"
)

// A bareFile is a database that a pushbox has filled. Its rows are written with bbolt alone, one after the other, in the
// number and sizes of those of a create and a view; their content has no meaning.
type bareFile struct {
	db           *bbolt.DB
	keys, values [][]byte // examples for createBuckets; the last is an audit entry
	views        uint64   // rows written
}

// bareBolt is the subject that commits bare rows to a file like that of another, which a pushbox fills first.
func bareBolt(of *subject) *subject {
	return &subject{name: boltWord, api: &local, start: func(ctx context.Context, b *bench, s *subject) error {
		filler := &subject{name: boltWord, path: of.path, api: of.api, start: startPushbox, stored: b.stored, payload: payload(b.payload)}
		err := b.ready(ctx, filler)
		if err == nil {
			err = filler.stop()
		}
		if err != nil {
			return err
		}
		f, ids, err := openBareFile(filepath.Join(b.dir, boltWord, "pushbox.db"))
		if err != nil {
			return err
		}
		b.ends = append(b.ends, f.db.Close)
		s.local, s.tokens, s.pids = f, ids, []int{os.Getpid()}
		return nil
	}}
}

// openBareFile opens a database, reads an example of each row, and returns the IDs of its pushes.
func openBareFile(path string) (f *bareFile, ids []string, err error) {
	f = new(bareFile)
	f.db, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second, FreelistType: bbolt.FreelistMapType, InitialMmapSize: 1 << 30})
	if err != nil {
		return nil, nil, err
	}
	err = f.db.View(func(tx *bbolt.Tx) error {
		for i, name := range createBuckets {
			var key, value []byte
			if b := tx.Bucket([]byte(name)); b != nil {
				key, value = b.Cursor().Last()
			}
			if len(key) < idPlaces[i]+idLen || tx.Bucket([]byte(viewBucket)) == nil {
				return errors.New("the database does not have the expected layout: compare local.go with store/bolt")
			}
			f.keys, f.values = append(f.keys, bytes.Clone(key)), append(f.values, bytes.Clone(value))
		}
		return tx.Bucket([]byte(createBuckets[0])).ForEach(func(id, _ []byte) error {
			ids = append(ids, string(id))
			return nil
		})
	})
	if err != nil {
		err = errors.Join(err, f.db.Close())
	}
	return f, ids, err
}

// do commits the rows of a new push, or the row of a view.
func (f *bareFile) do(r request) (status int, answer []byte, err error) {
	if r.method == http.MethodGet {
		const counts, firstRow = 12, 1 << 40 // bytes that a view changes; a number greater than any in the journal
		f.views++
		row := bytes.Join([][]byte{[]byte(r.path), make([]byte, counts), f.values[len(f.values)-1]}, nil)
		return r.status, nil, f.db.Update(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(viewBucket)).Put(binary.BigEndian.AppendUint64(nil, firstRow+f.views), row)
		})
	}
	id := binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixMilli()))[2:]
	id = append(id, rand.Text()[:idLen-len(id)]...)
	return r.status, id, f.db.Update(func(tx *bbolt.Tx) error {
		for i, name := range createBuckets {
			key := bytes.Clone(f.keys[i])
			copy(key[idPlaces[i]:], id)
			if err := tx.Bucket([]byte(name)).Put(key, f.values[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (*bareFile) close() {}

// postgresSubjects are bare statements, the pushbox at the path over a file, and the same over schemas of the database.
func postgresSubjects(path string, many int) []*subject {
	all := []*subject{
		{name: pgxWord, api: &local, start: startStatements},
		{name: boltWord, start: startPushbox},
		{name: oneServer, start: startOverSchema},
		{name: twoServers, start: startOverSchema, servers: 2},
		{name: oneLarge, start: startOverSchema, stored: many},
	}
	for _, s := range all[1:] {
		s.path, s.api, s.owned = path, apis["v2"], true
	}
	if many == 0 {
		return all[:len(all)-1]
	}
	return all
}

// startOverSchema starts the servers of a subject over a schema of their own.
func startOverSchema(ctx context.Context, b *bench, s *subject) error {
	address, err := b.schema(ctx, s.name)
	if err != nil {
		return err
	}
	s.settings = []string{"PUSHBOX_DATABASE_URL=" + address, "PUSHBOX_MASTER_KEY_FILE=" + filepath.Join(b.dir, s.name+".key")}
	return startPushbox(ctx, b, s)
}

// schema makes an empty schema in the database, which the end of the run drops, and returns the address that leads
// there, in either form that libpq takes.
func (b *bench) schema(ctx context.Context, of string) (address string, err error) {
	name := "bench_" + strings.ReplaceAll(of, ", ", "_")
	execute := func(statements string) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tool.Patience)
		defer cancel()
		c, err := pgx.Connect(ctx, b.database)
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, statements)
		return errors.Join(err, c.Close(ctx))
	}
	drop := "drop schema if exists " + name + " cascade;"
	b.ends = append(b.ends, func() error { return execute(drop) })
	separator := " "
	if strings.HasPrefix(b.database, "postgres") {
		separator = map[bool]string{false: "?", true: "&"}[strings.Contains(b.database, "?")]
	}
	return b.database + separator + "search_path=" + name, execute(drop + "create schema " + name)
}

// statements are bare statements over pgx: they write rows as many and as long as those of pushbox, with the same
// indexes and the same compare-and-swap, and decide nothing.
type statements struct {
	pool  *pgxpool.Pool
	ctx   context.Context // ends them
	turns sync.Map        // ID → *sync.Mutex
}

// Values as long as those that pushbox keeps of a push with a payload of 200 bytes.
var rowOp, rowValue, rowPayload, rowEntry = make([]byte, 16), make([]byte, 160), make([]byte, 240), make([]byte, 112)

// The column due has the limit of views.
const (
	statementTables = `
create table push (id bytea primary key, seq bigint not null, op bytea not null, owner bigint not null, live boolean not null,
	queue smallint not null, due bigint not null, value bytea not null) with (fillfactor = 85);
create index push_owner on push (owner, live, id) where owner <> 0;
create index push_due on push (queue, due, id);
create table payload (id bytea primary key, sum bigint not null, data bytea not null);
create table audit (id bytea, number bigint, op bytea not null, value bytea not null, primary key (id, number));`
	createStatement = `with p as (insert into push (id, seq, op, owner, live, queue, due, value) values ($1, 1, $2, 0, true, 1, $3, $4) returning id),
		y as (insert into payload (id, sum, data) select id, 1, $5 from p)
		insert into audit (id, number, op, value) select id, 0, $2, $6 from p`
	loadStatement = "select seq, due, value, data from push left join payload using (id) where id = $1"
	viewStatement = `with p as (update push set seq = seq + 1, op = $3, due = $4, value = $5 where id = $1 and seq = $2 returning id)
		insert into audit (id, number, op, value) select id, $2, $3, $6 from p`
)

// startStatements connects, with the number of connections that pushbox has, and makes the tables.
func startStatements(ctx context.Context, b *bench, s *subject) error {
	address, err := b.schema(ctx, s.name)
	if err != nil {
		return err
	}
	c, err := pgxpool.ParseConfig(address)
	if err != nil {
		return err
	}
	c.MaxConns = 16
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return err
	}
	b.ends = append(b.ends, func() error { pool.Close(); return nil })
	s.local = &statements{pool: pool, ctx: ctx}
	_, err = pool.Exec(ctx, statementTables)
	return err
}

// do writes the rows of a new push, or reads a push and counts a view if it has one left. Views of one push take turns.
func (s *statements) do(r request) (status int, answer []byte, err error) {
	if r.method != http.MethodGet {
		id := []byte(rand.Text()[:idLen])
		limit, _ := strconv.ParseInt(string(r.body), 10, 64) // the API local makes it
		_, err = s.pool.Exec(s.ctx, createStatement, id, rowOp, limit, rowValue, rowPayload, rowEntry)
		return r.status, id, err
	}
	turn, _ := s.turns.LoadOrStore(r.path, new(sync.Mutex))
	turn.(*sync.Mutex).Lock()
	defer turn.(*sync.Mutex).Unlock()
	var seq, limit int64
	var row, data []byte
	err = s.pool.QueryRow(s.ctx, loadStatement, []byte(r.path)).Scan(&seq, &limit, &row, &data)
	if err == nil && seq <= limit {
		_, err = s.pool.Exec(s.ctx, viewStatement, []byte(r.path), seq, rowOp, limit, row, rowEntry)
	}
	return r.status, nil, err
}

func (*statements) close() {}
