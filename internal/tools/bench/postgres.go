package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"pushbox/internal/tools/tool"
)

// The subjects of the command postgres.
const (
	pgxWord    = "pgx"                  // bare statements
	oneServer  = "postgres"             // a server over a database
	twoServers = "postgres, two"        // two servers over one database
	oneLarge   = "postgres, many"       // a server over a database with many pushes
	oneFile    = "bbolt"                // a server over a file
	hotView    = "view of one push"     // by all connections at once, with few views left
	listPage   = "list page"            // the first page of an account's pushes
	auditPage  = "audit page"           // of a push
	hotLimit   = 100                    // views of a push of hotView
	filesLeft  = ".key"                 // suffix of the files with master keys
	dbVariable = "PUSHBOX_DATABASE_URL" // the setting
)

// postgresOperations are the operations of the command postgres, in the order of the report.
var postgresOperations = []string{createPush, plainView, hotView, listPage, auditPage}

// A mark of the command postgres is a ratio of two subjects for the same operation.
type postgresMark struct {
	operation, subject, to string
	least                  float64
}

var postgresMarks = []postgresMark{
	{createPush, oneServer, pgxWord, 0.7},
	{plainView, oneServer, pgxWord, 0.5},
	{hotView, oneServer, pgxWord, 0.2},
	{createPush, twoServers, oneServer, 1.0},
	{plainView, twoServers, oneServer, 1.0},
	{createPush, oneLarge, oneServer, 0.8},
	{plainView, oneLarge, oneServer, 0.8},
	{listPage, oneLarge, oneServer, 0.8},
	{auditPage, oneLarge, oneServer, 0.8},
}

// comparePostgres measures bare statements and servers in turns, and prints the report.
func (b *bench) comparePostgres(ctx context.Context, out io.Writer) error {
	path, bare := b.o.subjects[0].path, apis["v2"]
	names := []string{oneServer, twoServers}
	if b.o.many > 0 {
		names = append(names, oneLarge)
	}
	b.subjects = []*subject{{spec: spec{name: pgxWord, api: bare}}, {spec: spec{name: oneFile, path: path, api: bare}}}
	for _, name := range names {
		b.subjects = append(b.subjects, &subject{spec: spec{name: name, path: path, api: bare}})
	}
	b.o.only = append(b.o.only, createPush) // and no operations of file pushes and passphrases
	r := newReport(b)
	var ops []operation
	for _, s := range b.subjects {
		if err := b.readyPostgres(ctx, s); err != nil {
			return err
		}
		ops = append(ops, s.postgresOperations(b.o)...)
	}
	for _, conns := range b.o.connections {
		b.say("%d connections", conns)
		laps, err := b.rounds(ctx, ops, conns)
		if err != nil {
			return err
		}
		r.addPostgres(conns, ops, laps)
	}
	if b.o.json {
		return r.writeJSON(out)
	}
	return r.writePostgres(out)
}

// readyPostgres starts a subject over a schema of its own, and stores pushes.
func (b *bench) readyPostgres(ctx context.Context, s *subject) error {
	o := b.o
	switch s.name {
	case oneFile:
		s.owned = true
		return b.ready(ctx, s)
	case oneLarge:
		o.stored = o.many
	}
	address, err := b.schema(ctx, s.name)
	if err != nil {
		return err
	}
	if s.name == pgxWord {
		if s.statements, err = openStatements(ctx, address); err == nil {
			err = s.statements.fill(ctx, b.o.stored)
		}
		return err
	}
	s.owned, s.settings = true, []string{dbVariable + "=" + address, "PUSHBOX_MASTER_KEY_FILE=" + filepath.Join(b.dir, s.name+filesLeft)}
	if s.name == twoServers {
		s.servers = 2
	}
	if err := s.start(ctx, b.dir); err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	b.say("%s: store %d pushes", s.name, o.stored)
	return s.fill(ctx, o)
}

// schema makes an empty schema in the database, and returns the address that leads there.
func (b *bench) schema(ctx context.Context, of string) (address string, err error) {
	name := "bench_" + strings.NewReplacer(", ", "_").Replace(of)
	c, err := pgx.Connect(ctx, b.o.database)
	if err != nil {
		return "", err
	}
	for _, statement := range []string{"drop schema if exists " + name + " cascade", "create schema " + name} {
		if _, err := c.Exec(ctx, statement); err != nil {
			return "", errors.Join(err, c.Close(ctx))
		}
	}
	b.schemas = append(b.schemas, name)
	return within(b.o.database, name), c.Close(ctx)
}

// within is the address of a schema of a database, in either form that libpq takes.
func within(database, schema string) string {
	switch {
	case !strings.HasPrefix(database, "postgres"):
		return database + " search_path=" + schema
	case strings.Contains(database, "?"):
		return database + "&search_path=" + schema
	default:
		return database + "?search_path=" + schema
	}
}

// dropSchemas removes what schema made.
func (b *bench) dropSchemas() error {
	if len(b.schemas) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := pgx.Connect(ctx, b.o.database)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, "drop schema "+strings.Join(b.schemas, ", ")+" cascade")
	return errors.Join(err, c.Close(ctx))
}

// postgresOperations returns the operations of a subject, in the order of the report.
func (s *subject) postgresOperations(o options) (all []operation) {
	p := push{payload: payload(o.payload), views: fewViews}
	hot := p
	hot.views = hotLimit
	created := func(answer []byte) error { _, err := s.api.tokenIn(answer); return err }
	viewed := func(answer []byte) error { return s.api.checkView(answer, p.payload) }
	shown := func([]byte) error { return nil } // the status says it
	list := request{method: http.MethodGet, path: "/api/v2/pushes/active", status: http.StatusOK, authorized: true}
	audit := func(token string) request {
		return request{method: http.MethodGet, path: "/api/v2/pushes/" + token + "/audit", status: http.StatusOK, authorized: true}
	}
	all = []operation{
		{name: createPush, next: always(s.create(p)), check: created},
		{name: plainView, next: oneOf(s.tokens, s.api.view), check: viewed},
		hotOperation(s.create(hot), s.api.view),
	}
	if s.name == pgxWord {
		all = []operation{
			{name: createPush, next: always(request{path: pgxCreate}), check: shown},
			{name: plainView, next: s.statements.anyPush, check: shown},
			{name: hotView, next: s.statements.hotPush, check: shown},
		}
	} else {
		all = append(all, operation{name: listPage, next: always(list), check: shown},
			operation{name: auditPage, next: oneOf(s.tokens[:min(len(s.tokens), kept)], audit), check: shown})
	}
	for i := range all {
		all[i].subject = s
	}
	return slices.DeleteFunc(all, func(op operation) bool { return len(o.postgresOnly) > 0 && !slices.Contains(o.postgresOnly, op.name) })
}

// hotReaders is how many requests are made for one push of hotView, one after the other of
// all connections together: more than it allows views, so that some find that it has ended.
const hotReaders = 256

// hotOperation asks for one push until it has been asked for hotReaders times, then for the
// next.
func hotOperation(create request, view func(token string) request) operation {
	st := &stock{create: create}
	var mu sync.Mutex
	var token string
	left := 0
	return operation{name: hotView, stock: st, check: func([]byte) error { return nil }, next: func() (request, bool) {
		mu.Lock()
		defer mu.Unlock()
		if left == 0 {
			var ok bool
			if token, ok = st.take(); !ok {
				return request{}, false
			}
			left = hotReaders
		}
		left--
		return view(token), true
	}}
}

// anyPush is a view of one of the stored pushes.
func (s *statements) anyPush() (request, bool) {
	return request{path: pgxView, body: s.ids[rand.IntN(len(s.ids))]}, true
}

// addPostgres adds the results, each with its ratio to the other subjects in the same
// rounds.
func (r *report) addPostgres(conns int, ops []operation, laps [][]lap) {
	r.sections = append(r.sections, conns)
	for i, op := range ops {
		v := newResult(conns, op, laps[i], laps[i])
		v.To = make(map[string]float64)
		for j, other := range ops {
			if other.name == op.name && i != j {
				v.To[other.subject.name] = rateRatio(laps[i], laps[j])
			}
		}
		r.Results = append(r.Results, v)
	}
	for _, m := range postgresMarks {
		for _, v := range r.Results {
			if found, ok := v.To[m.to]; ok && v.Subject == m.subject && v.Operation == m.operation && v.Connections == conns {
				r.Marks = append(r.Marks, verdict{conns, v.Subject, v.Operation, m.to, m.least, found, found >= m.least})
			}
		}
	}
}

// writePostgres writes Markdown.
func (r *report) writePostgres(out io.Writer) error {
	var b strings.Builder
	r.writeHeader(&b)
	for _, conns := range r.sections {
		fmt.Fprintf(&b, "\n### Connections: %d\n\n| operation | subject | per second | to pgx | to bbolt | to one server | p50 ms | p99 ms | CPU µs |\n|---|---|---|---|---|---|---|---|---|\n", conns)
		for _, name := range postgresOperations {
			for _, v := range r.Results {
				if v.Connections == conns && v.Operation == name {
					fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %.2f | %.2f | %s |\n", name, v.Subject, grouped(v.Rate),
						toCell(v, pgxWord), toCell(v, oneFile), toCell(v, oneServer), v.P50, v.P99, cell(v.CPU, 1, 1))
				}
			}
		}
	}
	r.writeMarks(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

// toCell is the ratio of a result to that of a subject.
func toCell(v result, subject string) string {
	ratio, ok := v.To[subject]
	if !ok {
		return ""
	}
	return cell(&ratio, 1, 2)
}

// setPostgresOnly reads a list of operations of the command postgres.
func (o *options) setPostgresOnly(list string) error {
	for name := range strings.SplitSeq(list, ",") {
		if !slices.Contains(postgresOperations, name) {
			return tool.Usagef("with postgres, each must be one of %s", strings.Join(postgresOperations, ", "))
		}
		o.postgresOnly = append(o.postgresOnly, name)
	}
	return nil
}
