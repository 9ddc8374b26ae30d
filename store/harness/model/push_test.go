package model

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"pgregory.net/rapid"

	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

// String names a push in rapid's output.
func (p *push) String() string {
	return fmt.Sprintf("%v of %v, created %v, state %d", p.kind, p.owner, p.created.Format(time.DateTime), p.state)
}

// some draws a push, sometimes one that is gone; nil where there is none.
func (m *model) some(t *rapid.T) (p *push, gone bool) {
	all := append(slices.Clone(m.pushes), m.purged[:min(2, len(m.purged))]...)
	if len(all) == 0 {
		return nil, false
	}
	p = rapid.SampledFrom(all).Draw(t, "push")
	return p, slices.Contains(m.purged, p)
}

// name draws a name of a push, and reports whether it is one to an account: a handle is
// only to the owner, and when the push has ended.
func (m *model) name(t *rapid.T, p *push, by *account) (n store.Name, known bool) {
	if rapid.IntRange(0, 3).Draw(t, "name") < 3 {
		return p.token, true
	}
	return p.handle, !p.live() && by != nil && by == p.owner
}

var (
	modelWords    = []string{"", "alpha", "Beta alpha", "gamma"}
	modelPayloads = map[record.Kind]string{record.Text: "s3cret\x00\r\n", record.URL: "https://example.com/?q=1", record.QR: "WIFI:S:x;;"}
)

func (m *model) create(t *rapid.T) {
	kind := rapid.SampledFrom([]record.Kind{record.Text, record.URL, record.QR}).Draw(t, "kind")
	m.add(t, store.NewPush{Kind: kind, Payload: text(modelPayloads[kind])}, nil)
}

func (m *model) createFiles(t *rapid.T) {
	if len(m.pushes) > 20 {
		return
	}
	u := m.f.NewUpload(m.f.Policy(""))
	defer u.Close(ctx)
	var files [][]byte
	for i := range rapid.IntRange(1, 3).Draw(t, "files") {
		c := storetest.Content(uint64(i), rapid.SampledFrom([]int{0, 1, 100}).Draw(t, "size"))
		if err := u.Add(ctx, bytes.NewReader(c)); err != nil {
			m.Fatalf("upload: %v", err)
		}
		files = append(files, c)
	}
	m.add(t, store.NewPush{Kind: record.File, Files: u}, files)
}

// add creates a push with random limits, as a random actor.
func (m *model) add(t *rapid.T, in store.NewPush, files [][]byte) {
	p := &push{
		kind: in.Kind, owner: m.someone(t), payload: in.Payload.Reveal(), files: files, holds: files != nil, state: record.Live,
		name: rapid.SampledFrom(modelWords).Draw(t, "name"), note: rapid.SampledFrom(modelWords).Draw(t, "note"),
		limit: rapid.IntRange(1, 4).Draw(t, "views"), deletable: rapid.Bool().Draw(t, "deletable"), created: m.now(),
	}
	if rapid.Bool().Draw(t, "short") {
		in.Lifetime, p.days = time.Duration(rapid.IntRange(1, 24*60).Draw(t, "minutes"))*time.Minute, 1
		p.expires = p.created.Add(in.Lifetime)
	} else {
		p.days = rapid.IntRange(1, 90).Draw(t, "days")
		in.Days, p.expires = new(p.days), p.created.Add(time.Duration(p.days)*day)
	}
	if m.costly && rapid.IntRange(0, 15).Draw(t, "protected") == 15 {
		p.passphrase = "right"
	}
	in.Name, in.Note, in.Passphrase = text(p.name), text(p.note), text(p.passphrase)
	in.Views, in.DeletableByViewer = new(p.limit), new(p.deletable)
	p.deletable = p.deletable && p.kind != record.URL
	p.enter(record.EntryCreation, p.created)
	got, err := m.f.CreatePush(ctx, p.owner.actor(), in)
	if p.owner != nil && p.owner.disabled {
		m.wantErr("create", err, record.ErrToken)
		return
	}
	m.wantErr("create", err, nil)
	p.token, p.handle = got.Token, got.Handle()
	m.same("create", got, p)
	m.pushes = append(m.pushes, p)
}

func (m *model) retrieve(t *rapid.T) {
	p, gone := m.some(t)
	if p == nil {
		return
	}
	by, given, now := m.someone(t), p.passphrase, m.now()
	if p.passphrase != "" {
		given = rapid.SampledFrom([]string{"right", "wrong", ""}).Draw(t, "passphrase")
	}
	n, known := m.name(t, p, by)
	got, err := m.f.Retrieve(ctx, by.actor(), n, text(given), nil)
	switch {
	case gone || !known:
		m.wantErr("retrieve", err, record.ErrNotFound)
		return
	case p.frozen && p.live() && now.Before(p.expires):
		m.wantErr("retrieve", err, record.ErrFrozen)
		return
	case given != p.passphrase && p.live() && now.Before(p.expires):
		m.wantErr("retrieve", err, record.ErrPassphrase)
		if given != "" {
			p.guess(now)
		}
		return
	}
	m.wantErr("retrieve", err, nil)
	if !p.retrieve(by, now) {
		if !got.Payload.IsZero() || !got.Grant.IsZero() {
			m.Fatalf("what has expired is delivered: %v", p)
		}
		m.same("retrieve", got, p)
		return
	}
	m.counts["delivered"]++
	if got.Payload.Reveal() != p.payload || got.State != record.Live || len(got.Files) != len(p.files) {
		m.Fatalf("not what was sent: %v", p)
	}
	if p.holds {
		g := &grant{secret: got.Grant.Reveal(), push: p, until: soonest(now.Add(day), p.expires)}
		g.end = soonest(now.Add(grantWindow), g.until)
		p.held = latest(p.held, g.end)
		m.grants = append(m.grants, g)
	}
	got.State, got.ExpiredAt = p.state, p.expired // it has the state before
	m.same("retrieve", got, p)
}

func (m *model) delete(t *rapid.T) {
	p, gone := m.some(t)
	if p == nil {
		return
	}
	by := m.someone(t)
	n, known := m.name(t, p, by)
	got, err := m.f.DeletePush(ctx, by.actor(), n)
	switch {
	case gone || !known:
		m.wantErr("delete", err, record.ErrNotFound)
	case !p.deletable && (by == nil || by != p.owner):
		m.wantErr("delete", err, record.ErrDenied)
	default:
		m.wantErr("delete", err, nil)
		if ended := p.remove(m.now()); got.Ended != ended {
			m.Fatalf("it was live: %t, not %t", ended, got.Ended)
		}
		m.same("delete", got, p)
	}
}

func (m *model) lookAt(t *rapid.T) {
	p, gone := m.some(t)
	if p == nil {
		return
	}
	got, err := m.f.Look(ctx, p.token)
	if gone {
		m.wantErr("look", err, record.ErrNotFound)
		return
	}
	m.wantErr("look", err, nil)
	p.endIfDue(m.now())
	m.same("look", got.PushInfo, p)
}

// look compares the state of every push.
func (m *model) look(*rapid.T) {
	for _, p := range m.pushes {
		got, err := m.f.Preview(ctx, p.token)
		m.wantErr("preview", err, nil)
		m.same("preview", got, p)
	}
}

// same compares a push of the store with the model.
func (m *model) same(what string, got store.PushInfo, p *push) {
	g := got.Push
	owner := record.AccountID(0)
	if p.owner != nil {
		owner = p.owner.id
	}
	want := g
	want.Kind, want.State, want.Owner, want.Views, want.ViewLimit, want.Days = p.kind, p.state, owner, p.views, p.limit, p.days
	want.CreatedAt, want.UpdatedAt, want.ExpiresAt, want.ExpiredAt = p.created, p.updated, p.expires, p.expired
	want.DeletableByViewer, want.Protected, want.Seq, want.GrantsEnd = p.deletable, p.passphrase != "", uint32(len(p.log)), p.held
	want.Failed, want.Frozen = p.failed, p.frozen
	sealed := (g.Wrap != nil) == p.live() && (g.Link != nil) == (p.live() && p.owner != nil) // what an end takes
	if !sealed || !reflect.DeepEqual(want, g) || g.HoldsFiles() != p.holds || !got.At.Equal(m.now()) {
		m.Fatalf("%s at %v:\n got %+v\nwant %+v, it holds files: %t", what, m.now(), g, want, p.holds)
	}
}

// wantErr fails the check unless got is want.
func (m *model) wantErr(what string, got, want error) {
	if !errors.Is(got, want) {
		m.Fatalf("%s at %v: %v, not %v", what, m.now(), got, want)
	}
}
