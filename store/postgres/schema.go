package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pushbox/store/record"
)

// The tables. Their names are those of the buckets in row tags. Numbers in the keys of tags are big
// endian; times are milliseconds since 1970. A value is a record with its tag, unless a comment
// says otherwise.
const (
	tablePush    = "push"
	tableAudit   = "audit"
	tableGrants  = "grants"
	tableAccount = "account"
	tableSession = "session"
	tableToken   = "token"
	tableHook    = "hook"
	tableRequest = "request"
	tableOutbox  = "outbox"
	tableQuota   = "quota"
	tableEvent   = "event"
	tableHead    = "head"
	tableMeta    = "meta"
)

// A migration upgrades a database from one schema to the next.
type migration struct {
	text string
	// oldest is the lowest schema whose programs may keep using the database after the migration:
	// they must find all that they read, and newer programs must understand what they write. So
	// servers can be upgraded one after another. If older programs may not use the database, oldest
	// is the schema that the migration makes.
	oldest int
}

// migrations make the present schema: the first makes schema 1. A merged migration never changes:
// testdata/formats.txt pins it. A change of a record needs another migration, even if it changes no
// table. A migration keeps oldest if it only adds tables, or columns with a default that is right
// for rows of older programs. It also keeps oldest if programs of the schemas from oldest on can
// still read the records that newer ones write.
var migrations = withAdded([]migration{{oldest: 1, text: `
create table ring (
	one boolean primary key check (one),
	version bigint not null, -- grows with each ring
	floor bigint not null,   -- who knows only rings of lower versions may write nothing
	sealed bytea             -- without a tag: it is sealed
);
insert into ring values (true, 0, 0, null);
create table meta (name text primary key, value bytea not null);

create table push (
	id bytea primary key,
	seq bigint not null, -- the number of changes of the row: what a change compares
	op bytea not null,   -- names the attempt that wrote the row
	owner bigint not null,
	live boolean not null,
	queue smallint not null,
	due bigint not null,
	value bytea not null
) with (fillfactor = 85);
create index push_owner on push (owner, live, id) where owner <> 0;
create index push_due on push (queue, due, id);
create table payload (id bytea primary key, sum bigint not null, data bytea not null);
create table audit (
	id bytea, number bigint, op bytea not null, value bytea not null,
	primary key (id, number)
);
create table orphan (id bytea primary key);
create table chunk (
	id bytea, file integer, number bigint, sum bigint not null, data bytea not null,
	primary key (id, file, number)
);
create table grants (
	id bytea, digest bytea, ends bigint not null, value bytea not null,
	primary key (id, digest)
);
create index grants_digest on grants (digest);

create table account (
	id bigint primary key, email bytea not null unique,
	identities bytea[] not null, -- their digests
	value bytea not null
);
create index account_identities on account using gin (identities);
create table session (digest bytea primary key, id bigint not null, owner bigint not null, value bytea not null);
create index session_owner on session (owner, id);
create table token (digest bytea primary key, id bigint not null unique, owner bigint not null, value bytea not null);
create index token_owner on token (owner, id);
create table hook (owner bigint, id bigint, value bytea not null, primary key (owner, id));
create table request (id bytea primary key, owner bigint not null, live boolean not null, value bytea not null);
create index request_owner on request (owner, live, id);

create table outbox (
	number bigint primary key,
	next_at bigint not null,
	route smallint not null,
	recipient bigint not null,
	lease bigint not null, -- until when one process alone sends it
	holder bytea not null, -- that process
	value bytea not null
);
create index outbox_next on outbox (next_at, number);
create table quota (of bytea primary key, value bytea not null);
create table room (key bytea primary key, pushes bigint not null, bytes bigint not null);
create table tally (
	of smallint, key bytea,
	op bytea not null,      -- names the attempt that wrote the row: what another compares
	forget bigint not null, -- when the last try may be forgotten, in microseconds since 1970
	tries bytea not null,   -- their times, in order, as such numbers of eight bytes
	primary key (of, key)
);

create table event (number bigint primary key, op bytea not null, value bytea not null);
create table head (one boolean primary key check (one), op bytea not null, value bytea);
insert into head values (true, '', null);
`}, {oldest: 2, text: `
-- Builds between two releases gave the number 1 to tables without these, too.
select identities from account where false;
select id from request where false;
`}, {oldest: 3, text: `
-- Records of pushes, accounts and webhooks have further parts.
select id from push where false;
`}, {oldest: 4, text: `
-- Records of pushes have further flags.
select id from push where false;
`}})

// withAdded puts in the migrations of tables that were added, each with the number that its table says.
// Programs without the table may not continue: they would leave its records behind when they remove an account.
func withAdded(all []migration) []migration {
	for _, of := range record.Tables() {
		if n := of.Added.Postgres; n > 0 {
			text := "\ncreate table " + of.Name + " (owner bigint, id bigint, value bytea not null, primary key (owner, id));\n"
			if !of.Placed {
				text = "\ncreate table " + of.Name + " (id bytea primary key, value bytea not null);\n"
			}
			all = slices.Insert(all, n-1, migration{text, n})
		}
	}
	return all
}

// migrationLock is the key of the advisory lock that a migration holds until it commits, so that
// two concurrent first starts make one schema.
const migrationLock = 0x707573_68626f78

// A schema describes the tables of a database.
type schema struct {
	number int // 0: it has no tables of pushbox
	oldest int // programs that know only schemas below this may not use it
}

// bytes encodes the schema for the row of meta, without a tag.
func (s schema) bytes() []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(s.number)), uint32(s.oldest))
}

// refuses returns record.ErrSchema if a program that knows schemas up to that number may not
// use the database.
func (s schema) refuses(known int) error {
	if s.oldest <= known {
		return nil
	}
	return fmt.Errorf("%w: its schema number is %d, for versions that know %d or later, and this version knows %d", record.ErrSchema, s.number, s.oldest, known)
}

// migrate upgrades the database to the present schema in one transaction, and reports whether it
// was empty. It waits for locks only as long as running servers can wait behind it, and then begins
// again.
func (db *DB) migrate(ctx context.Context) (created bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, migrationTime)
	defer cancel()
	for {
		err = pgx.BeginFunc(ctx, db.pool, func(t pgx.Tx) error {
			created, err = db.migrateIn(ctx, t)
			return err
		})
		var p *pgconn.PgError
		if !hasCode(err, lockTimeout) && (!errors.As(err, &p) || !strings.HasPrefix(p.Code, rollback)) {
			break
		}
		if err := db.pause(ctx, 1, 0); err != nil {
			break
		}
	}
	if err == nil || errors.Is(err, record.ErrSchema) {
		return created, err
	}
	if err = db.named(err); !errors.Is(err, record.ErrUnavailable) {
		err = fmt.Errorf("prepare the schema: %w", err)
	}
	return created, err
}

func (db *DB) migrateIn(ctx context.Context, t pgx.Tx) (created bool, err error) {
	if _, err := t.Exec(ctx, "select pg_advisory_xact_lock($1::bigint)", int64(migrationLock)); err != nil {
		return false, err
	}
	found, err := schemaOf(ctx, t)
	if err != nil {
		return false, err
	}
	known := db.migrations()
	if found.number >= len(known) {
		return false, found.refuses(len(known))
	}
	if _, err := t.Exec(ctx, "set local lock_timeout = '"+lockWait+"'", pgx.QueryExecModeSimpleProtocol); err != nil {
		return false, err
	}
	next := schema{number: len(known), oldest: found.oldest}
	for _, m := range known[found.number:] {
		next.oldest = max(next.oldest, m.oldest)
	}
	ends := found.number > 0 && next.oldest > found.number // running servers may not continue
	if ends {
		// Each writing statement reads the ring, so earlier ones have ended then.
		if _, err := t.Exec(ctx, "lock table ring in access exclusive mode"); err != nil {
			return false, err
		}
	}
	for _, m := range known[found.number:] {
		if _, err := t.Exec(ctx, m.text, pgx.QueryExecModeSimpleProtocol); err != nil {
			return false, err
		}
	}
	if ends {
		if _, err := t.Exec(ctx, "update ring set version = version + 1, floor = greatest(floor, version + 1)"); err != nil {
			return false, err
		}
	}
	_, err = t.Exec(ctx, "insert into meta values ('schema', $1) on conflict (name) do update set value = excluded.value", next.bytes())
	return found.number == 0, err
}

// migrations returns the migrations of this program.
func (db *DB) migrations() []migration {
	return append(slices.Clone(migrations), db.opts.more...)
}

const (
	migrationTime = 5 * time.Minute // bounds a migration, with the wait for another one
	lockWait      = "2s"            // the wait for a lock, while others wait behind it
)

// schemaOf returns the schema of a database.
func schemaOf(ctx context.Context, t pgx.Tx) (s schema, err error) {
	var there bool
	if err := t.QueryRow(ctx, "select to_regclass('meta') is not null").Scan(&there); err != nil || !there {
		return s, err
	}
	var v []byte
	err = t.QueryRow(ctx, "select value from meta where name = 'schema'").Scan(&v)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return s, err
	}
	return parseSchema(v)
}

func parseSchema(v []byte) (s schema, err error) {
	if len(v) != len(schema{}.bytes()) {
		return s, fmt.Errorf("%w: it has a table meta, and no schema number in it: use a database of its own for pushbox", record.ErrSchema)
	}
	return schema{int(binary.BigEndian.Uint32(v)), int(binary.BigEndian.Uint32(v[4:]))}, nil
}

// outdate ends the engine, because a later version has changed the database and this one may no
// longer use it.
func (db *DB) outdate(err error) {
	db.outdated.Do(func() {
		db.failure = fmt.Errorf("%w: a later version of pushbox was started over the database: %w", record.ErrFailed, err)
		close(db.failed)
	})
}
