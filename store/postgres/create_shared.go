package postgres

import (
	"bytes"
	"context"
	"errors"
	"math"
	mathrand "math/rand/v2"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// One statement serves creates of pushes that wait at the same time. It handles the common case. If
// it does not create a push, the create is tried again alone, which finds the reason. So the shared
// statement makes no decision that the single one does not make, too.

// smallPayload is the length in bytes of the longest sealed payload of pushes that share a
// statement.
const smallPayload = 64 << 10

// A table is the columns of rows to write, as arguments of unnest.
type table struct {
	kinds []string
	args  []any
}

func addColumn[T, I any](t *table, kind string, items []I, of func(I) T) {
	list := make([]T, len(items))
	for i, item := range items {
		list[i] = of(item)
	}
	t.kinds, t.args = append(t.kinds, kind+"[]"), append(t.args, list)
}

// unnest makes a table in a statement from the columns, and hides their length from the planner
// (see planAge).
func (st *statement) unnest(t *table, names string) string {
	var args []string
	for i, kind := range t.kinds {
		args = append(args, "(select "+st.arg(kind, t.args[i])+")")
	}
	return "unnest(" + strings.Join(args, ", ") + ") as " + names
}

// An auditRow is a row of an audit log.
type auditRow struct {
	id     record.ID
	number uint32
	op     opName
	value  []byte
}

// appendAudit adds the part e: the audit rows of the pushes in p.
func appendAudit(st *statement, rows []auditRow) {
	var t table
	addColumn(&t, "bytea", rows, func(r auditRow) []byte { return r.id[:] })
	addColumn(&t, "bigint", rows, func(r auditRow) int64 { return int64(r.number) })
	addColumn(&t, "bytea", rows, func(r auditRow) []byte { return r.op[:] })
	addColumn(&t, "bytea", rows, func(r auditRow) []byte { return r.value })
	st.part("e", "insert into audit (id, number, op, value) select x.id, x.number, x.op, x.value from "+
		st.unnest(&t, "x (id, number, op, value)")+" join p using (id)")
}

// anyRoom is the key of one of the rows that anonymous clients share.
func anyRoom() []byte { return []byte{roomOfAnonymous, byte(mathrand.N(256))} }

// shares reports whether a creation may share a statement, and then prepares its rows. A push with
// an owner that counts for its client may not: a shared statement has one owner for each room.
func (n *creation) shares(ctx context.Context, s sealer) bool {
	p := n.push
	if s.newerThan(ctx) || p.Owner != 0 && p.RoomOf() != record.RoomOfAccount || p.HoldsFiles() || p.Request != (record.RequestID{}) || n.entry.Repeat != nil || n.entry.Mail != nil || len(n.entry.Messages) > 0 || len(n.payload) > smallPayload {
		return false
	}
	value, err := s.seal(tablePush, pushKey(p.ID, 1), p)
	if err != nil {
		return false
	}
	n.row = value
	for i, e := range append([]record.Entry{n.entry}, n.entry.Then...) {
		v, err := s.seal(tableAudit, auditKey(p.ID, uint32(i)), e)
		if err != nil {
			return false
		}
		n.audit = append(n.audit, auditRow{p.ID, uint32(i), n.op, v})
	}
	n.version = s.version
	return true
}

// createTogether makes one attempt for all. Afterwards, made says which it created, and tried which
// it may have created.
func (db *DB) createTogether(all []*creation) error {
	var made [][]byte
	err := db.attempt(context.Background(), func(ctx context.Context, c *pgxpool.Conn) error {
		some, accounts, err := sealer{db.ring.Load()}.withOwners(ctx, c, all)
		if err != nil {
			return err
		}
		st := db.creations(some, accounts)
		made, err = collect(ctx, c, pgx.RowTo[[]byte], st.text("select id from p"), db.often(c, st.args...)...)
		return err
	})
	db.met.shared(err)
	for _, n := range all {
		n.tried = errors.Is(err, errUnknown)
		n.made = err == nil && slices.ContainsFunc(made, func(id []byte) bool { return bytes.Equal(id, n.push.ID[:]) })
	}
	return err
}

// An ownerRow is the row of an account that was read.
type ownerRow struct {
	id  record.AccountID
	row []byte
}

// withOwners returns the creations without an owner or whose owner may create, and the rows of the
// owners.
func (s sealer) withOwners(ctx context.Context, c *pgxpool.Conn, all []*creation) (some []*creation, accounts []ownerRow, err error) {
	var ids []int64
	for _, n := range all {
		if id := int64(n.push.Owner); id != 0 && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return all, nil, nil
	}
	owners := layouts[record.Accounts.Table]
	accounts, err = collect(ctx, c, func(r pgx.CollectableRow) (ownerRow, error) {
		one, stored, err := owners.scan(s, record.Accounts.Table, r)
		if err != nil || !one.(record.Account).Active() {
			return ownerRow{}, err
		}
		return ownerRow{one.(record.Account).ID, stored}, nil
	}, owners.selects("")+" where id = any ($1)", ids)
	for _, n := range all {
		if n.push.Owner == 0 || slices.ContainsFunc(accounts, func(a ownerRow) bool { return a.id == n.push.Owner }) {
			some = append(some, n)
		}
	}
	return some, accounts, err
}

// A roomRow is the room that creations of one sender need.
type roomRow struct {
	key         []byte
	owner       record.AccountID
	takes, most record.Room
}

// fits reports whether the room is within the limit of a sender without other pushes.
func (r roomRow) fits() bool { return r.takes.Within(r.most) }

// roomRows adds up the room of creations by sender, and drops those of senders without room for all
// of them.
func roomRows(all []*creation) (some []*creation, rooms []roomRow) {
	byKey := make(map[string]roomRow)
	for _, n := range all {
		if own, _ := roomKeys(n.push); own != nil {
			r := byKey[string(own)]
			byKey[string(own)] = roomRow{own, n.push.Owner, r.takes.Plus(n.push.Room()), n.mostRoom()}
		}
	}
	for _, n := range all {
		own, _ := roomKeys(n.push)
		if own == nil || byKey[string(own)].fits() {
			some = append(some, n)
		}
	}
	for _, r := range byKey {
		if r.fits() {
			rooms = append(rooms, r)
		}
	}
	return some, rooms
}

// creations makes the statement: the key ring (k), the owners (a) and the room of the senders (r)
// first, then the pushes (p) for which these conditions hold, and the rows of these pushes.
func (db *DB) creations(all []*creation, accounts []ownerRow) *statement {
	all, rooms := roomRows(all)
	st := &statement{}
	version := int64(math.MaxInt64)
	var audit []auditRow
	for _, n := range all {
		version, audit = min(version, n.version), append(audit, n.audit...)
	}
	st.part("k", "select 1 from ring where floor <= "+st.arg("bigint", version))
	var t table
	addColumn(&t, "bytea", all, func(n *creation) []byte { return n.push.ID[:] })
	addColumn(&t, "bytea", all, func(n *creation) []byte { return n.op[:] })
	addColumn(&t, "bigint", all, func(n *creation) int64 { return columnsOf(n.push).owner })
	addColumn(&t, "boolean", all, func(n *creation) bool { return columnsOf(n.push).live })
	addColumn(&t, "smallint", all, func(n *creation) int16 { return columnsOf(n.push).queue })
	addColumn(&t, "bigint", all, func(n *creation) int64 { return columnsOf(n.push).due })
	addColumn(&t, "bytea", all, func(n *creation) []byte { return n.row })
	addColumn(&t, "bigint", all, func(n *creation) int64 { return digest(n.payload) })
	addColumn(&t, "bytea", all, func(n *creation) []byte { return n.payload })
	addColumn(&t, "bytea", all, func(n *creation) []byte { own, _ := roomKeys(n.push); return own })
	addColumn(&t, "bigint", all, func(n *creation) int64 { return n.push.Room().Bytes })
	st.part("v", "select * from "+st.unnest(&t, "v (id, op, owner, live, queue, due, value, sum, data, own, bytes)"))
	owned := ""
	if len(accounts) > 0 {
		var t table
		addColumn(&t, "bigint", accounts, func(a ownerRow) int64 { return int64(a.id) })
		addColumn(&t, "bytea", accounts, func(a ownerRow) []byte { return a.row })
		st.part("a", "select t.id from account t join "+st.unnest(&t, "x (id, value)")+" on t.id = x.id and t.value = x.value order by t.id for key share of t")
		owned = " and (owner = 0 or owner in (select id from a))"
	}
	held := ""
	if len(rooms) > 0 {
		holdRooms(st, rooms, owned)
		held = " and (own is null or own in (select key from r))"
	}
	st.part("p", "insert into push (id, seq, op, owner, live, queue, due, value) select id, 1, op, owner, live, queue, due, value from v, k where true"+owned+held+" returning id")
	st.part("y", "insert into payload (id, sum, data) select id, v.sum, v.data from v join p using (id) where octet_length(v.data) > 0")
	st.part("w", `insert into room as m (key, pushes, bytes) select `+st.arg("bytea", anyRoom())+`, count(*), sum(v.bytes) from v join p using (id) where v.owner = 0 having count(*) > 0
		on conflict (key) do update set pushes = m.pushes + excluded.pushes, bytes = m.bytes + excluded.bytes`)
	appendAudit(st, audit)
	return st
}

// holdRooms adds the part r: the rows of the senders with room for all their creations.
func holdRooms(st *statement, rooms []roomRow, owned string) {
	var t table
	addColumn(&t, "bytea", rooms, func(r roomRow) []byte { return r.key })
	addColumn(&t, "bigint", rooms, func(r roomRow) int64 { return int64(r.owner) })
	addColumn(&t, "bigint", rooms, func(r roomRow) int64 { return int64(r.takes.Pushes) })
	addColumn(&t, "bigint", rooms, func(r roomRow) int64 { return r.takes.Bytes })
	addColumn(&t, "bigint", rooms, func(r roomRow) int64 { return limitOf(int64(r.most.Pushes)) })
	addColumn(&t, "bigint", rooms, func(r roomRow) int64 { return limitOf(r.most.Bytes) })
	st.part("u", "select * from "+st.unnest(&t, "u (key, owner, pushes, bytes, most_pushes, most_bytes)"))
	st.part("r", "insert into room as m (key, pushes, bytes) select u.key, u.pushes, u.bytes from u, k where true"+owned+` order by u.key
		on conflict (key) do update set pushes = m.pushes + excluded.pushes, bytes = m.bytes + excluded.bytes
		where exists (select from u where u.key = m.key and m.pushes + excluded.pushes <= u.most_pushes and m.bytes + excluded.bytes <= u.most_bytes) returning key`)
}

// limitOf returns a limit; 0 means no limit.
func limitOf(n int64) int64 {
	if n == 0 {
		return math.MaxInt64
	}
	return n
}
