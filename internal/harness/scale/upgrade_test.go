package scale

import (
	"strings"
	"testing"
	"time"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/record"
)

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
