package postgres

import (
	"bytes"
	"context"
	"errors"
	"math"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// Creates, changes and reads of pushes that wait at the same time are served by one
// statement. Such a statement does what is common, and what it leaves undone is then tried
// by itself, which finds out why. So none of this decides anything that a step by itself
// does not decide, too.

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

// unnest makes a table of a statement of its columns, whose length the planner does not see
// (collectOften).
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

// appendAudit adds the part e: the rows of the pushes that p has.
func appendAudit(st *statement, rows []auditRow) {
	var t table
	addColumn(&t, "bytea", rows, func(r auditRow) []byte { return r.id[:] })
	addColumn(&t, "bigint", rows, func(r auditRow) int64 { return int64(r.number) })
	addColumn(&t, "bytea", rows, func(r auditRow) []byte { return r.op[:] })
	addColumn(&t, "bytea", rows, func(r auditRow) []byte { return r.value })
	st.part("e", "insert into audit (id, number, op, value) select x.id, x.number, x.op, x.value from "+
		st.unnest(&t, "x (id, number, op, value)")+" join p using (id)")
}

// pushRow is what a statement writes to the row of a push.
type pushRow struct {
	id      record.ID
	seq     int64 // that the row has after it
	op      opName
	columns columns
	value   []byte
}

// rowColumns adds the columns id, seq, op, owner, live, queue, due and value.
func rowColumns[I any](t *table, items []I, of func(I) pushRow) {
	addColumn(t, "bytea", items, func(i I) []byte { r := of(i); return r.id[:] })
	addColumn(t, "bigint", items, func(i I) int64 { return of(i).seq })
	addColumn(t, "bytea", items, func(i I) []byte { r := of(i); return r.op[:] })
	addColumn(t, "bigint", items, func(i I) int64 { return of(i).columns.owner })
	addColumn(t, "boolean", items, func(i I) bool { return of(i).columns.live })
	addColumn(t, "smallint", items, func(i I) int16 { return of(i).columns.queue })
	addColumn(t, "bigint", items, func(i I) int64 { return of(i).columns.due })
	addColumn(t, "bytea", items, func(i I) []byte { return of(i).value })
}

// anyRoom is the key of one of the rows that anonymous clients share.
func anyRoom() []byte { return []byte{roomOfAnonymous, byte(mathrand.N(256))} }

// shares reports whether a creation may share a statement. It prepares its rows then. That of an
// account whose pushes count for its client may not: a shared statement has one owner for each room.
func (n *creation) shares(ctx context.Context, s sealer) bool {
	p := n.push
	if s.newerThan(ctx) || p.Owner != 0 && p.RoomOf() != record.RoomOfAccount || p.HoldsFiles() || p.Request != (record.RequestID{}) || n.entry.Mail != nil || len(n.entry.Messages) > 0 || len(n.payload) > smallPayload {
		return false
	}
	value, err := s.seal(tablePush, pushKey(p.ID, 1), p)
	if err != nil {
		return false
	}
	n.row = pushRow{p.ID, 1, n.op, columnsOf(p), value}
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

// createTogether makes one attempt for all. Afterwards, made tells which it created, and
// tried that it may have.
func (db *DB) createTogether(all []*creation) error {
	var made [][]byte
	err := db.attempt(context.Background(), func(ctx context.Context, c *pgxpool.Conn) error {
		some, accounts, err := sealer{db.ring.Load()}.withOwners(ctx, c, all)
		if err != nil {
			return err
		}
		st := db.creations(some, accounts)
		made, err = collectOften(ctx, db, c, pgx.RowTo[[]byte], st.text("select id from p"), st.args...)
		return err
	})
	db.met.shared(err)
	for _, n := range all {
		n.tried = errors.Is(err, errUnknown)
		n.made = err == nil && slices.ContainsFunc(made, func(id []byte) bool { return bytes.Equal(id, n.push.ID[:]) })
	}
	return err
}

// An ownerRow is the row of an account as it was read.
type ownerRow struct {
	id  record.AccountID
	row []byte
}

// withOwners returns the creations whose owners, if they have one, may create, and the rows
// that say so.
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
	}, owners.selects()+" where id = any ($1)", ids)
	for _, n := range all {
		if n.push.Owner == 0 || slices.ContainsFunc(accounts, func(a ownerRow) bool { return a.id == n.push.Owner }) {
			some = append(some, n)
		}
	}
	return some, accounts, err
}

// A roomRow is the room that creations of one sender take.
type roomRow struct {
	key         []byte
	owner       record.AccountID
	takes, most record.Room
}

// fits reports whether the sender may have all of it, if there is nothing else.
func (r roomRow) fits() bool { return r.takes.Within(r.most) }

// roomRows adds up what the senders of creations take, and leaves out those of senders who
// have no room for all of them.
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

// creations makes the statement: the key ring (k), the owners (a) and the room of the
// senders (r) first, then the pushes (p) for which these are as they must be, and what
// belongs to them.
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
	rowColumns(&t, all, func(n *creation) pushRow { return n.row })
	addColumn(&t, "bigint", all, func(n *creation) int64 { return digest(n.payload) })
	addColumn(&t, "bytea", all, func(n *creation) []byte { return n.payload })
	addColumn(&t, "bytea", all, func(n *creation) []byte { own, _ := roomKeys(n.push); return own })
	addColumn(&t, "bigint", all, func(n *creation) int64 { return n.push.Room().Bytes })
	st.part("v", "select * from "+st.unnest(&t, "v (id, seq, op, owner, live, queue, due, value, sum, data, own, bytes)"))
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
	st.part("p", "insert into push (id, seq, op, owner, live, queue, due, value) select id, seq, op, owner, live, queue, due, value from v, k where true"+owned+held+" returning id")
	st.part("y", "insert into payload (id, sum, data) select id, v.sum, v.data from v join p using (id) where octet_length(v.data) > 0")
	st.part("w", `insert into room as m (key, pushes, bytes) select `+st.arg("bytea", anyRoom())+`, count(*), sum(v.bytes) from v join p using (id) where v.owner = 0 having count(*) > 0
		on conflict (key) do update set pushes = m.pushes + excluded.pushes, bytes = m.bytes + excluded.bytes`)
	appendAudit(st, audit)
	return st
}

// holdRooms adds the part r: the rows of the senders who have room for all that they take.
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

// limitOf is a limit of which 0 is none.
func limitOf(n int64) int64 {
	if n == 0 {
		return math.MaxInt64
	}
	return n
}

// A sharedChange is one or more changes of a push, one after the other, that may share a
// statement: of its row, its payload and its audit log.
type sharedChange struct {
	was     int64   // the number of changes of the row before the first
	row     pushRow // after the last
	audit   []auditRow
	version int64
	ends    bool        // the payload goes
	room    record.Room // that the sender has more
	keys    [][]byte    // of rows of room
	done    bool
	tried   bool // it may have been done
}

// changeInChain makes changes of a push that wait together, one after the other, by one
// write, as far as they may share a statement. It decides by what is known of the push, or
// by what it reads without a promise: only a write that succeeds shows that this was right.
func (db *DB) changeInChain(id record.ID, t *turn, all []*pushChange) error {
	if err := db.beginTurn(context.Background(), t, time.Now()); err != nil {
		return err
	}
	defer t.end()
	s := sealer{db.ring.Load()}
	w, err := db.newest(s, id, t)
	if w == nil || w.floor > s.version {
		return err
	}
	c := &sharedChange{was: w.seq, version: s.version}
	var chain []*pushChange
	for _, ch := range all {
		if next := ch.plans(s, *w, c); next != nil {
			chain, w = append(chain, ch), next
		}
	}
	if len(chain) == 0 {
		t.known = w
		return nil
	}
	db.changes.do(context.Background(), c, db.changeTogether)
	for _, ch := range chain {
		ch.written = c.done
		if !c.tried {
			ch.trials = nil
		}
	}
	if c.done {
		t.known = w
	}
	return nil
}

// newest returns what is known of a push, and reads it if nothing is; nil if that fails, or
// there is no push.
func (db *DB) newest(s sealer, id record.ID, t *turn) (*row, error) {
	w := t.known
	t.known = nil
	if read := db.recent.take(id); w == nil || read != nil && read.seq > w.seq {
		w = read
	}
	if w != nil {
		return w, nil
	}
	r := db.readShared(context.Background(), id)
	if r.err != nil || r.found == nil || len(r.found.payload) != r.found.size {
		return nil, r.err
	}
	found, err := s.believe(r.found)
	if err != nil {
		return nil, nil //nolint:nilerror,nilnil // a change by itself reads it again, and says so
	}
	return &found, nil
}

// plans adds the change to others of its push, and returns the row as it leaves it; nil if
// it may not share a statement.
func (ch *pushChange) plans(s sealer, w row, c *sharedChange) *row {
	if ch.newer(s) {
		return nil
	}
	w.push = copyPush(w)
	p, err := ch.decide(context.Background(), nil, s, w)
	if err != nil || p.drop != nil || p.grant != nil || p.next.State == record.Purged || p.next.Seq != w.push.Seq+1 || len(w.payload) > smallPayload ||
		p.entry.Grant != nil || p.entry.Mail != nil || len(p.entry.Messages) > 0 || w.push.HoldsFiles() {
		return nil
	}
	raw, err := p.next.AppendBinary(nil)
	if err != nil {
		return nil
	}
	entry, err := s.seal(tableAudit, auditKey(ch.id, w.push.Seq), p.entry)
	if err != nil {
		return nil
	}
	next := &row{push: p.next, record: raw, seq: w.seq + 1, op: ch.op, payload: w.payload, floor: w.floor}
	c.row = pushRow{ch.id, next.seq, ch.op, columnsOf(p.next), s.sealValue(tablePush, pushKey(ch.id, next.seq), raw)}
	c.audit = append(c.audit, auditRow{ch.id, w.push.Seq, ch.op, entry})
	if w.push.Live() && !p.next.Live() {
		c.ends, next.payload = true, nil
	}
	if more := p.next.Room().Minus(w.push.Room()); more != (record.Room{}) {
		c.room = c.room.Plus(more)
		own, shared := roomKeys(w.push)
		c.keys = nil
		if own != nil {
			c.keys = append(c.keys, own)
		}
		if shared != nil {
			c.keys = append(c.keys, anyRoom())
		}
	}
	ch.plan = p
	ch.done = record.Change{Push: p.next, Entry: p.entry, Payload: bytes.Clone(w.payload)}
	ch.trials = []trial{{c.was, w.push.Seq, p, ch.done}}
	return next
}

// changeTogether makes one attempt for all. Afterwards, done tells which of them it did, and
// tried that it may have.
func (db *DB) changeTogether(all []*sharedChange) error {
	// In the order of their keys, so that two servers seldom wait for each other.
	slices.SortFunc(all, func(a, b *sharedChange) int { return bytes.Compare(a.row.id[:], b.row.id[:]) })
	st := changesOf(all)
	var done [][]byte
	err := db.attempt(context.Background(), func(ctx context.Context, c *pgxpool.Conn) (err error) {
		done, err = collectOften(ctx, db, c, pgx.RowTo[[]byte], st.text("select id from p"), st.args...)
		return err
	})
	db.met.shared(err)
	for _, c := range all {
		c.tried = errors.Is(err, errUnknown)
		c.done = err == nil && slices.ContainsFunc(done, func(id []byte) bool { return bytes.Equal(id, c.row.id[:]) })
	}
	return err
}

// changesOf makes the statement. Its part p is the compare-and-swap of each push, without
// which the other parts do nothing for it.
func changesOf(all []*sharedChange) *statement {
	st := &statement{}
	version := int64(math.MaxInt64)
	var audit []auditRow
	ends := false
	for _, c := range all {
		version, audit, ends = min(version, c.version), append(audit, c.audit...), ends || c.ends
	}
	var t table
	rowColumns(&t, all, func(c *sharedChange) pushRow { return c.row })
	addColumn(&t, "bigint", all, func(c *sharedChange) int64 { return c.was })
	addColumn(&t, "boolean", all, func(c *sharedChange) bool { return c.ends })
	st.part("p", `update push set seq = v.seq, op = v.op, owner = v.owner, live = v.live, queue = v.queue, due = v.due, value = v.value
		from `+st.unnest(&t, "v (id, seq, op, owner, live, queue, due, value, was, ends)")+`
		where push.id = v.id and push.seq = v.was and (select floor from ring) <= `+st.arg("bigint", version)+" returning push.id, v.ends")
	if ends {
		st.part("y", "delete from payload where id in (select id from p where ends)")
	}
	type roomChange struct {
		c   *sharedChange
		key []byte
	}
	var rooms []roomChange
	for _, c := range all {
		for _, k := range c.keys {
			rooms = append(rooms, roomChange{c, k})
		}
	}
	if len(rooms) > 0 {
		var t table
		addColumn(&t, "bytea", rooms, func(r roomChange) []byte { return r.c.row.id[:] })
		addColumn(&t, "bytea", rooms, func(r roomChange) []byte { return r.key })
		addColumn(&t, "bigint", rooms, func(r roomChange) int64 { return int64(r.c.room.Pushes) })
		addColumn(&t, "bigint", rooms, func(r roomChange) int64 { return r.c.room.Bytes })
		st.part("w", "insert into room as m (key, pushes, bytes) select u.key, sum(u.pushes), sum(u.bytes) from "+
			st.unnest(&t, "u (id, key, pushes, bytes)")+` join p using (id) group by u.key order by u.key
			on conflict (key) do update set pushes = m.pushes + excluded.pushes, bytes = m.bytes + excluded.bytes`)
	}
	appendAudit(st, audit)
	return st
}

// A reading is a push that is read with others.
type reading struct {
	id    record.ID
	found *rawPush // nil: there is none
	err   error    // errAgain until it was read
}

// shareWait is how long a read waits for the statement of others to end, so that a slow one
// holds up only those that share it. It is far longer than a statement takes.
const shareWait = time.Second

// readShared reads a push together with others. The error is errAgain if the read was left
// out.
func (db *DB) readShared(ctx context.Context, id record.ID) reading {
	ctx, cancel := context.WithTimeout(ctx, shareWait)
	defer cancel()
	r := reading{id: id, err: errAgain}
	db.reads.do(ctx, &r, db.readTogether)
	return r
}

// readTogether reads the pushes, and the payloads that are small.
func (db *DB) readTogether(all []*reading) error {
	ids := make([][]byte, len(all))
	for i, r := range all {
		ids[i] = r.id[:]
	}
	var found []*rawPush
	err := db.attempt(context.Background(), func(ctx context.Context, c *pgxpool.Conn) (err error) {
		found, err = collectOften(ctx, db, c, scanRaw, "select "+pushColumns+`, coalesce(octet_length(y.data), 0), case when octet_length(y.data) <= $2 then y.data end, (select floor from ring)
			from push p left join payload y on y.id = p.id where p.id = any ((select $1::bytea[])::bytea[])`, ids, smallPayload)
		return err
	})
	db.met.shared(err)
	for _, r := range all {
		r.err = err
		if i := slices.IndexFunc(found, func(p *rawPush) bool { return bytes.Equal(p.id, r.id[:]) }); i >= 0 {
			r.found = found[i]
		}
	}
	return err
}

// scanRaw reads a push with its payload.
func scanRaw(r pgx.CollectableRow) (*rawPush, error) {
	p := &rawPush{}
	return p, r.Scan(append(p.columns(), &p.size, &p.payload, &p.floor)...)
}

// recent has pushes that were read a moment ago: who reads a push often changes it next,
// and need not read it once more. It keeps no push for more than two turns of age. The zero
// value is ready.
type recent struct {
	mu       sync.Mutex
	new, old map[record.ID]*row
}

// mostRecent bounds how many pushes are kept, twice.
const mostRecent = 256

func (r *recent) put(w *row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.new == nil || len(r.new) >= mostRecent {
		r.old, r.new = r.new, make(map[record.ID]*row)
	}
	r.new[w.push.ID] = w
}

// take returns a push and forgets it; nil if it is not there.
func (r *recent) take(id record.ID) *row {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.new[id]
	if w == nil {
		w = r.old[id]
	}
	delete(r.new, id)
	delete(r.old, id)
	return w
}

// age forgets what was not taken since the age before.
func (r *recent) age() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.old, r.new = r.new, nil
}
