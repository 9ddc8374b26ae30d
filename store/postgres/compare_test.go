package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/cold"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// contents are all records of an engine.
func contents(t *testing.T, db *postgres.DB) (all []string) {
	t.Helper()
	for r, err := range db.Dump(t.Context()) {
		env.OK(t, err)
		all = append(all, fmt.Sprintf("%v %x %x", r.Kind, r.Key, r.Value))
	}
	return all
}

// A change that another came before does nothing, whatever it would have done.
func TestAChangeThatComesTooLateLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files bool // the push holds them
		plan  record.Rule
	}{
		"an end of files": {true, func(p record.Push) (record.Push, record.Entry, error) {
			next, e, err := conformance.View(p)
			next, _, _ = conformance.Release(next)
			return next, e, err
		}},
		"an end":              {false, lastView},
		"a view with a grant": {true, conformance.Retrieve(2, 7)},
		"a purge":             {true, conformance.Purge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := servers(t, 2)
			id := newAccount(t, all[0])
			var p record.Push
			if !c.files {
				p = pushed(t, all[0], conformance.LivePush(2, id))
			} else {
				p = conformance.CreateFiles(t, all[0], 2, id)
				if _, err := all[0].Change(t.Context(), p.ID, conformance.Retrieve(2, 5)); err != nil {
					t.Fatal(err)
				}
			}
			var want []string
			calls := 0
			_, err := all[0].Change(t.Context(), p.ID, func(p record.Push) (record.Push, record.Entry, error) {
				if calls++; calls > 1 {
					return conformance.Leave(p)
				}
				if _, err := all[1].Change(t.Context(), p.ID, count); err != nil { // without an entry, whose number would show it
					t.Error(err)
				}
				want = contents(t, all[1])
				next, e, err := c.plan(p)
				e.Messages = messages(1, p.CreatedAt, 1)
				e.Mail = conformance.MailTo(7, 9, 1)
				e.Mail.Sender = id
				return next, e, err
			})
			env.OK(t, err)
			if got := contents(t, all[0]); !slices.Equal(got, want) {
				t.Errorf("it left something:\n%q\n%q", got, want)
			}
			conformance.CheckClean(t, all[0])
		})
	}
}

// lastView counts a view, which ends the push.
func lastView(p record.Push) (record.Push, record.Entry, error) {
	p.ViewLimit = p.Views + 1
	return conformance.View(p)
}

// Nor does a change of an account.
func TestAChangeOfAnAccountThatComesTooLateLeavesNothing(t *testing.T) {
	t.Parallel()
	all := servers(t, 2)
	id := newAccount(t, all[0])
	var want []string
	_, err := cold.ChangeAccount(t.Context(), all[0], id, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
		if want != nil {
			return a, record.SessionChange{}, conformance.Told, nil
		}
		if err := cold.AddAdminEvent(t.Context(), all[1], conformance.Told); err != nil {
			t.Error(err)
		}
		want = contents(t, all[1])
		a.PasswordHash, a.Email = "x", "b@example.org"
		mail := conformance.MailTo(7, 9, 1)
		return a, record.SessionChange{
			Begin: &record.Session{Digest: record.SessionDigest{1}}, Most: 3, Token: &record.APIToken{Digest: record.TokenDigest{2}, Owner: id}, Mail: mail,
		}, conformance.Told, nil
	})
	env.OK(t, err)
	if got := contents(t, all[0]); !slices.Equal(got, want) {
		t.Errorf("it left something:\n%q\n%q", got, want)
	}
	conformance.CheckClean(t, all[0])
}

// What it writes was decided by what is there then.
func TestAChangeOfAnAccountIsMadeOfWhatIsThere(t *testing.T) {
	t.Parallel()
	all := servers(t, 2)
	id := newAccount(t, all[0])
	appends := func(text string, first func()) record.AccountRule {
		return func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			first()
			a.PasswordHash += text
			return a, record.SessionChange{Untold: true}, record.AdminEvent{}, nil
		}
	}
	var once sync.Once
	_, err := cold.ChangeAccount(t.Context(), all[0], id, record.SessionDigest{}, appends("second", func() {
		once.Do(func() {
			if _, err := cold.ChangeAccount(t.Context(), all[1], id, record.SessionDigest{}, appends("first ", func() {})); err != nil {
				t.Error(err)
			}
		})
	}))
	if a, getErr := cold.Account(t.Context(), all[1], id); err != nil || getErr != nil || a.PasswordHash != "first second" {
		t.Errorf("it is %q, %v, %v", a.PasswordHash, err, getErr)
	}
}

// holds fails the test unless a condition of SQL holds in a database.
func holds(t *testing.T, url secret.Text, says, condition string) {
	t.Helper()
	pgtest.Raw(t, url, fmt.Sprintf("do $$ begin if not coalesce((%s), false) then raise exception '%s'; end if; end $$", condition, says))
}

// What a server that can only read still sees must not be delivered. So a rule that changes
// nothing of a live push writes its row all the same.
func TestNothingIsDeliveredOnAReadAlone(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := openURL(t, url)
	defer db.Close()
	p := pushed(t, db, conformance.LivePush(1, 0))
	pgtest.Raw(t, url, "create table seen as select xmin::text as x from push")
	if c, err := db.Change(t.Context(), p.ID, conformance.Leave); err != nil || string(c.Payload) != "payload" {
		t.Fatalf("%q, %v", c.Payload, err)
	}
	holds(t, url, "nothing was written", "select p.xmin::text <> s.x from push p, seen s")
}

// What is read after a lost answer may be on no standby yet. Another write, which waits for
// all before it, comes before the answer.
func TestWhatIsFoundOutIsConfirmed(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	p, url := newProxy(t, direct)
	db := openURL(t, url)
	defer db.Close()
	l := loser{T: t, proxy: p, deed: dropAnswer}
	push := conformance.LivePush(1, 0)
	l.lose("insert into push", func() error {
		return conformance.Made(db.CreatePush(t.Context(), push, []byte("payload"), conformance.Creation(push)))
	})
	holds(t, direct, "the create is not confirmed", "select p.xmin <> a.xmin from push p join audit a using (id) where a.number = 0")
	l.lose("update push set seq", func() error {
		_, err := db.Change(t.Context(), push.ID, conformance.View)
		return err
	})
	holds(t, direct, "the view is not confirmed", "select p.xmin <> a.xmin from push p join audit a using (id) where a.number = 1")
	l.lose("update head set", func() error { return cold.AddAdminEvent(t.Context(), db, conformance.Told) })
	holds(t, direct, "the event is not confirmed", "select h.xmin <> e.xmin from head h, event e where e.number = 1")
	conformance.CheckClean(t, db)
}

// PostgreSQL reports success for a commit that no standby has, with a mere warning.
func TestAWarningIsNoSuccess(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := openURL(t, url)
	defer db.Close()
	p := pushed(t, db, conformance.LivePush(1, 0))
	pgtest.Raw(t, url, "create table warned (n int)", "insert into warned values (1)",
		`create function warn() returns trigger language plpgsql as $$ begin
			if exists (select from warned) then
				delete from warned;
				raise warning 'canceling wait for synchronous replication due to user request';
			end if;
			return new;
		end $$`, "create trigger warn before update on push for each row execute function warn()")
	if c, err := db.Change(t.Context(), p.ID, conformance.View); err != nil || c.Push.Views != 1 || string(c.Payload) != "payload" {
		t.Errorf("%d views, %q, %v", c.Push.Views, c.Payload, err)
	}
	holds(t, url, "the view is not confirmed", "select p.xmin <> a.xmin from push p join audit a using (id) where a.number = 1")
	conformance.CheckClean(t, db)
}

// A step whose statement was lost finds what another server did meanwhile, and does not take
// it for its own.
func TestWhatAnotherServerDidIsNotTakenForOwn(t *testing.T) {
	t.Parallel()
	direct := pgtest.URL(t)
	p, url := newProxy(t, direct)
	db, other := openURL(t, url), openURL(t, direct)
	defer db.Close()
	defer other.Close()
	rival := func(mark string, deed func() error) {
		t.Helper()
		p.loseAnd(mark, dropAsked, func() {
			if err := deed(); err != nil {
				t.Errorf("%s: %v", mark, err)
			}
		})
	}
	push := conformance.LivePush(1, 0)
	push.ViewLimit = 1
	rival("insert into push", func() error {
		return conformance.Made(other.CreatePush(t.Context(), push, []byte("another payload"), conformance.Creation(push)))
	})
	if err := conformance.Made(db.CreatePush(t.Context(), push, []byte("payload"), conformance.Creation(push))); !errors.Is(err, record.ErrExists) {
		t.Errorf("create: %v", err)
	}
	rival("update push set seq", func() error {
		_, err := other.Change(t.Context(), push.ID, conformance.View)
		return err
	})
	if c, err := db.Change(t.Context(), push.ID, conformance.View); !errors.Is(err, conformance.ErrLimit) {
		t.Errorf("the last view was the other's: %q, %v", c.Payload, err)
	}
	one := []limit.Tally{{Of: 1, Most: 1, Span: time.Hour}}
	at := push.CreatedAt
	rival("insert into tally", func() error {
		_, err := other.Tries(t.Context(), limit.Count, at, one)
		return err
	})
	if stood, err := db.Tries(t.Context(), limit.Count, at, one); err != nil || limit.AllLeft(stood) {
		t.Errorf("the last try was the other's: %v, %v", stood, err)
	}
	rival("update head set", func() error { return cold.AddAdminEvent(t.Context(), other, conformance.Told) })
	id, err := cold.CreateAccount(t.Context(), db, record.Account{Email: "a@example.org"}, conformance.Told)
	if a, getErr := cold.AccountByEmail(t.Context(), other, "a@example.org"); err != nil || getErr != nil || a.ID != id {
		t.Errorf("the account: %v, %v", err, getErr)
	}
	if p.lost() != 4 {
		t.Errorf("%d statements were lost", p.lost())
	}
	conformance.CheckClean(t, db)
}

// Rows are sealed anew only after the statements that began before, under older keys.
func TestSealingAnewWaitsForRunningStatements(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := openURL(t, url)
	defer db.Close()
	pushed(t, db, conformance.LivePush(1, 0))
	env.OK(t, db.SetKeyRing(t.Context(), []byte("the next ring"), conformance.Version(2), conformance.Told))
	release := hold(t, url, "lock table audit in row exclusive mode") // as a statement does before its snapshot
	done := make(chan error, 1)
	go func() {
		_, err := db.Reseal(context.Background(), conformance.NothingSealed{}, func(int64, int64) {})
		done <- err
	}()
	holdsSoon(t, url, "select exists (select from pg_locks where mode = 'ShareLock' and not granted and database = (select oid from pg_database where datname = current_database()))")
	release()
	if err := <-done; err != nil {
		t.Error(err)
	}
	conformance.CheckClean(t, db)
}

// hold runs a statement in a transaction that stays open until release is called.
func hold(t *testing.T, url secret.Text, statement string) (release func()) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, url.Reveal())
	if err == nil {
		_, err = conn.Exec(ctx, "begin; "+statement)
	}
	env.OK(t, err)
	return func() {
		_, err := conn.Exec(ctx, "commit")
		if err := errors.Join(err, conn.Close(ctx)); err != nil {
			t.Error(err)
		}
	}
}

// A table with more rows than a step of Reseal reads takes several.
func TestEachOfManyPushesIsSealedAnew(t *testing.T) {
	t.Parallel()
	db := openURL(t, pgtest.URL(t))
	defer db.Close()
	const pushes = 501
	for n := range pushes {
		pushed(t, db, conformance.LivePush(n, 0))
	}
	env.OK(t, db.SetKeyRing(t.Context(), []byte("the next ring"), conformance.Version(2), conformance.Told))
	for _, want := range []bool{true, false} {
		changed, err := db.Reseal(t.Context(), conformance.NothingSealed{}, func(int64, int64) {})
		if err != nil || want && changed < 2*pushes || !want && changed != 0 { // a push, and its entry
			t.Errorf("%d rows, %v", changed, err)
		}
	}
	conformance.CheckClean(t, db)
}

// holdsSoon waits until a condition of SQL holds in a database.
func holdsSoon(t *testing.T, url secret.Text, condition string) {
	t.Helper()
	pgtest.Raw(t, url, fmt.Sprintf(`do $$ begin
		for n in 1..%d loop
			if (%s) then return; end if;
			perform pg_sleep(0.01);
			perform pg_stat_clear_snapshot();
		end loop;
		raise exception 'it does not come to hold';
	end $$`, env.Patience/(10*time.Millisecond), condition))
}

// A server whose clock is far from the database's would not agree with others on when a push
// ends.
func TestADistantClockIsRefused(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	for ahead, refused := range map[string]bool{"4 seconds": false, "1 hour": true, "-1 hour": true} {
		pgtest.Raw(t, url, fmt.Sprintf(`create or replace function clock_timestamp() returns timestamptz language sql as $$ select pg_catalog.clock_timestamp() + interval '%s' $$`, ahead))
		db := openURL(t, secret.New(url.Reveal()+" options='-c search_path=public,pg_catalog'"))
		if _, err := db.Durability(t.Context()); errors.Is(err, record.ErrClock) != refused || err != nil && !refused {
			t.Errorf("%s: %v", ahead, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Two first servers, or two rotations, make one key ring.
func TestServersMakeOneKeyRing(t *testing.T) {
	t.Parallel()
	all := servers(t, 3)
	results := make(chan error, len(all))
	for i, db := range all {
		go func() {
			results <- db.SetKeyRing(context.Background(), fmt.Append(nil, "ring ", i), conformance.Version(1), conformance.Told)
		}()
	}
	made := 0
	for range all {
		switch err := <-results; {
		case err == nil:
			made++
		case !errors.Is(err, record.ErrStaleKeys):
			t.Error(err)
		}
	}
	events, err := cold.AdminEvents(t.Context(), all[0], 0, 9)
	if made != 1 || err != nil || len(events) != 1 {
		t.Errorf("%d rings were kept, with %d events, %v", made, len(events), err)
	}
}

// A backup shows one moment, whatever happens while it is read.
func TestADumpShowsOneMoment(t *testing.T) {
	t.Parallel()
	all := servers(t, 2)
	conformance.Fill(t, all[0])
	before := contents(t, all[0])
	changed := false
	var got []string
	for r, err := range all[0].Dump(t.Context()) {
		env.OK(t, err)
		if !changed {
			changed = true
			id, err := cold.CreateAccount(t.Context(), all[1], record.Account{Email: "late@example.org"}, conformance.Told)
			env.OK(t, err)
			pushed(t, all[1], conformance.LivePush(1000, id))
		}
		got = append(got, fmt.Sprintf("%v %x %x", r.Kind, r.Key, r.Value))
	}
	if !slices.Equal(got, before) {
		t.Errorf("it has %d records, and there were %d", len(got), len(before))
	}
}

// Nothing is left of the turns of steps, however they end.
func TestTurnsEndWithTheirSteps(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	defer db.Close()
	p := pushed(t, db, conformance.LivePush(1, 0))
	refused := errors.New("refused")
	entered, leave := make(chan struct{}), make(chan struct{})
	enter := sync.OnceFunc(func() { close(entered) }) // rules may run several times
	first := make(chan error, 1)
	go func() {
		_, err := db.Change(context.Background(), p.ID, func(p record.Push) (record.Push, record.Entry, error) {
			enter()
			<-leave
			return p, record.Entry{}, refused
		})
		first <- err
	}()
	<-entered
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	second := make(chan error, 1)
	go func() {
		_, err := db.Change(short, p.ID, conformance.Leave)
		second <- err
	}()
	<-short.Done()
	close(leave)
	if err := <-second; err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a step that waits for its turn: %v", err)
	}
	if err := <-first; !errors.Is(err, refused) {
		t.Errorf("a rule that refuses: %v", err)
	}
	if c, err := db.Change(t.Context(), p.ID, conformance.View); err != nil || c.Push.Views != 1 {
		t.Errorf("the next step: %v", err)
	}
	if _, err := db.Change(t.Context(), conformance.LivePush(2, 0).ID, conformance.View); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("a push that is not there: %v", err)
	}
	if n := postgres.Turns(db); n != 0 {
		t.Errorf("%d turns are left", n)
	}
}

// A server that takes no writes is none: a standby, or a primary of before.
func TestAServerThatTakesNoWritesIsNotUsed(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	env.OK(t, openURL(t, url).Close())
	pgtest.Raw(t, url, "do $$ begin execute format('alter database %I set default_transaction_read_only = on', current_database()); end $$")
	db, _, err := postgres.Open(t.Context(), unhurried(url))
	if !errors.Is(err, record.ErrUnavailable) {
		t.Errorf("a database that takes no writes: %v", err)
	}
	if err == nil {
		_ = db.Close()
	}
}
