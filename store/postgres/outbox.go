package postgres

import (
	"bytes"
	"context"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"pushbox/store/record"
)

// DueMessages lists the messages that q selects, earliest first, and returns the time of the first
// one that only q.Until or q.Limit excludes. With a lease, it claims them. Messages that another
// process has claimed are not listed until that lease ends; this process may claim its own again.
func (db *DB) DueMessages(ctx context.Context, q record.MessageQuery) (due []record.Message, next time.Time, err error) {
	done, err := db.begin(ctx)
	if err != nil {
		return nil, next, err
	}
	defer done()
	err = db.refreshed(ctx, func(s sealer) error {
		return db.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
			leased := make(map[uint64]time.Time)
			if due, next, err = q.Select(db.waiting(ctx, c, s, q, leased)); err != nil || q.Lease.IsZero() {
				return err
			}
			due, err = db.claim(ctx, c, q, due)
			for _, until := range leased {
				if next.IsZero() || until.Before(next) {
					next = until
				}
			}
			return err
		})
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	return due, next, nil
}

// duePage is how many messages are read at a time.
const duePage = 200

// waiting walks the messages of a route by the time of their next try, a page at a time. If q asks
// for a lease, it skips those that another process has claimed. The query excludes recipients that
// q excludes or whose limit is reached: a receiver that is gone may have most of the outbox.
func (db *DB) waiting(ctx context.Context, c *pgxpool.Conn, s sealer, q record.MessageQuery, leased map[uint64]time.Time) iter.Seq2[record.Message, error] {
	return func(yield func(record.Message, error) bool) {
		taken, except := make(map[uint64]int), []int64{}
		for to := range q.Except {
			except = append(except, int64(to))
		}
		for after, n := (record.Message{}), duePage; n == duePage; {
			page, err := db.waitingPage(ctx, c, s, q.Route, after, except)
			if err != nil {
				yield(record.Message{}, err)
				return
			}
			n = len(page)
			for _, m := range page {
				after = m.Message
				if !q.Lease.IsZero() && m.lease > milliseconds(q.Until) && !bytes.Equal(m.holder, db.self[:]) {
					leased[m.Number] = timeOf(m.lease)
					continue
				}
				if taken[m.To]++; taken[m.To] == q.Each {
					except = append(except, int64(m.To))
				}
				if !yield(m.Message, nil) {
					return
				}
			}
		}
	}
}

// A leasedMessage is a message with its lease.
type leasedMessage struct {
	record.Message
	lease  int64
	holder []byte
}

func (db *DB) waitingPage(ctx context.Context, c *pgxpool.Conn, s sealer, by record.Route, after record.Message, except []int64) ([]leasedMessage, error) {
	l := layouts[record.Messages.Table]
	return collect(ctx, c, func(r pgx.CollectableRow) (m leasedMessage, err error) {
		one, _, err := l.scan(s, record.Messages.Table, r, &m.lease, &m.holder)
		if err == nil {
			m.Message = one.(record.Message)
		}
		return m, err
	}, l.selects(", lease, holder")+` where route = $1 and (next_at, number) > ($2::bigint, $3::bigint)
		and recipient <> all ($4::bigint[]) order by next_at, number limit $5`, int16(by), milliseconds(after.NextAt), int64(after.Number), except, duePage)
}

// claim leases messages, and returns those that it got.
func (db *DB) claim(ctx context.Context, c *pgxpool.Conn, q record.MessageQuery, due []record.Message) ([]record.Message, error) {
	if len(due) == 0 {
		return nil, nil
	}
	numbers := make([]int64, len(due))
	for i, m := range due {
		numbers[i] = int64(m.Number)
	}
	got, err := collect(ctx, c, pgx.RowTo[int64], `update outbox set lease = $1::bigint, holder = $4::bytea where number in
		(select number from outbox where number = any ($2::bigint[]) and (lease <= $3::bigint or holder = $4) for update skip locked) returning number`,
		milliseconds(q.Lease), numbers, milliseconds(q.Until), db.self[:])
	if err != nil {
		return nil, err
	}
	own := make(map[uint64]bool, len(got))
	for _, n := range got {
		own[uint64(n)] = true
	}
	var list []record.Message
	for _, m := range due {
		if own[m.Number] {
			list = append(list, m)
		}
	}
	return list, nil
}

// CountMessages returns how many messages wait for each recipient.
func (db *DB) CountMessages(ctx context.Context) (map[record.Recipient]int, error) {
	type count struct {
		to record.Recipient
		n  int
	}
	list, err := listed(ctx, db, func(_ sealer, r pgx.CollectableRow) (v count, err error) {
		var route int16
		var to int64
		err = r.Scan(&route, &to, &v.n)
		v.to = record.Recipient{Route: record.Route(route), To: uint64(to)}
		return v, err
	}, "select route, recipient, count(*) from outbox group by route, recipient")
	if err != nil {
		return nil, err
	}
	all := make(map[record.Recipient]int, len(list))
	for _, v := range list {
		all[v.to] = v.n
	}
	return all, nil
}
