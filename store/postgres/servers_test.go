package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store"
	"pushbox/store/cold"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func newSecret(s string) secret.Text { return secret.New(s) }

// servers opens several engines over one new database.
func servers(t *testing.T, n int, changes ...func(*postgres.Options)) (all []*postgres.DB) {
	t.Helper()
	url := pgtest.URL(t)
	for range n {
		db := openURL(t, url, changes...)
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		all = append(all, db)
	}
	return all
}

// Readers of several servers never pass the limit, and each view that one was told of is in
// the log.
func TestServersCountViewsTogether(t *testing.T) {
	t.Parallel()
	all := servers(t, 3)
	for n, limit := range []int{1, 2, 5, 100} {
		p := conformance.LivePush(n+1, 0)
		p.ViewLimit = limit
		pushed(t, all[0], p)
		var delivered atomic.Int32
		var readers sync.WaitGroup
		for i := range 48 {
			readers.Go(func() {
				for range 4 {
					c, err := all[i%len(all)].Change(t.Context(), p.ID, conformance.View)
					switch {
					case err == nil && string(c.Payload) == "payload":
						delivered.Add(1)
					case !errors.Is(err, conformance.ErrLimit):
						t.Errorf("view: %q, %v", c.Payload, err)
					}
				}
			})
		}
		readers.Wait()
		if got := int(delivered.Load()); got != limit {
			t.Errorf("%d views were delivered, and the limit is %d", got, limit)
		}
	}
	countSilently(t, all)
	conformance.CheckClean(t, all[1])
}

// countSilently has all servers change a push without audit entries, whose numbers would
// keep two changes apart by themselves.
func countSilently(t *testing.T, all []*postgres.DB) {
	t.Helper()
	p := pushed(t, all[0], conformance.LivePush(100, 0))
	const changes = 90
	var changers sync.WaitGroup
	for i := range changes {
		changers.Go(func() {
			_, err := all[i%len(all)].Change(t.Context(), p.ID, func(p record.Push) (record.Push, record.Entry, error) {
				p.Failed++
				return p, record.Entry{}, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	changers.Wait()
	if got, err := conformance.Push(t.Context(), all[0], p.ID); err != nil || got.Failed != changes {
		t.Errorf("%d changes were made, and %d count: %v", changes, got.Failed, err)
	}
}

// Changes of the instance at several servers have one order.
func TestServersShareOneLog(t *testing.T) {
	t.Parallel()
	all := servers(t, 3)
	const each = 10
	var writers sync.WaitGroup
	for i, db := range all {
		for n := range each {
			writers.Go(func() {
				if _, err := cold.CreateAccount(t.Context(), db, record.Account{Email: fmt.Sprintf("%d-%d@example.org", i, n)}, conformance.Told); err != nil {
					t.Error(err)
				}
			})
		}
	}
	writers.Wait()
	accounts, err := cold.Accounts(t.Context(), all[0], 0, 100)
	if err != nil || len(accounts) != each*len(all) || int(accounts[len(accounts)-1].ID) != each*len(all) {
		t.Errorf("%d accounts, %v", len(accounts), err)
	}
	conformance.CheckClean(t, all[2])
}

// The room of an account is known at every server.
func TestServersKnowWhoHasRoom(t *testing.T) {
	t.Parallel()
	all := servers(t, 2)
	id := newAccount(t, all[0])
	want := func(want record.Room) {
		t.Helper()
		has, err := all[1].Rooms(t.Context(), []record.Push{{}, {Owner: id + 1}, {Owner: id}})
		if err != nil || !slices.Equal(has, []record.Room{{}, {}, want}) {
			t.Errorf("they have %+v: %v", has, err)
		}
	}
	want(record.Room{})
	p := conformance.LivePush(1, id)
	p.Size = 40
	pushed(t, all[0], p)
	want(record.Room{Pushes: 1, Bytes: 40})
}

// A row of tries goes when they may be forgotten, and not before.
func TestForgottenTriesGo(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := openURL(t, url, func(o *postgres.Options) { o.Poll = time.Hour })
	defer db.Close()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	count := func(key byte, at time.Time) {
		t.Helper()
		if _, err := db.Tries(t.Context(), limit.Count, at, []limit.Tally{{Of: 1, Key: [16]byte{key}, Most: 2, Span: time.Minute, Keep: time.Hour}}); err != nil {
			t.Fatal(err)
		}
	}
	sweep := func(rows int) {
		t.Helper()
		if err := postgres.SweepCounts(t.Context(), db); err != nil {
			t.Error(err)
		}
		pgtest.Raw(t, url, fmt.Sprintf("select 1 / (select (count(*) = %d)::int from tally)", rows))
	}
	count(1, at)
	sweep(1)
	count(2, at.Add(time.Hour-time.Microsecond))
	sweep(2)
	count(2, at.Add(time.Hour))
	sweep(1)
}

// Servers that send mail at the same time, with pushes and with codes, never pass a quota,
// and no change of an account is lost.
func TestServersCountMailTogether(t *testing.T) {
	t.Parallel()
	all := servers(t, 3)
	id := newAccount(t, all[0])
	const senders, most = 36, 15
	var sent, codes atomic.Int32
	count := func(err error) bool {
		if err != nil && !errors.Is(err, record.ErrQuota) {
			t.Error(err)
		}
		if err == nil {
			sent.Add(1)
		}
		return err == nil
	}
	var wg sync.WaitGroup
	for n := range senders {
		wg.Go(func() {
			db, mail := all[n%3], conformance.MailTo(7, most, byte(1+n%2), byte(2-n%2))
			if mail.Sender = id; n/3%2 == 0 {
				p := conformance.LivePush(n, id)
				e := conformance.Creation(p)
				e.Mail = mail
				count(conformance.Made(db.CreatePush(t.Context(), p, []byte("payload"), e)))
				return
			}
			_, err := cold.ChangeAccount(t.Context(), db, id, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
				a.PasswordHash += "x"
				return a, record.SessionChange{Mail: mail, Untold: true}, record.AdminEvent{}, nil
			})
			if count(err) {
				codes.Add(1)
			}
		})
	}
	wg.Wait()
	waiting, err := cold.Messages(t.Context(), all[0], record.Message{}, 100)
	if err != nil || sent.Load() != most || len(waiting) != 2*most {
		t.Errorf("%d were sent, and %d mails wait: %v", sent.Load(), len(waiting), err)
	}
	a, err := cold.Account(t.Context(), all[1], id)
	if err != nil || len(a.PasswordHash) != int(codes.Load()) {
		t.Errorf("%d codes were sent, and %d count: %v", codes.Load(), len(a.PasswordHash), err)
	}
	conformance.CheckClean(t, all[2])
}

// A message is sent by one server: by another only after the lease of the first has ended,
// as after a crash.
func TestServersShareTheOutbox(t *testing.T) {
	t.Parallel()
	all := servers(t, 2)
	p := conformance.LivePush(1, 0)
	at := p.CreatedAt
	e := conformance.Creation(p)
	const many = 20
	for range many {
		e.Messages = append(e.Messages, record.Message{Route: record.ByWebhook, To: 1, CreatedAt: at, NextAt: at, Sealed: []byte("sealed")})
	}
	env.OK(t, conformance.Made(all[0].CreatePush(t.Context(), p, []byte("payload"), e)))
	claim := func(db *postgres.DB, now time.Time, limit int) (numbers []uint64, next time.Time) {
		ms, next, err := db.DueMessages(t.Context(), record.MessageQuery{Route: record.ByWebhook, Until: now, Limit: limit, Lease: now.Add(time.Minute)})
		if err != nil {
			t.Error(err)
		}
		for _, m := range ms {
			numbers = append(numbers, m.Number)
		}
		return numbers, next
	}
	var got [2][]uint64
	var claims sync.WaitGroup
	for i := range got {
		claims.Go(func() { got[i], _ = claim(all[i], at, many/2) })
	}
	claims.Wait()
	for _, n := range got[0] {
		if slices.Contains(got[1], n) {
			t.Errorf("message %d was claimed twice", n)
		}
	}
	for i := range got {
		rest, _ := claim(all[i], at, many)
		got[i] = rest
	}
	if len(got[0])+len(got[1]) != many {
		t.Errorf("%d and %d messages were claimed, of %d", len(got[0]), len(got[1]), many)
	}
	if again, next := claim(all[0], at.Add(time.Second), many); len(again) != len(got[0]) || len(got[1]) > 0 && !next.Equal(at.Add(time.Minute)) {
		t.Errorf("a server claims again %d of its %d messages, and the others end at %v", len(again), len(got[0]), next)
	}
	if after, _ := claim(all[1], at.Add(2*time.Minute), many); len(after) != many {
		t.Errorf("after the leases have ended, %d messages can be claimed", len(after))
	}
}

// A key ring that one server makes is in use at the other, which writes nothing under an
// older one from when rows are sealed anew.
func TestServersFollowTheKeyRing(t *testing.T) {
	t.Parallel()
	url, often := pgtest.URL(t), func(o *postgres.Options) { o.Poll = 10 * time.Millisecond }
	rings := make(chan string, 10)
	follow := func(sealed []byte) (record.RowKeys, error) {
		rings <- string(sealed)
		return conformance.Version(2), nil
	}
	all := []*postgres.DB{openURL(t, url, often), openFollowing(t, url, follow, often)}
	defer func() { env.OK(t, errors.Join(all[0].Close(), all[1].Close())) }()
	p := pushed(t, all[1], conformance.LivePush(1, 0))
	env.OK(t, all[0].SetKeyRing(t.Context(), []byte("the next ring"), conformance.Version(2), conformance.Told))
	if err := all[1].SetKeyRing(t.Context(), []byte("a rival ring"), conformance.Version(2), conformance.Told); err == nil {
		t.Log("the second server had followed already")
	} else if !errors.Is(err, record.ErrStaleKeys) {
		t.Errorf("a rival ring: %v", err)
	} else if got := <-rings; got != "the next ring" {
		t.Errorf("the second server follows %q", got)
	}
	if _, err := all[0].Change(t.Context(), p.ID, conformance.View); err != nil {
		t.Errorf("view under the new keys: %v", err)
	}
	if c, err := all[1].Change(t.Context(), p.ID, conformance.View); err != nil || c.Push.Views != 2 {
		t.Errorf("view at the server that follows: %d, %v", c.Push.Views, err)
	}
}

// A server that has not seen the newest ring writes nothing once rows are sealed anew.
func TestAServerWithOldKeysWritesNothing(t *testing.T) {
	t.Parallel()
	all := servers(t, 2, func(o *postgres.Options) { o.Poll = time.Hour })
	owner := newAccount(t, all[0])
	pushed(t, all[1], conformance.LivePush(1, owner))
	env.OK(t, all[0].SetKeyRing(t.Context(), []byte("the next ring"), conformance.Version(2), conformance.Told))
	q := conformance.LivePush(2, owner)
	if err := conformance.Made(all[1].CreatePush(t.Context(), q, []byte("payload"), conformance.Creation(q))); err != nil {
		t.Errorf("before rows are sealed anew: %v", err)
	}
	for n, want := range []bool{true, false} {
		changed, err := all[0].Reseal(t.Context(), conformance.NothingSealed{}, func(int64, int64) {})
		if err != nil || (changed > 0) != want {
			t.Errorf("round %d: %d rows, %v", n+1, changed, err)
		}
	}
	r, anonymous := conformance.LivePush(3, owner), conformance.LivePush(4, 0)
	for name, step := range map[string]func() error{
		"create": func() error {
			return conformance.Made(all[1].CreatePush(t.Context(), r, []byte("payload"), conformance.Creation(r)))
		},
		"anonymous create": func() error {
			return conformance.Made(all[1].CreatePush(t.Context(), anonymous, []byte("payload"), conformance.Creation(anonymous)))
		},
		"create that shares no statement": func() error {
			e := conformance.Creation(anonymous)
			e.Messages = messages(1, anonymous.CreatedAt, 1)
			return conformance.Made(all[1].CreatePush(t.Context(), anonymous, []byte("payload"), e))
		},
		"event": func() error { return cold.AddAdminEvent(t.Context(), all[1], conformance.Told) },
		"keys": func() error {
			return all[1].SetKeyRing(t.Context(), []byte("x"), conformance.Version(2), conformance.Told)
		},
		"time": func() error {
			_, err := all[1].KeepTime(t.Context(), time.Now())
			return err
		},
	} {
		if err := step(); !errors.Is(err, record.ErrStaleKeys) && !errors.Is(err, record.ErrCorrupt) {
			t.Errorf("%s under old keys: %v", name, err)
		}
	}
	for _, id := range []record.ID{r.ID, anonymous.ID} {
		if _, err := conformance.Push(t.Context(), all[0], id); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("the push was kept: %v", err)
		}
	}
	conformance.CheckClean(t, all[0])
}

func TestANewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := openURL(t, url)
	env.OK(t, db.Close())
	pgtest.Raw(t, url, `update meta set value = '\x000003e8000003e8' where name = 'schema'`)
	if _, _, err := postgres.Open(t.Context(), unhurried(url)); !errors.Is(err, record.ErrSchema) || !strings.Contains(err.Error(), "for versions that know 1000 or later") {
		t.Errorf("a newer schema: %v", err)
	}
	other := pgtest.URL(t)
	pgtest.Raw(t, other, "create table meta (name text, value bytea)")
	if _, _, err := postgres.Open(t.Context(), unhurried(other)); !errors.Is(err, record.ErrSchema) {
		t.Errorf("another program's table: %v", err)
	}
}

// Builds between two releases gave number 1 to tables of several kinds. Those of the last
// kind are taken over; of others it is said which build they need, and not in SQL.
func TestTablesOfAnotherBuildAreRefusedInWords(t *testing.T) {
	t.Parallel()
	for lacks, want := range map[string]error{"": nil, "alter table account drop column identities": record.ErrSchema, "drop table request": record.ErrSchema} {
		url := pgtest.URL(t)
		env.OK(t, openURL(t, url).Close())
		pgtest.Raw(t, url, `update meta set value = '\x0000000100000001' where name = 'schema'`)
		pgtest.Raw(t, url, "drop table repeat") // which came later
		if lacks != "" {
			pgtest.Raw(t, url, lacks)
		}
		db, _, err := postgres.Open(t.Context(), unhurried(url))
		if !errors.Is(err, want) || err != nil && strings.Contains(err.Error(), "SQLSTATE") {
			t.Errorf("%q: %v", lacks, err)
		}
		if err == nil {
			err = db.Close()
		}
		if err != nil && want == nil {
			t.Error(err)
		}
	}
}

// All records go from one engine to another and back.
func TestRecordsMove(t *testing.T) {
	t.Parallel()
	first, second := openNew(t), openNew(t)
	defer first.Close()
	defer second.Close()
	conformance.Fill(t, first)
	nothing := func(int64, int64) {}
	made, temp, err := first.Backup(t.Context(), "", nothing)
	env.OK(t, err)
	defer made.Close()
	file := made.(record.DumpEngine)
	env.OK(t, file.Unlock(t.Context(), conformance.Keys{}, nil, nil))
	conformance.CheckClean(t, file)
	conformance.CheckFilled(t, file)
	if temp == "" {
		t.Error("the copy has no name")
	}
	if err := second.Load(t.Context(), spoiled(file.Dump(t.Context())), keepAll); err == nil {
		t.Error("a load whose records end with an error succeeds")
	}
	env.OK(t, second.Load(t.Context(), file.Dump(t.Context()), keepAll))
	conformance.CheckClean(t, second)
	conformance.CheckFilled(t, second)
	for name, other := range map[string]record.DumpEngine{"a file": file, "a database": second} {
		n, err := store.SameRecords(first.Dump(t.Context()), other.Dump(t.Context()), func(int64) {})
		if err != nil || n < 100 {
			t.Errorf("%s: %d records are the same: %v", name, n, err)
		}
	}
	if err := second.Load(t.Context(), file.Dump(t.Context()), keepAll); !errors.Is(err, record.ErrExists) {
		t.Errorf("a load into an engine that is not empty: %v", err)
	}
	if err := file.Load(t.Context(), second.Dump(t.Context()), keepAll); !errors.Is(err, record.ErrExists) {
		t.Errorf("a load into a file that is not empty: %v", err)
	}
	id, err := cold.CreateAccount(t.Context(), second, record.Account{Email: "next@example.org"}, conformance.Told)
	if err != nil || id != 2 {
		t.Errorf("the next account is %d, %v", id, err)
	}
	if _, err := store.SameRecords(first.Dump(t.Context()), second.Dump(t.Context()), func(int64) {}); !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("records that differ: %v", err)
	}
}

func keepAll(record.Records) error { return nil }

// spoiled are records of which the last is an error.
func spoiled(all record.Records) record.Records {
	return func(yield func(record.DumpRecord, error) bool) {
		for r, err := range all {
			if !yield(r, err) {
				return
			}
		}
		yield(record.DumpRecord{}, errors.New("spoiled"))
	}
}

// What was changed in the database, by anything but pushbox, is not believed, and Check
// names it.
func TestForgedRowsAreNotBelieved(t *testing.T) {
	t.Parallel()
	p := conformance.LivePush(1, 1)
	read := func(db *postgres.DB) error {
		_, err := conformance.Push(context.Background(), db, p.ID)
		return err
	}
	account := func(db *postgres.DB) error {
		_, err := cold.Account(context.Background(), db, 1)
		return err
	}
	mail := func(db *postgres.DB) error {
		_, err := db.Change(context.Background(), p.ID, conformance.SendMail(conformance.MailTo(7, 9, 1)))
		return err
	}
	request := func(db *postgres.DB) error {
		_, err := cold.Request(context.Background(), db, conformance.RequestOf(1, 1, 1).ID)
		return err
	}
	entries := func(db *postgres.DB) error {
		_, err := db.Entries(context.Background(), p.ID, 0, 10)
		return err
	}
	for name, c := range map[string]struct {
		forge string
		use   func(*postgres.DB) error // nil: nothing decides by it
		says  string
	}{
		"a record":                 {"update push set value = set_byte(value, 12, get_byte(value, 12) # 1)", read, "push"},
		"the number of changes":    {"update push set seq = seq + 1", read, "push"},
		"an owner":                 {"update push set owner = 0", read, "the column owner"},
		"a state":                  {"update push set live = false", read, "the column live"},
		"a time":                   {"update push set due = due + 1", read, "the column due"},
		"a queue":                  {"update push set queue = 3", read, "the column queue"},
		"an entry":                 {"update audit set value = set_byte(value, 1, 2)", entries, "push"},
		"an entry that is missing": {"delete from audit where number = 1", entries, "audit entries"},
		"a payload that is gone":   {"delete from payload", nil, "no payload"},
		"an account":               {"update account set value = set_byte(value, 2, get_byte(value, 2) # 1)", account, "account 1"},
		"an address":               {"update account set email = 'b'", account, "the column email"},
		"an identity":              {"update account set identities = array['\\x00'::bytea]", account, "the column identities"},
		"an event":                 {"delete from event where number = 1", nil, "event 1: it is missing"},
		"a quota":                  {"update quota set value = set_byte(value, 12, 1)", mail, "quota"},
		"a quota of another":       {"update quota set of = set_byte(of, 2, 9)", nil, "quota"},
		"a quota of no account":    {"insert into quota values ('\\x0000000000000009', '')", nil, "quota"},
		"room":                     {"update room set pushes = pushes - 1 where key >= 'a' and key < 'b'", nil, "a sender has"},
		"a request":                {"update request set value = set_byte(value, 12, get_byte(value, 12) # 1)", request, "request"},
		"the owner of a request":   {"update request set owner = 2", request, "the column owner"},
		"the state of a request":   {"update request set live = false", request, "the column live"},
		"an account that is gone":  {"delete from account", account, "its owner does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.URL(t)
			db := openURL(t, url)
			defer db.Close()
			if _, err := cold.CreateAccount(t.Context(), db, record.Account{Email: "a"}, conformance.Told); err != nil {
				t.Fatal(err)
			}
			pushed(t, db, p)
			if _, err := db.Change(t.Context(), p.ID, conformance.View); err != nil {
				t.Fatal(err)
			}
			env.OK(t, mail(db))
			env.OK(t, cold.CreateRequest(t.Context(), db, conformance.RequestOf(1, 1, 1), nil))
			conformance.CheckClean(t, db)
			pgtest.Raw(t, url, c.forge)
			if c.use != nil {
				if err := c.use(db); !errors.Is(err, record.ErrCorrupt) && !errors.Is(err, record.ErrNotFound) {
					t.Errorf("it is used: %v", err)
				}
			}
			var said bytes.Buffer
			if err := db.Check(t.Context(), func(problem string) { said.WriteString(problem + "\n") }); err != nil {
				t.Error(err)
			}
			if !bytes.Contains(said.Bytes(), []byte(c.says)) {
				t.Errorf("check says: %s", said.String())
			}
		})
	}
}
