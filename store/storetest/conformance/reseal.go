package conformance

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pushbox/store/cold"
	"pushbox/store/record"
)

var resealSuite = suite{
	"every record is sealed anew, and nothing else changes": resealsEverything,
	"a key ring is found while it is there":                 findsTheRing,
}

// nothingSealed is a Resealer that finds nothing to do.
type nothingSealed struct{}

func (nothingSealed) ResealPush(p record.Push) (record.Push, error) { return p, nil }

func (nothingSealed) ResealEntry(_ record.ID, e record.Entry) (record.Entry, error) { return e, nil }

func (nothingSealed) ResealRecord(r record.Record) (record.Record, error) { return r, nil }

func (nothingSealed) ResealMessage(m record.Message) (record.Message, error) { return m, nil }

// marker is a Resealer that marks what is sealed.
type marker struct{}

const mark = " sealed anew"

func marked(b []byte) []byte {
	if bytes.HasSuffix(b, []byte(mark)) {
		return b
	}
	return append(bytes.Clone(b), mark...)
}

func (marker) ResealPush(p record.Push) (record.Push, error) {
	p.Details = marked(p.Details)
	return p, nil
}

func (marker) ResealEntry(_ record.ID, e record.Entry) (record.Entry, error) {
	e.Sealed = marked(e.Sealed)
	return e, nil
}

func (marker) ResealRecord(found record.Record) (record.Record, error) {
	switch one := found.(type) {
	case record.Account:
		one.TOTP = string(marked([]byte(one.TOTP)))
		return one, nil
	case record.Session:
		one.Sealed = marked(one.Sealed)
		return one, nil
	case record.Hook:
		one.Sealed = marked(one.Sealed)
		return one, nil
	case record.Request:
		one.Sealed = marked(one.Sealed)
		return one, nil
	case record.AdminEvent:
		one.Sealed = marked(one.Sealed)
		return one, nil
	default:
		return found, nil
	}
}

func (marker) ResealMessage(m record.Message) (record.Message, error) {
	m.Sealed = marked(m.Sealed)
	return m, nil
}

func resealsEverything(t *testing.T, e record.Engine) {
	Fill(t, e)
	owner, err := cold.AccountByEmail(t.Context(), e, "owner@example.org")
	Must(t, err)
	_, err = cold.CreateHook(t.Context(), e, Hook(owner.ID), Told)
	Must(t, err)
	change(t, e, pushID(1), withMessages(messageAt(1)))
	for _, want := range []bool{true, false} {
		changed, err := e.Reseal(t.Context(), marker{}, func(int64, int64) {})
		Must(t, err)
		Same(t, "something was sealed anew", changed > 0, want)
	}
	CheckFilled(t, e)
	has := func(what string, sealed []byte) {
		if !strings.HasSuffix(string(sealed), mark) {
			t.Errorf("%s is not sealed anew: %q", what, sealed)
		}
	}
	ps, err := e.Scan(t.Context(), record.ID{}, 100)
	Must(t, err)
	for _, p := range ps {
		has("a push", p.Details)
		es, err := e.Entries(t.Context(), p.ID, 0, 100)
		Must(t, err)
		for _, en := range es {
			has("an entry", en.Sealed)
		}
	}
	owner, err = cold.Account(t.Context(), e, owner.ID)
	Must(t, err)
	has("a second factor", []byte(owner.TOTP))
	sessions, err := cold.Sessions(t.Context(), e, owner.ID, 10)
	Must(t, err)
	for _, s := range sessions {
		has("a session", s.Sealed)
	}
	hooks, err := cold.Hooks(t.Context(), e, 0, 0, 10)
	Must(t, err)
	for _, h := range hooks {
		has("a webhook", h.Sealed)
	}
	rs, err := cold.ScanRequests(t.Context(), e, record.RequestID{}, 10)
	Must(t, err)
	for _, r := range rs {
		has("a request", r.Sealed)
	}
	ms, err := e.Messages(t.Context(), record.Message{}, 10)
	Must(t, err)
	for _, m := range ms {
		has("a message", m.Sealed)
	}
	for what, n := range map[string]int{"pushes": len(ps), "sessions": len(sessions), "webhooks": len(hooks), "requests": len(rs), "messages": len(ms)} {
		if n == 0 {
			t.Errorf("there are no %s", what)
		}
	}
}

func findsTheRing(t *testing.T, e record.Engine) {
	find := func(text string) bool {
		found, err := e.FindRing(t.Context(), func(b []byte) bool { return strings.HasPrefix(string(b), text) })
		Must(t, err)
		return found
	}
	Must(t, e.SetKeyRing(t.Context(), []byte("the first ring"), Keys{}, Told))
	Same(t, "the first is found", find("the first ring"), true)
	Must(t, e.SetKeyRing(t.Context(), []byte("the second ring"), Keys{}, Told))
	err := record.ErrBusy
	for errors.Is(err, record.ErrBusy) { // another compaction runs
		err = e.Compact(t.Context(), func(int64, int64) {})
	}
	Must(t, err)
	Same(t, "the second is found", find("the second ring"), true)
	Same(t, "after a compaction the first is found", find("the first ring"), false)
}
