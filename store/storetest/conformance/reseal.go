package conformance

import (
	"bytes"
	"slices"
	"testing"

	"pushbox/store/cold"
	"pushbox/store/record"
)

var resealSuite = suite{
	"every record is sealed anew, and nothing else changes": resealsEverything,
}

// NothingSealed is a Resealer that finds nothing to do.
type NothingSealed struct{ marker }

// A marker is a Resealer that ends with its mark what is sealed.
type marker struct{ mark string }

func (m marker) marked(b []byte) []byte {
	if bytes.HasSuffix(b, []byte(m.mark)) {
		return b
	}
	return append(bytes.Clone(b), m.mark...)
}

func (r marker) ResealPush(p record.Push) (record.Push, error) {
	p.Details = r.marked(p.Details)
	return p, nil
}

func (r marker) ResealEntry(_ record.ID, e record.Entry) (record.Entry, error) {
	e.Sealed = r.marked(e.Sealed)
	return e, nil
}

func (r marker) ResealRecord(found record.Record) (record.Record, error) {
	switch one := found.(type) {
	case record.Account:
		one.TOTP = string(r.marked([]byte(one.TOTP)))
		return one, nil
	case record.Session:
		one.Sealed = r.marked(one.Sealed)
		return one, nil
	case record.Hook:
		one.Sealed = r.marked(one.Sealed)
		return one, nil
	case record.Request:
		one.Sealed = r.marked(one.Sealed)
		return one, nil
	case record.Message:
		one.Sealed = r.marked(one.Sealed)
		return one, nil
	case record.AdminEvent:
		one.Sealed = r.marked(one.Sealed)
		return one, nil
	default:
		return found, nil
	}
}

func resealsEverything(t *testing.T, e record.Engine) {
	const mark = " sealed anew"
	Fill(t, e)
	owner := got(cold.AccountByEmail(t.Context(), e, "owner@example.org")).of(t).ID
	got(cold.CreateHook(t.Context(), e, Hook(owner), Told)).of(t)
	change(t, e, PushID(1), withMessages(messageAt(1)))
	for _, want := range []bool{true, false} {
		Same(t, "something was sealed anew", got(e.Reseal(t.Context(), marker{mark}, func(int64, int64) {})).of(t) > 0, want)
	}
	CheckFilled(t, e)
	sealed := map[string][][]byte{
		"second factors": {[]byte(got(cold.Account(t.Context(), e, owner)).of(t).TOTP)},
		"sessions":       each(got(cold.Sessions(t.Context(), e, owner, 10)).of(t), func(s record.Session) []byte { return s.Sealed }),
		"webhooks":       each(got(cold.Hooks(t.Context(), e, 0, 0, 10)).of(t), func(h record.Hook) []byte { return h.Sealed }),
		"requests":       each(got(cold.ScanRequests(t.Context(), e, record.RequestID{}, 10)).of(t), func(r record.Request) []byte { return r.Sealed }),
		"messages":       each(got(cold.Messages(t.Context(), e, record.Message{}, 10)).of(t), func(m record.Message) []byte { return m.Sealed }),
	}
	for _, p := range got(e.Scan(t.Context(), record.ID{}, 100)).of(t) {
		sealed["pushes"] = append(sealed["pushes"], p.Details)
		entries := got(e.Entries(t.Context(), p.ID, 0, 100)).of(t)
		sealed["entries"] = append(sealed["entries"], each(entries, func(en record.Entry) []byte { return en.Sealed })...)
	}
	for _, what := range []string{"second factors", "sessions", "webhooks", "requests", "messages", "pushes", "entries"} {
		if len(sealed[what]) == 0 || slices.ContainsFunc(sealed[what], func(b []byte) bool { return !bytes.HasSuffix(b, []byte(mark)) }) {
			t.Errorf("these %s are not all sealed anew: %q", what, sealed[what])
		}
	}
}

func each[T any](list []T, of func(T) []byte) (all [][]byte) {
	for _, one := range list {
		all = append(all, of(one))
	}
	return all
}
