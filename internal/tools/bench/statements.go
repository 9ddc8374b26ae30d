package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"
)

// What a request to bare statements does.
const (
	pgxCreate = "create"
	pgxView   = "view" // of the push whose ID is the body
	pgxHot    = "hot"  // the same, in turn with others of that push
)

// The lengths in bytes of what pushbox keeps of a push with a payload of 200 bytes.
const (
	rowLen     = 160
	payloadLen = 240
	entryLen   = 112
)

// statements are bare statements over pgx: they write rows as many and as long as those of
// pushbox, with the same indexes and the same compare-and-swap, and decide nothing.
type statements struct {
	pool *pgxpool.Pool
	ids  [][]byte // of the pushes to view

	mu    sync.Mutex
	hot   []byte   // the push of hotView
	left  int      // how often it is asked for yet
	turns sync.Map // ID → *sync.Mutex
}

const (
	statementTables = `
create table push (id bytea primary key, seq bigint not null, op bytea not null, owner bigint not null, live boolean not null, queue smallint not null, due bigint not null, value bytea not null) with (fillfactor = 85);
create index push_owner on push (owner, live, id) where owner <> 0;
create index push_due on push (queue, due, id);
create table payload (id bytea primary key, sum bigint not null, data bytea not null);
create table audit (id bytea, number bigint, op bytea not null, value bytea not null, primary key (id, number));`
	createStatement = `with p as (insert into push (id, seq, op, owner, live, queue, due, value) values ($1, 1, $2, 0, true, 1, $3, $4) returning id),
		y as (insert into payload (id, sum, data) select id, 1, $5 from p)
		insert into audit (id, number, op, value) select id, 0, $2, $6 from p`
	loadStatement = "select seq, value, data from push left join payload using (id) where id = $1"
	viewStatement = `with p as (update push set seq = seq + 1, op = $3, due = $4, value = $5 where id = $1 and seq = $2 returning id)
		insert into audit (id, number, op, value) select id, $2, $3, $6 from p`
)

// poolSize is how many connections pushbox opens to its database.
const poolSize = 16

// openStatements connects, with the number of connections that pushbox has, and makes the
// tables.
func openStatements(ctx context.Context, address string) (*statements, error) {
	c, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	c.MaxConns = poolSize
	pool, err := pgxpool.NewWithConfig(ctx, c)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, statementTables); err != nil {
		pool.Close()
		return nil, err
	}
	return &statements{pool: pool}, nil
}

// fill stores the pushes for views.
func (s *statements) fill(ctx context.Context, n int) error {
	for range n {
		id, err := s.create(ctx)
		if err != nil {
			return err
		}
		s.ids = append(s.ids, id)
	}
	return nil
}

func (s *statements) create(ctx context.Context) (id []byte, err error) {
	id = make([]byte, idLen)
	_, _ = rand.Read(id) // never fails
	op := make([]byte, 16)
	_, err = s.pool.Exec(ctx, createStatement, id, op, int64(1)<<40, make([]byte, rowLen), make([]byte, payloadLen), make([]byte, entryLen))
	return id, err
}

// view reads a push and counts a view, until no other view came first.
func (s *statements) view(ctx context.Context, id []byte, most int64) error {
	for {
		var seq int64
		var row, data []byte
		if err := s.pool.QueryRow(ctx, loadStatement, id).Scan(&seq, &row, &data); err != nil {
			return err
		}
		if seq > most {
			return nil
		}
		t, err := s.pool.Exec(ctx, viewStatement, id, seq, make([]byte, 16), int64(1)<<40, row, make([]byte, entryLen))
		if err != nil || t.RowsAffected() == 1 {
			return err
		}
	}
}

// hotPush is a view of one push by all, until it has been asked for hotReaders times.
func (s *statements) hotPush() (request, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		id, err := s.create(ctx)
		if err != nil {
			return request{}, false
		}
		s.hot, s.left = id, hotReaders
	}
	s.left--
	return request{path: pgxHot, body: s.hot}, true
}

// A statementClient sends bare statements as a client sends requests.
type statementClient struct{ s *statements }

func (c statementClient) do(ctx context.Context, r request) ([]byte, error) {
	switch r.path {
	case pgxCreate:
		return c.s.create(ctx)
	case pgxView:
		return nil, c.s.view(ctx, r.body, 1<<62)
	case pgxHot:
		turn, _ := c.s.turns.LoadOrStore(string(r.body), new(sync.Mutex))
		turn.(*sync.Mutex).Lock()
		defer turn.(*sync.Mutex).Unlock()
		return nil, c.s.view(ctx, r.body, hotLimit)
	default:
		return nil, fmt.Errorf("there is no statement %s", r.path)
	}
}

func (statementClient) close() {}
