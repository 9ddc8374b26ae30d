package scale

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/record"
)

const (
	answersBefore = 300 // of each server
	nodes         = 3
)

// The primary dies under load, and the standby that has received most takes its place:
// every acknowledged create is there, no view is over the limit, and the servers continue by
// themselves. PUSHBOX_TEST_FAILOVERS sets how often.
func TestAFailoverLosesNothing(t *testing.T) {
	t.Parallel()
	seed := env.Seed(t)
	for n := range env.Length(t, "PUSHBOX_TEST_FAILOVERS") {
		if !failOver(t, seed+n, func(r *pgtest.Replicas, f *fleet) {
			r.Kill(r.Primary())
			f.await503()
			r.Promote()
			f.await200()
			f.judgeLogs()
		}) {
			return
		}
	}
}

// A primary that was frozen comes back after a standby took its place: it delivers nothing,
// since no standby acknowledges what it commits.
func TestAnOldPrimaryThatComesBackDeliversNothing(t *testing.T) {
	t.Parallel()
	seed := env.Seed(t)
	for n := range env.Length(t, "PUSHBOX_TEST_FAILOVERS") {
		if !failOver(t, seed+n, func(r *pgtest.Replicas, f *fleet) {
			old := r.Primary()
			r.Freeze(old)
			f.await503()
			r.Promote()
			f.await200() // or a server that asks the old one shows what was
			r.Thaw(old)
		}) {
			return
		}
	}
}

// While no standby acknowledges, writes wait and are put off; then they continue.
func TestFrozenStandbysPutWritesOff(t *testing.T) {
	t.Parallel()
	seed := env.Seed(t)
	for n := range env.Length(t, "PUSHBOX_TEST_FAILOVERS") {
		if !failOver(t, seed+n, freezeStandbys) {
			return
		}
	}
}

func freezeStandbys(r *pgtest.Replicas, f *fleet) {
	standbys := r.Standbys()
	r.Freeze(standbys[0]) // one of them does no harm
	rng := rand.New(rand.NewPCG(f.crowds[0].Seed, 1))
	for _, c := range f.crowds {
		env.Eventually(f.T, "a push is made with one frozen standby of two", func() bool { return c.Create(rng) == nil })
	}
	r.Freeze(standbys[1])
	before := f.crowds[0].Put.Load()
	env.Eventually(f.T, "a client is put off", func() bool { return f.crowds[0].Put.Load() > before })
	r.Thaw(standbys[0])
	r.Thaw(standbys[1])
}

// failOver has two servers work over three nodes of PostgreSQL while something happens to
// those.
func failOver(t *testing.T, seed uint64, happens func(*pgtest.Replicas, *fleet)) bool {
	t.Helper()
	return t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
		r := pgtest.NewReplicas(t, nodes)
		f := newFleet(t, r.URL(), 2, seed, briefRequests)
		loads := f.work(answersBefore)
		f.away(true)
		happens(r, f)
		f.primary = r.PrimaryURL()
		f.await200()
		for _, c := range f.crowds {
			before := c.Answered.Load()
			env.Eventually(t, "a server answers as before", func() bool { return c.Answered.Load() > before+answersBefore })
		}
		for _, l := range loads {
			l.End()
		}
		f.away(false)
		f.judgeAway()
		f.awaitQuiet()
		f.verify()
		f.stop()
	})
}

func TestMain(m *testing.M) { proctest.Main(pgtest.Tests{M: m}) }

// Servers reach their database through a PgBouncer, which gives each transaction another
// connection.
func TestPgBouncerInBetween(t *testing.T) {
	t.Parallel()
	env.NeedLong(t, "it starts PgBouncer and several servers")
	url := pgtest.URL(t)
	f := newFleet(t, pgtest.NewBouncer(t).Before(url), 2, env.Seed(t))
	f.primary = url
	f.end(f.work(answersBefore))
	f.verify()
	f.wantLimits()
	f.wantFiles()
	f.stop()
}

// One of three servers is killed under load, again and again: no acknowledged create is
// lost, no view is over the limit, and the others continue. PUSHBOX_TEST_SERVER_KILLS sets how
// often.
func TestAKilledServerLosesNothing(t *testing.T) {
	t.Parallel()
	seed := env.Seed(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	f := newFleet(t, pgtest.URL(t), 3, seed)
	for range env.Length(t, "PUSHBOX_TEST_SERVER_KILLS") {
		loads := f.work(100)
		victim := rng.IntN(len(f.servers))
		time.Sleep(time.Duration(rng.Int64N(int64(20 * time.Millisecond))))
		f.crowds[victim].Killed.Store(true)
		f.servers[victim].KillNow()
		loads[victim].Wait()
		for i, c := range f.crowds {
			if before := c.Answered.Load(); i != victim {
				env.Eventually(t, "the others go on", func() bool { return c.Answered.Load() > before+100 })
			}
		}
		f.start(victim)
		f.crowds[victim].Reach(f.servers[victim].URL)
		f.end(loads)
		if t.Failed() {
			return
		}
	}
	f.verify()
	f.stop()
}

// What a later version does to the tables when it starts: first something that servers of
// this version can work with, then something that they cannot. How it does that is tested
// in store/postgres, with the program's own steps.
const (
	additive = `alter table push add column note text not null default '';
		create table note (id bytea primary key);
		update meta set value = '\x0000000300000002' where name = 'schema'`
	breaking = `lock table ring in access exclusive mode;
		update ring set version = version + 1, floor = version + 1;
		update meta set value = '\x0000000400000004' where name = 'schema'`
)

// Servers continue while a later version of pushbox joins them, and even start; once that
// version says that they may not, they end with a message, and no longer start.
func TestServersBesideALaterVersion(t *testing.T) {
	t.Parallel()
	env.NeedLong(t, "it changes the tables under several servers")
	f := newFleet(t, pgtest.URL(t), 2, env.Seed(t))
	loads := f.work(answersBefore)
	pgtest.Raw(t, f.primary, "begin", additive, "commit")
	for _, c := range f.crowds {
		before := c.Answered.Load()
		env.Eventually(t, "a server goes on beside a later version", func() bool { return c.Answered.Load() > before+answersBefore })
	}
	f.end(loads)
	f.servers[0].Stop()
	f.start(0)
	f.reach()
	f.verify()

	pgtest.Raw(t, f.primary, "begin", breaking, "commit")
	for i, s := range f.servers {
		select {
		case <-s.Ended:
		case <-time.After(proctest.Patience):
			t.Fatal("a server goes on in tables that it does not know")
		}
		f.wantRefusal(s.Log())
		_, err := proctest.Start(f.dirs[i], append(proctest.LoadEnviron(), f.environ...), nil)
		if err == nil {
			t.Fatal("a server starts in tables that it does not know")
		}
		f.wantRefusal(err.Error())
	}
}

// wantRefusal wants a text to say why a server ended.
func (f *fleet) wantRefusal(text string) {
	f.Helper()
	for _, words := range []string{
		record.ErrSchema.Error(), "its schema number is 4, for versions that know 4 or later, and this version knows 2",
		"hint: use the build of pushbox that wrote it",
	} {
		if !strings.Contains(text, words) {
			f.Errorf("there is no %q in: %s", words, text[max(0, len(text)-2000):])
		}
	}
}
