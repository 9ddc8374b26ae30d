package cold_test

import (
	"testing"
	"time"

	"pushbox/store/cold"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

func TestMessages(t *testing.T) {
	suite{
		"messages are listed by the time of their next try":     listsMessages,
		"a message waits for the time of its next try":          retriesMessages,
		"messages that ended are gone":                          endsMessages,
		"counts of mail to addresses are cleared by their day":  clearsQuotas,
		"an account sends mail with its change, or has neither": changesWithMail,
		"sessions and messages are forgotten, and nothing else": forgets,
	}.run(t)
}

// post puts messages to webhooks into the outbox, each to be tried that many minutes after epoch.
func post(t *testing.T, e record.Engine, minutes ...int) {
	t.Helper()
	must(t, e.Update(t.Context(), func(x record.Tx) error {
		var all []record.Message
		for _, n := range minutes {
			at := epoch.Add(time.Duration(n) * time.Minute)
			all = append(all, record.Message{Route: record.ByWebhook, To: uint64(n), CreatedAt: at, NextAt: at, Sealed: []byte("sealed notice")})
		}
		_, err := record.Post(x, all)
		return err
	}))
}

// waiting returns the messages that wait, which must be to these.
func waiting(t *testing.T, e record.Engine, to ...uint64) []record.Message {
	t.Helper()
	list, err := cold.Messages(t.Context(), e, record.Message{}, 100)
	must(t, err)
	var got []uint64
	for _, m := range list {
		got = append(got, m.To)
	}
	same(t, "recipients", got, to)
	return list
}

func listsMessages(t *testing.T, e record.Engine) {
	post(t, e, 3, 1, 2, 1)
	want := waiting(t, e, 1, 1, 2, 3)
	for _, limit := range []int{1, 2, 3} {
		var all []record.Message
		for last := (record.Message{}); ; last = all[len(all)-1] {
			list, err := cold.Messages(t.Context(), e, last, limit)
			must(t, err)
			if len(list) == 0 {
				break
			}
			all = append(all, list...)
		}
		same(t, "messages", all, want)
	}
}

func retriesMessages(t *testing.T, e record.Engine) {
	post(t, e, 1, 2)
	first, later := waiting(t, e, 1, 2)[0], epoch.Add(5*time.Minute)
	must(t, cold.RetryMessage(t.Context(), e, first, later))
	wantErr(t, cold.RetryMessage(t.Context(), e, first, later), record.ErrNotFound)
	want := first
	want.NextAt, want.Attempts = later, 1
	same(t, "message that was put off", waiting(t, e, 2, 1)[1], want)
	wantEnded(t, e, 0, first) // which has another time now
	waiting(t, e, 2, 1)
}

// wantEnded ends messages, of which that many must still be there.
func wantEnded(t *testing.T, e record.Engine, want int, all ...record.Message) {
	t.Helper()
	n, err := cold.EndMessages(t.Context(), e, all)
	must(t, err)
	same(t, "messages that ended", n, want)
}

func endsMessages(t *testing.T, e record.Engine) {
	post(t, e, 1, 2, 3)
	all := waiting(t, e, 1, 2, 3)
	wantEnded(t, e, 2, all[:2]...)
	wantEnded(t, e, 1, all...)
	waiting(t, e)
	wantErr(t, cold.RetryMessage(t.Context(), e, all[0], epoch), record.ErrNotFound)
	post(t, e, 1)
	if m := waiting(t, e, 1)[0]; m.Number <= all[2].Number {
		t.Errorf("message %d came after %d", m.Number, all[2].Number)
	}
}

// send sends mail by a step that does nothing else.
func send(t *testing.T, e record.Engine, b *record.MailBatch) error {
	t.Helper()
	return e.Update(t.Context(), func(x record.Tx) error {
		_, err := record.Send(x, b)
		return err
	})
}

func clearsQuotas(t *testing.T, e record.Engine) {
	owner := account(t, e, "a@example.org")
	own := &record.MailBatch{Quotas: []record.Quota{{Of: owner, Day: 7, Add: 2, Most: 2}}}
	for _, b := range []*record.MailBatch{own, conformance.MailTo(7, 1, 1, 3, 5), conformance.MailTo(8, 1, 2, 4)} {
		must(t, send(t, e, b))
	}
	clear := func(after byte, limit int, day uint64, last byte, more bool) {
		t.Helper()
		from := record.Addressee{0, after}
		if after == 0 {
			from = record.Addressee{}
		}
		read, rest, err := cold.ClearQuotas(t.Context(), e, from, limit, day)
		must(t, err)
		same(t, "last", read, record.Addressee{0, last})
		same(t, "more", rest, more)
	}
	clear(0, 2, 7, 2, true)
	clear(2, 2, 7, 4, true)
	clear(4, 2, 7, 5, false)
	clear(0, 9, 8, 5, false) // 1, 3 and 5 go
	clear(0, 9, 8, 4, false)
	clear(0, 1, 8, 2, true)
	clear(2, 1, 8, 4, true)
	clear(4, 1, 8, 4, false)
	conformance.WantQuota(t, send(t, e, conformance.MailTo(8, 1, 2)), record.QuotaOfAddressee)
	conformance.WantQuota(t, send(t, e, own), record.QuotaOfAccount)
	must(t, send(t, e, conformance.MailTo(7, 1, 1)))
}

func changesWithMail(t *testing.T, e record.Engine) {
	eve, err := cold.CreateAccount(t.Context(), e, record.Account{Email: "e@example.org", CreatedAt: epoch, Unconfirmed: true}, conformance.Told)
	must(t, err)
	send := func(code byte, b *record.MailBatch, untold bool) error {
		_, err := cold.ChangeAccount(t.Context(), e, eve, record.SessionDigest{}, func(a record.Account) (record.Account, record.SessionChange, record.AdminEvent, error) {
			if code != 0 {
				a.Code = record.AddressCode{Sum: [16]byte{code}, SentAt: epoch, Sent: 1}
			}
			return a, record.SessionChange{Mail: b, Untold: untold}, conformance.Told, nil
		})
		return err
	}
	want := func(code byte, events int, to ...uint64) {
		t.Helper()
		a, err := cold.Account(t.Context(), e, eve)
		must(t, err)
		same(t, "code", a.Code.Sum[0], code)
		waiting(t, e, to...)
		same(t, "events", len(eventsOf(t, e)), events)
	}
	want(0, 1)
	must(t, send(1, conformance.MailTo(7, 1, 1), true))
	want(1, 1, 0)
	conformance.WantQuota(t, send(2, conformance.MailTo(7, 1, 1), false), record.QuotaOfAddressee)
	want(1, 1, 0)
	must(t, send(0, conformance.MailTo(7, 1, 2), true)) // mail alone is a change
	want(1, 1, 0, 0)
	must(t, send(3, nil, true))
	want(3, 1, 0, 0)
	must(t, send(4, nil, false))
	want(4, 2, 0, 0)
}

func forgets(t *testing.T, e record.Engine) {
	owner := account(t, e, "a@example.org")
	begin(t, e, owner, 1, false)
	pending := begin(t, e, owner, 2, true)
	post(t, e, 1, 2)
	must(t, send(t, e, conformance.MailTo(7, 1, 1)))
	must(t, cold.Forget(t.Context(), e))
	waiting(t, e)
	list, err := cold.Sessions(t.Context(), e, owner, 9)
	must(t, err)
	same(t, "sessions", len(list), 0)
	if s := begin(t, e, owner, 1, false); s.ID <= pending.ID {
		t.Errorf("session %d came after %d", s.ID, pending.ID)
	}
	conformance.WantQuota(t, send(t, e, conformance.MailTo(7, 1, 1)), record.QuotaOfAddressee)
}
