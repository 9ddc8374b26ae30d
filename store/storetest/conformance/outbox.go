package conformance

import (
	"testing"
	"time"

	"pushbox/store/record"
)

var outboxSuite = suite{
	"messages wait in the order of their next try":            ordersMessages,
	"mail is kept with the step that sends it, or neither is": sendsMail,
	"mail counts against the quotas of its day":               countsMail,
	"an account without a confirmed address sends no mail":    sendsConfirmed,
	"optional mail is left out, and the change is made":       leavesMailOut,
	"mail about an answer that may not be sent is left out":   answersWithoutMail,
}

// Hook is a webhook of an account, before it gets its ID.
func Hook(owner record.AccountID) record.Hook {
	return record.Hook{Owner: owner, CreatedAt: epoch, Events: record.NewEventSet(record.EventView), Sealed: []byte("sealed address")}
}

// dueAt asks for messages to webhooks that are due n minutes after epoch.
func dueAt(n, limit int) record.MessageQuery {
	return record.MessageQuery{Route: record.ByWebhook, Until: epoch.Add(time.Duration(n) * time.Minute), Limit: limit}
}

// messageAt is a message to try n minutes after epoch, before it gets its number.
func messageAt(n int) record.Message {
	at := epoch.Add(time.Duration(n) * time.Minute)
	return record.Message{Route: record.ByWebhook, To: uint64(n), CreatedAt: at, NextAt: at, Sealed: []byte("sealed notice")}
}

// withMessages counts a view with messages about it.
func withMessages(ms ...record.Message) record.Rule {
	return func(p record.Push) (record.Push, record.Entry, error) {
		next, entry, err := View(p)
		if err == nil {
			entry.Messages = ms
		}
		return next, entry, err
	}
}

// wantMessages fails the test unless these are the messages that are due n minutes
// after epoch, by recipient, and the next one is that many minutes after epoch; -1:
// there is none.
func wantMessages(t *testing.T, e record.Engine, n, next int, to ...uint64) []record.Message {
	t.Helper()
	return wantNext(t, e, dueAt(n, 100), next, to...)
}

func wantNext(t *testing.T, e record.Engine, q record.MessageQuery, next int, to ...uint64) []record.Message {
	t.Helper()
	due, then, err := e.DueMessages(t.Context(), q)
	Must(t, err)
	Same(t, "messages due", recipients(due), to)
	var want time.Time
	if next >= 0 {
		want = epoch.Add(time.Duration(next) * time.Minute)
	}
	if !then.Equal(want) {
		t.Errorf("the next one is due at %v, not %v", then, want)
	}
	return due
}

func wantWaiting(t *testing.T, e record.Engine, want int) {
	t.Helper()
	n := 0
	for _, each := range got(e.CountMessages(t.Context())).of(t) {
		n += each
	}
	Same(t, "messages waiting", n, want)
}

func ordersMessages(t *testing.T, e record.Engine) {
	wantMessages(t, e, 100, -1)
	create(t, e, 1, 0)
	c := change(t, e, PushID(1), withMessages(messageAt(3), messageAt(1), messageAt(2), messageAt(1)))
	Same(t, "messages kept", len(c.Entry.Messages), 4)
	wantMessages(t, e, 0, 1)
	due := wantMessages(t, e, 2, 3, 1, 1, 2)
	if due[0].Number >= due[1].Number || due[0].Number == 0 {
		t.Errorf("the numbers are %d and %d", due[0].Number, due[1].Number)
	}
	want := messageAt(1)
	want.Number = due[0].Number
	Same(t, "message", due[0], want)
	scribble(due[0].Sealed)
	Same(t, "message after its copy was changed", wantMessages(t, e, 1, 2, 1, 1)[0], want)
	wantMessages(t, e, 3, -1, 1, 1, 2, 3)
	wantWaiting(t, e, 4)

	Must(t, Made(e.CreatePush(t.Context(), LivePush(2, 0), Payload(2), mailed(2, messageAt(4)))))
	Same(t, "messages of each", got(e.CountMessages(t.Context())).of(t), map[record.Recipient]int{
		{Route: record.ByWebhook, To: 1}: 2, {Route: record.ByWebhook, To: 2}: 1,
		{Route: record.ByWebhook, To: 3}: 1, {Route: record.ByMail, To: 4}: 1,
	})
	hour := func(change func(*record.MessageQuery)) record.MessageQuery {
		q := dueAt(60, 100)
		change(&q)
		return q
	}
	for name, c := range map[string]struct {
		query record.MessageQuery
		want  []uint64
		next  int // minutes after epoch; -1: none
	}{
		"except some":         {hour(func(q *record.MessageQuery) { q.Except = map[uint64]bool{1: true, 3: true} }), []uint64{2}, -1},
		"the first two":       {dueAt(60, 2), []uint64{1, 1}, 2},
		"one each":            {hour(func(q *record.MessageQuery) { q.Each = 1 }), []uint64{1, 2, 3}, -1},
		"one each of two":     {hour(func(q *record.MessageQuery) { q.Each, q.Limit = 1, 2 }), []uint64{1, 2}, 3},
		"except the next one": {hour(func(q *record.MessageQuery) { q.Except, q.Until = map[uint64]bool{1: true, 2: true}, epoch }), nil, 3},
		"by mail":             {hour(func(q *record.MessageQuery) { q.Route = record.ByMail }), []uint64{4}, -1},
	} {
		t.Log(name)
		wantNext(t, e, c.query, c.next, c.want...)
	}
}

// mailed is the first entry of the n-th push, with a message by mail.
func mailed(n int, m record.Message) record.Entry {
	e := Creation(LivePush(n, 0))
	m.Route = record.ByMail
	e.Messages = []record.Message{m}
	return e
}

// recipients are the recipients of messages, in their order.
func recipients(ms []record.Message) (to []uint64) {
	for _, m := range ms {
		to = append(to, m.To)
	}
	return to
}
