package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pushbox/internal/limit"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/cold"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// What a step did is known even if its answer is lost: done once, and told as done.
func TestALostAnswerIsFoundOut(t *testing.T) {
	t.Parallel()
	for name, deed := range map[string]deed{"after the commit": dropAnswer, "before it": dropAsked, "never given": holdAnswer} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, url := newProxy(t, pgtest.URL(t))
			db := openURL(t, url, func(o *postgres.Options) {
				if deed == holdAnswer {
					again(time.Second)(o)
				}
			})
			defer db.Close()
			l := loser{T: t, proxy: p, deed: deed}

			push := conformance.LivePush(1, 0)
			l.lose("insert into push", func() error {
				return conformance.Made(db.CreatePush(t.Context(), push, []byte("payload"), conformance.Creation(push)))
			})
			for n := range push.ViewLimit {
				var c record.Change
				l.lose("update push set seq", func() (err error) {
					c, err = db.Change(t.Context(), push.ID, conformance.View)
					return err
				})
				if c.Push.Views != n+1 || string(c.Payload) != "payload" {
					t.Errorf("view %d: the push has %d, and the payload is %q", n+1, c.Push.Views, c.Payload)
				}
			}
			if _, err := db.Change(t.Context(), push.ID, conformance.View); !errors.Is(err, conformance.ErrLimit) {
				t.Errorf("one view more: %v", err)
			}
			es, err := db.Entries(t.Context(), push.ID, 0, 100)
			if err != nil || len(es) != 1+push.ViewLimit {
				t.Errorf("%d entries, %v", len(es), err)
			}
			l.lose("delete from push", func() error {
				_, err := db.Change(t.Context(), push.ID, conformance.Purge)
				return err
			})
			var id record.AccountID
			l.lose("update head set", func() (err error) {
				id, err = cold.CreateAccount(t.Context(), db, record.Account{Email: "a@example.org"}, conformance.Told)
				return err
			})
			if a, err := cold.AccountByEmail(t.Context(), db, "a@example.org"); err != nil || a.ID != id {
				t.Errorf("account %d, %v; its ID was %d", a.ID, err, id)
			}
			events, err := cold.AdminEvents(t.Context(), db, 0, 10)
			if err != nil || len(events) != 1 {
				t.Errorf("%d events, %v", len(events), err)
			}
			loseSilently(l, db, id)
			loseRequests(l, db, id)
			conformance.CheckClean(t, db)
		})
	}
}

// A statement that comes late, when another attempt has read what was before it, is found
// out too: the attempt finds another row, and that is its own.
func TestALateStatementIsFoundOut(t *testing.T) {
	t.Parallel()
	p, url := newProxy(t, pgtest.URL(t))
	db := openURL(t, url, again(300*time.Millisecond))
	defer db.Close()
	l := loser{T: t, proxy: p, deed: holdAsked}
	push := conformance.LivePush(1, 0)
	push.ViewLimit = 9
	pushed(t, db, push)
	fail := func(p record.Push) (record.Push, record.Entry, error) {
		p.Failed++
		return p, record.Entry{}, nil
	}
	for _, rule := range []record.Rule{fail, conformance.View} {
		l.lose("update push set", func() error {
			_, err := db.Change(t.Context(), push.ID, rule)
			return err
		})
	}
	if got, err := conformance.Push(t.Context(), db, push.ID); err != nil || got.Views != 1 || got.Failed != 1 {
		t.Errorf("%d views and %d wrong passphrases count, %v", got.Views, got.Failed, err)
	}
	conformance.CheckClean(t, db)
}

// So is the last answer to a request, which ends it, when it comes late and another attempt has
// not found what it makes.
func TestALateAnswerToARequestIsFoundOut(t *testing.T) {
	t.Parallel()
	p, url := newProxy(t, pgtest.URL(t))
	db := openURL(t, url, again(300*time.Millisecond))
	defer db.Close()
	owner, err := cold.CreateAccount(t.Context(), db, record.Account{Email: "a@example.org"}, conformance.Told)
	env.OK(t, err)
	r := conformance.RequestOf(1, owner, 1)
	env.OK(t, cold.CreateRequest(t.Context(), db, r, nil))
	answer := conformance.AnswerTo(r, 1)
	p.loseAnd("insert into push", holdAsked, func() { p.goBefore("from request where") })
	if _, err := db.CreatePush(t.Context(), answer, []byte("payload"), conformance.Creation(answer)); err != nil || p.lost() != 1 {
		t.Errorf("%v, and %d statements were lost", err, p.lost())
	}
	if got, err := cold.Request(t.Context(), db, r.ID); err != nil || len(got.Answers) != 1 {
		t.Errorf("%d answers are counted, %v", len(got.Answers), err)
	}
	conformance.CheckClean(t, db)
}

// loseSilently loses answers to changes that no event tells: of codes with their mail, and of
// tries. Both are first made twice without a loss.
func loseSilently(l loser, db *postgres.DB, id record.AccountID) {
	l.Helper()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	send := func() error {
		_, err := cold.ChangeAccount(l.Context(), db, id, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			a.Unconfirmed, a.Code.SentAt, a.Code.Sent = true, at, 1
			a.Code.Wrong++
			return a, record.SessionChange{Mail: conformance.MailTo(7, 4, 1), Untold: true}, record.AdminEvent{}, nil
		})
		return err
	}
	tally := []limit.Tally{{Of: 1, Most: 9, Span: time.Hour}, {Of: 2, Most: 9, Span: time.Hour}}
	try := func() error {
		stood, err := db.Tries(l.Context(), limit.Count, at, tally)
		if err == nil && !limit.AllLeft(stood) {
			l.Error("no try is left")
		}
		return err
	}
	for range 2 {
		if err := errors.Join(send(), try()); err != nil {
			l.Error(err)
		}
	}
	l.lose("update head set", send)
	l.lose("insert into tally", try)
	l.lose("insert into tally", func() error {
		_, err := db.Tries(l.Context(), limit.Uncount, at, tally[:1])
		return err
	})
	a, err := cold.Account(l.Context(), db, id)
	if err != nil || a.Code.Wrong != 3 {
		l.Errorf("%d wrong codes are counted, %v", a.Code.Wrong, err)
	}
	waiting, err := cold.Messages(l.Context(), db, record.Message{}, 9)
	if err != nil || len(waiting) != 3 {
		l.Errorf("%d mails wait, %v", len(waiting), err)
	}
	if err := send(); err != nil {
		l.Error(err)
	}
	if err := send(); !errors.Is(err, record.ErrQuota) {
		l.Errorf("a fifth mail: %v", err)
	}
	stood, err := db.Tries(l.Context(), limit.Look, at, tally)
	if err != nil || stood[0].Left != 9-2 || stood[1].Left != 9-3 {
		l.Errorf("the tallies stand at %v, %v", stood, err)
	}
}

// loseRequests loses answers to what is done to a request that takes one answer.
func loseRequests(l loser, db *postgres.DB, owner record.AccountID) {
	l.Helper()
	r := conformance.RequestOf(5, owner, 1)
	for range record.MaxRequests - 1 { // more are refused, but not this one again
		other := r
		if r.ID[0]++; cold.CreateRequest(l.Context(), db, other, nil) != nil {
			l.Error("a request was refused")
		}
	}
	l.lose("update head set", func() error { return cold.CreateRequest(l.Context(), db, r, nil) })
	answer := conformance.AnswerTo(r, 5)
	l.lose("insert into push", func() error {
		_, err := db.CreatePush(l.Context(), answer, []byte("payload"), conformance.Creation(answer))
		return err
	})
	if got, err := cold.Request(l.Context(), db, r.ID); err != nil || len(got.Answers) != 1 || got.EndedAt.IsZero() {
		l.Errorf("the request is %+v, %v", got, err)
	}
	other := r
	other.ID[0]--
	l.lose("update request", func() error {
		_, err := cold.ChangeRequest(l.Context(), db, other.ID, conformance.EndRequest)
		return err
	})
}

// again has a step begin anew after that time without an answer, as often as it needs.
func again(after time.Duration) func(*postgres.Options) {
	return func(o *postgres.Options) {
		o.Attempt = after
		postgres.GiveUpAfter(o, env.Patience)
	}
}

// quick has a step fail soon that the database refuses.
func quick(o *postgres.Options) { postgres.GiveUpAfter(o, 500*time.Millisecond) }

// A loser runs steps of which the proxy loses a statement.
type loser struct {
	*testing.T
	proxy *proxy
	deed  deed
}

func (l loser) lose(mark string, step func() error) {
	l.Helper()
	before := l.proxy.lost()
	l.proxy.lose(mark, l.deed)
	if err := step(); err != nil {
		l.Errorf("%s: %v", mark, err)
	}
	if l.proxy.lost() != before+1 {
		l.Errorf("%s: no statement was lost", mark)
	}
}

// While the database is away, every step fails with an error that has a name, and succeeds
// when it is back.
func TestADatabaseThatIsAway(t *testing.T) {
	t.Parallel()
	p, url := newProxy(t, pgtest.URL(t))
	db := openURL(t, url, quick)
	defer db.Close()
	push := conformance.LivePush(1, 0)
	p.away(true)
	if err := conformance.Made(db.CreatePush(t.Context(), push, []byte("payload"), conformance.Creation(push))); !errors.Is(err, record.ErrUnavailable) {
		t.Errorf("create: %v", err)
	}
	if _, err := conformance.Push(t.Context(), db, push.ID); !errors.Is(err, record.ErrUnavailable) {
		t.Errorf("push: %v", err)
	}
	if _, err := db.Stats(t.Context()); !errors.Is(err, record.ErrUnavailable) {
		t.Errorf("stats: %v", err)
	}
	if _, _, err := postgres.Open(t.Context(), unhurried(url)); !errors.Is(err, record.ErrUnavailable) {
		t.Errorf("open: %v", err)
	}
	select {
	case <-db.Failed():
		t.Error("it counts as a failure")
	default:
	}
	p.away(false)
	if err := conformance.Made(db.CreatePush(t.Context(), push, []byte("payload"), conformance.Creation(push))); err != nil {
		t.Errorf("create after it came back: %v", err)
	}
	conformance.CheckClean(t, db)
}

func TestNoErrorHasThePassword(t *testing.T) {
	t.Parallel()
	const password = "hunter2-and-more"
	for _, url := range []string{
		"postgres://ann:" + password + "@127.0.0.1:1/db?connect_timeout=1",
		"postgres://ann:" + password + "@127.0.0.1:port/db",
		"host=/nowhere user=ann password=" + password,
		"host=/nowhere user=ann password='" + password + "' sslmode=perhaps",
		"postgres://127.0.0.1:1/db?user=ann&password=" + password,
		"://" + password,
	} {
		_, _, err := postgres.Open(t.Context(), postgres.Options{URL: newSecret(url), Connect: time.Second})
		if err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("%s: %v", strings.ReplaceAll(url, password, "PASSWORD"), err)
		}
	}
}

// A password of a letter is no reason to cut that letter out of the words.
func TestAnErrorIsReadableWhateverThePassword(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"b", "e", "database"} {
		for url, want := range map[string]string{
			"postgres://ann:" + password + "@127.0.0.1:1/box":             "the database does not answer: 127.0.0.1:1: connection refused",
			"host=127.0.0.1 port=1 password=" + password:                  "the database does not answer: 127.0.0.1:1: connection refused",
			"postgres://ann:" + password + "@127.0.0.1/box?sslmode=maybe": "database_url is not valid: failed to configure TLS",
		} {
			_, _, err := postgres.Open(t.Context(), postgres.Options{URL: newSecret(url), Connect: time.Second})
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v", url, err)
			}
		}
	}
}

// A server that answers and refuses is not one that does not answer.
func TestARefusalIsToldApartFromSilence(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t).Reveal()
	for change, want := range map[[2]string]string{
		{"dbname=", "dbname=no"}:              `" does not exist`,
		{"user=postgres", "user=unknownrole"}: `role "unknownrole" does not exist`,
	} {
		_, _, err := postgres.Open(t.Context(), unhurried(newSecret(strings.Replace(url, change[0], change[1], 1))))
		if !errors.Is(err, postgres.ErrRefused) || !errors.Is(err, record.ErrUnavailable) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "TLS") {
			t.Errorf("%s: %v", change[1], err)
		}
	}
}
