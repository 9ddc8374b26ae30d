package model

import (
	"errors"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
)

// edit sets limits, and reports whether they are valid: the end lies ahead, a view is
// left, and the terms allow it.
func (m *model) thaw(t *rapid.T) {
	p, gone := m.some(t)
	if p == nil {
		return
	}
	by := m.someone(t)
	n, known := m.name(t, p, by)
	got, err := m.f.ThawPush(ctx, by.actor(), n)
	switch {
	case gone || !known:
		m.wantErr("thaw", err, record.ErrNotFound)
	case by == nil || by != p.owner:
		m.wantErr("thaw", err, record.ErrDenied)
	default:
		m.wantErr("thaw", err, nil)
		p.thaw(m.now())
		m.same("thaw", got, p)
	}
}

func (m *model) edit(t *rapid.T) {
	p, gone := m.some(t)
	if p == nil {
		return
	}
	by, now := m.someone(t), m.now()
	var e store.PushEdit
	if rapid.Bool().Draw(t, "edits days") {
		e.Days = new(rapid.IntRange(0, 91).Draw(t, "days"))
	}
	if rapid.Bool().Draw(t, "edits views") {
		e.Views = new(rapid.IntRange(0, 6).Draw(t, "views"))
	}
	if rapid.Bool().Draw(t, "edits the name") {
		e.Name = new(secret.New(rapid.SampledFrom(modelWords).Draw(t, "name")))
	}
	n, known := m.name(t, p, by)
	got, err := m.f.EditPush(ctx, by.actor(), n, e)
	switch {
	case gone || !known:
		m.wantErr("edit", err, record.ErrNotFound)
		return
	case by == nil || by != p.owner:
		m.wantErr("edit", err, record.ErrDenied)
		return
	}
	was := *p
	if p.endIfDue(now); p.live() && !p.edit(e, now) {
		*p = was
		var bad *record.InvalidError
		if !errors.As(err, &bad) {
			m.Fatalf("edit of %v: %v", p, err)
		}
		return
	}
	m.wantErr("edit", err, nil)
	m.same("edit", got, p)
}

// edit sets limits, and reports whether they are valid: the end is in the future, a
// view is left, and the terms allow it.
func (p *push) edit(e store.PushEdit, now time.Time) bool {
	changed, days := false, time.Duration(p.days)*day
	if e.Days != nil && (*e.Days != p.days || !p.expires.Equal(p.created.Add(days))) {
		end := p.created.Add(time.Duration(*e.Days) * day)
		if *e.Days < 1 || *e.Days > 90 || !end.After(now) {
			return false
		}
		p.days, p.expires, changed = *e.Days, end, true
	}
	if e.Views != nil && *e.Views != p.limit {
		if *e.Views <= p.views || *e.Views > 100 {
			return false
		}
		p.limit, changed = *e.Views, true
	}
	if e.Name != nil && e.Name.Reveal() != p.name {
		p.name, changed = e.Name.Reveal(), true
	}
	if changed {
		p.enter(record.EntryEdit, now)
	}
	return true
}

// history compares a push's audit log and openings, for its owner and for others.
func (m *model) history(t *rapid.T) {
	p, gone := m.some(t)
	if p == nil {
		return
	}
	by := m.someone(t)
	n, known := m.name(t, p, by)
	_, auditErr := m.f.Audit(ctx, by.actor(), n, 1)
	got, err := m.f.History(ctx, by.actor(), n, 1)
	want := error(nil)
	switch {
	case gone || !known:
		want = record.ErrNotFound
	case by == nil || by != p.owner:
		want = record.ErrDenied
	}
	m.wantErr("audit", auditErr, want)
	if m.wantErr("history", err, want); want != nil {
		return
	}
	p.endIfDue(m.now())
	m.same("history", got.PushInfo, p)
	m.sameLog(got.Log, p)
	if got.Name.Reveal() != p.name || got.Note.Reveal() != p.note {
		m.Fatalf("the name or the note of %v is another", p)
	}
	m.views(p)
}

func (m *model) sameLog(got []store.LogEntry, p *push) {
	for i, e := range p.log[:min(len(p.log), store.PageSize)] {
		if i >= len(got) || got[i].Kind != e.Kind || !got[i].At.Equal(e.At) {
			m.Fatalf("entry %d of %v: %v at %v, not in %v", i, p, e.Kind, e.At, got)
		}
	}
	if len(got) > len(p.log) {
		m.Fatalf("%v has %d entries, not %d", p, len(got), len(p.log))
	}
}

func (m *model) views(p *push) {
	looked, err := m.f.Look(ctx, p.token)
	m.wantErr("views", err, nil)
	got := looked.Before
	var views []time.Time
	for _, e := range slices.Backward(p.log) {
		if e.Kind == record.EntryView && len(views) < 5 {
			views = append(views, e.At)
		}
	}
	if got.Count != p.views || !slices.EqualFunc(got.Last, views, time.Time.Equal) {
		m.Fatalf("%v has %d views: %v, not %v", p, got.Count, got.Last, views)
	}
}

func (m *model) list(t *rapid.T) {
	a, live := m.someone(t), rapid.Bool().Draw(t, "live")
	got, err := m.f.Pushes(ctx, a.actor(), live, 1)
	m.wantErr("list", err, nil)
	m.sameList(got, a, live, nil)
}

func (m *model) search(t *rapid.T) {
	a, live := m.someone(t), rapid.Bool().Draw(t, "live")
	words := rapid.SampledFrom([]string{"", "alpha", "ALPHA beta", "gamma", "delta"}).Draw(t, "words")
	got, err := m.f.SearchPushes(ctx, a.actor(), store.Search{Live: live, Words: words}, 1)
	m.wantErr("search", err, nil)
	if got.More || got.Cut {
		m.Fatal("there is more than there can be")
	}
	m.sameList(got.Pushes, a, live, strings.Fields(strings.ToLower(words)))
}

// sameList compares a list of an account's pushes: newest first, in the order in which they
// were made. Listing live ones ends those whose time is over.
func (m *model) sameList(got []store.PushInfo, a *account, live bool, words []string) {
	var want []*push
	for _, p := range m.pushes {
		if live && p.owner == a && a != nil {
			p.endIfDue(m.now())
		}
		if a == nil || p.owner != a || p.live() != live {
			continue
		}
		about := strings.ToLower(p.name + "\n" + p.note)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(about, w) }) {
			want = append(want, p)
		}
	}
	if len(got) != len(want) {
		m.Fatalf("%d are listed, not %d", len(got), len(want))
	}
	slices.Reverse(want)
	for i, g := range got {
		p := want[i]
		if p.listed() != g.URLToken() || g.Name.Reveal() != p.name || g.Note.Reveal() != p.note {
			m.Fatalf("%v is listed in place %d", g.Push, i)
		}
		m.same("list", g, p)
	}
}
