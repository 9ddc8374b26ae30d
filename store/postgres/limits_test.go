package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// messages are waiting ones to a recipient.
func messages(to uint64, at time.Time, n int) (all []record.Message) {
	for i := range n {
		all = append(all, record.Message{Route: record.ByWebhook, To: to, CreatedAt: at, NextAt: at.Add(time.Duration(i) * time.Millisecond), Sealed: []byte("sealed")})
	}
	return all
}

// A step takes no connection beside the one that it has: else steps that each have one could
// wait for each other.
func TestAStepNeedsOneConnection(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := openURL(t, secret.New(url.Reveal()+" pool_max_conns=1"), func(o *postgres.Options) { o.MaxSize = 1 << 40 })
	defer db.Close()
	id := newAccount(t, db)
	p := conformance.LivePush(1, id)
	p.ViewLimit = 1000
	pushed(t, db, p)
	const views = 20
	ctx, cancel := context.WithTimeout(t.Context(), env.Patience)
	defer cancel()
	var viewers sync.WaitGroup
	for n := range views {
		viewers.Go(func() {
			c, err := db.Change(ctx, p.ID, func(p record.Push) (record.Push, record.Entry, error) {
				postgres.ForgetSize(db)
				next, e, err := conformance.View(p)
				e.Messages = messages(1, p.CreatedAt, 1)
				if n%2 == 0 {
					e.Mail = conformance.MailTo(7, 100, 1, 2)
					e.Mail.Sender = id
				}
				return next, e, err
			})
			if err != nil || len(c.Entry.Messages) != 1 {
				t.Errorf("%d messages are kept, %v", len(c.Entry.Messages), err)
			}
		})
	}
	viewers.Wait()
	if n := shared(t, db).Retries; n > 0 {
		t.Errorf("%d attempts waited in vain", n)
	}
	conformance.CheckClean(t, db)
}

func TestAFullDatabaseTakesNothingMore(t *testing.T) {
	t.Parallel()
	db := openURL(t, pgtest.URL(t), func(o *postgres.Options) { o.MaxSize = 1 << 40 })
	defer db.Close()
	p, q := conformance.LivePush(1, 0), conformance.LivePush(2, 0)
	pushed(t, db, p)
	db.SetSpaceLimits(record.SpaceLimits{MaxSize: 1 << 20}) // an empty database takes more
	if err := conformance.Made(db.CreatePush(t.Context(), q, []byte("payload"), conformance.Creation(q))); !errors.Is(err, record.ErrFull) {
		t.Errorf("create: %v", err)
	}
	if err := db.PutChunks(t.Context(), q.ID, 0, 0, [][]byte{[]byte("chunk")}); !errors.Is(err, record.ErrFull) {
		t.Errorf("upload: %v", err)
	}
	_, err := db.Change(t.Context(), p.ID, func(p record.Push) (record.Push, record.Entry, error) {
		next, e, err := conformance.View(p)
		e.Mail = conformance.MailTo(7, 9, 1)
		return next, e, err
	})
	if !errors.Is(err, record.ErrFull) {
		t.Errorf("mail: %v", err)
	}
	c, err := db.Change(t.Context(), p.ID, func(p record.Push) (record.Push, record.Entry, error) {
		next, e, err := conformance.View(p)
		e.Messages = messages(1, p.CreatedAt, 1)
		return next, e, err
	})
	if err != nil || c.Push.Views != 1 || len(c.Entry.Messages) != 0 {
		t.Errorf("a view with a message: %d views, %d messages, %v", c.Push.Views, len(c.Entry.Messages), err)
	}
	db.SetSpaceLimits(record.SpaceLimits{})
	if err := conformance.Made(db.CreatePush(t.Context(), q, []byte("payload"), conformance.Creation(q))); err != nil {
		t.Errorf("create without a limit: %v", err)
	}
	conformance.CheckClean(t, db)
}

// All anonymous senders together have their share, at each server; those
// with an account are not bound by it.
func TestAnonymousSendersShareAPart(t *testing.T) {
	t.Parallel()
	const max = 1 << 30
	all := servers(t, 2, func(o *postgres.Options) { o.MaxSize, o.Room.Anonymous = max, 10 })
	id := newAccount(t, all[0])
	create := func(db *postgres.DB, n int, owner record.AccountID, size int64) error {
		p := conformance.LivePush(n, owner)
		p.Size, p.Holder = size, record.Holder{byte(n)}
		if owner != 0 {
			p.Holder = record.Holder{}
		}
		return conformance.Made(db.CreatePush(t.Context(), p, []byte("payload"), conformance.Creation(p)))
	}
	const part = max / 100 * 10
	env.OK(t, create(all[0], 1, 0, part/2))
	env.OK(t, create(all[1], 2, 0, part/2))
	var room *record.RoomError
	if err := create(all[1], 3, 0, part/2); !errors.As(err, &room) || room.Of != record.RoomOfAnonymous {
		t.Errorf("beyond the share: %v", err)
	}
	if err := create(all[1], 4, id, part); err != nil {
		t.Errorf("with an account: %v", err)
	}
	conformance.CheckClean(t, all[0])
}

func TestFiguresOfADatabase(t *testing.T) {
	t.Parallel()
	all := servers(t, 2)
	want := func(live int, oldest time.Time) {
		t.Helper()
		s, err := all[1].Stats(t.Context())
		if err != nil || int(s.Live) != live || !s.Oldest.Equal(oldest) || s.Size == 0 {
			t.Errorf("%+v, %v; not %d live, the first to end at %v", s, err, live, oldest)
		}
	}
	want(0, time.Time{})
	var made []record.Push
	for n := range 3 {
		p := conformance.LivePush(n+1, 0)
		p.ViewLimit = 1
		pushed(t, all[0], p)
		made = append(made, p)
	}
	want(3, made[0].ExpiresAt)
	if _, err := all[0].Change(t.Context(), made[0].ID, conformance.View); err != nil {
		t.Fatal(err)
	}
	want(2, made[1].ExpiresAt)
	if s, err := all[0].Stats(t.Context()); err != nil || s.Size < 1<<20 {
		t.Errorf("space: %+v, %v", s, err)
	}
}

// What a disk did to a payload or a chunk is found without any key.
func TestChangedContentsAreFound(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := openURL(t, url)
	defer db.Close()
	const pushes, chunks = 40, 50
	for n := range pushes {
		pushed(t, db, conformance.LivePush(n+1, 0))
	}
	late := conformance.LivePush(pushes+1, 0)
	for n := range chunks {
		env.OK(t, db.PutChunks(t.Context(), late.ID, n%2, n/2, [][]byte{[]byte("a chunk")}))
	}
	check := func(payload, chunk int) {
		t.Helper()
		var text strings.Builder
		last := int64(0)
		cover, err := db.CheckContents(t.Context(), func(problem string) { fmt.Fprintln(&text, problem) }, func(done, total int64) {
			if done < last || total < done {
				t.Errorf("%d of %d are done, and %d were", done, total, last)
			}
			last = done
		})
		if err != nil || int(cover.Payloads) != pushes || int(cover.Chunks) != chunks || cover.Bytes != last || last != pushes*7+chunks*7 {
			t.Errorf("it covers %+v, of %d, %v", cover, last, err)
		}
		if got := strings.Count(text.String(), "payload"); got != payload {
			t.Errorf("%d payloads: %s", got, &text)
		}
		if got := strings.Count(text.String(), "chunk"); got != chunk {
			t.Errorf("%d chunks: %s", got, &text)
		}
	}
	check(0, 0)
	pgtest.Raw(t, url, `update payload set data = set_byte(data, 3, 0) where id in (select id from payload order by id offset 20 limit 2)`,
		`update chunk set data = data || '\x00' where file = 1 and number = 24`,
		`update chunk set data = substring(data for 6) where file = 0 and number = 0`)
	check(2, 2)
}

// What waits for a receiver that is gone is not read, nor all that waits before what is due.
func TestDueMessagesAreReadInPages(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	defer db.Close()
	p := conformance.LivePush(1, 0)
	e := conformance.Creation(p)
	at := p.CreatedAt
	const many = 3*postgres.MessagesRead + 1
	e.Messages = append(append(messages(1, at, many), messages(2, at.Add(time.Millisecond), 2)...), messages(3, at.Add(time.Hour), 5)...)
	env.OK(t, conformance.Made(db.CreatePush(t.Context(), p, []byte("payload"), e)))
	for name, c := range map[string]struct {
		q    record.MessageQuery
		to   map[uint64]int
		next time.Time
	}{
		"all":               {record.MessageQuery{Until: at.Add(time.Minute), Limit: 10000}, map[uint64]int{1: many, 2: 2}, at.Add(time.Hour)},
		"at a later time":   {record.MessageQuery{Until: at.Add(2 * time.Hour), Limit: 10000}, map[uint64]int{1: many, 2: 2, 3: 5}, time.Time{}},
		"but for one":       {record.MessageQuery{Until: at.Add(time.Minute), Limit: 10000, Except: map[uint64]bool{1: true}}, map[uint64]int{2: 2}, at.Add(time.Hour)},
		"some to each":      {record.MessageQuery{Until: at.Add(2 * time.Hour), Limit: 10000, Each: 2}, map[uint64]int{1: 2, 2: 2, 3: 2}, time.Time{}},
		"a few":             {record.MessageQuery{Until: at.Add(time.Minute), Limit: 1}, map[uint64]int{1: 1}, at.Add(time.Millisecond)},
		"a page":            {record.MessageQuery{Until: at, Limit: postgres.MessagesRead}, map[uint64]int{1: 1}, at.Add(time.Millisecond)},
		"exactly two pages": {record.MessageQuery{Until: at.Add(time.Hour), Limit: 2 * postgres.MessagesRead, Except: map[uint64]bool{2: true}}, map[uint64]int{1: 2 * postgres.MessagesRead}, at.Add(2 * postgres.MessagesRead * time.Millisecond)},
	} {
		c.q.Route = record.ByWebhook
		due, next, err := db.DueMessages(t.Context(), c.q)
		got := make(map[uint64]int)
		for i, m := range due {
			if got[m.To]++; i > 0 && m.NextAt.Before(due[i-1].NextAt) {
				t.Errorf("%s: out of order", name)
			}
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(c.to) || !next.Equal(c.next) {
			t.Errorf("%s: %v, the next at %v, %v", name, got, next, err)
		}
	}
}
