package moving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"pushbox/internal/pwpush"
	"pushbox/internal/secret"
	"pushbox/store"
)

// push keeps a live push, or checks whether it can be kept.
func (m *move) push(ctx context.Context, p pwpush.Push) (err error) {
	in, err := m.translate(p)
	if err != nil {
		return err
	}
	if over(p, m.logs[p.Ref]) {
		return store.ErrEnded
	}
	var sizes []int64
	for _, id := range m.attached[p.Ref] {
		sizes = append(sizes, m.blobs[id].Size)
	}
	if err := m.store.CheckImport(ctx, in, sizes); err != nil { // before its files are read
		return err
	}
	if len(sizes) > 0 && !m.DryRun {
		in.Files = m.store.NewImportedUpload(in.Token)
		defer func() { err = errors.Join(err, in.Files.Close(ctx)) }()
	}
	for _, id := range m.attached[p.Ref] {
		if err := m.file(ctx, in.Files, id); err != nil {
			return fmt.Errorf("file %d: %w", id, err)
		}
	}
	if m.DryRun {
		return nil
	}
	if err := m.store.ImportPush(ctx, m.Actor, in); err != nil {
		return err
	}
	m.Entries += len(in.Log)
	return nil
}

// over reports whether a push has reached its limit of views, as Password Pusher counts
// them: with failed ones.
func over(p pwpush.Push, log []pwpush.Entry) bool {
	n := 0
	for _, e := range log {
		if e.Counts() {
			n++
		}
	}
	return n >= p.Views
}

// translate makes of a row what the store keeps, without its files.
func (m *move) translate(p pwpush.Push) (in store.ImportedPush, err error) {
	kind, _ := store.ParseKind(p.Kind)
	in = store.ImportedPush{
		Kind: kind, Name: p.Name, CreatedAt: p.CreatedAt, Days: p.Days, Views: p.Views,
		RetrievalStep: p.RetrievalStep, DeletableByViewer: p.DeletableByViewer, Log: m.log(p),
	}
	if in.Token, err = store.ParseToken(p.URLToken.Reveal()); err != nil {
		return in, errToken
	}
	if p.UserID != 0 {
		owner, ok := m.owners[p.UserID]
		if !ok {
			return in, errOwner
		}
		in.Owner = owner.ID
	}
	for _, part := range []struct {
		name string
		from pwpush.Sealed
		to   *secret.Text
	}{{"payload", p.Payload, &in.Payload}, {"note", p.Note, &in.Note}, {"passphrase", p.Passphrase, &in.Passphrase}} {
		if *part.to, err = m.Keys.Open(part.from); err != nil {
			return in, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return in, nil
}

// log returns the audit log of a push, oldest first.
func (m *move) log(p pwpush.Push) (log []store.LogEntry) {
	for _, e := range m.logs[p.Ref] {
		if kind, ok := entryKinds[e.Kind]; ok {
			log = append(log, store.LogEntry{
				Kind: kind, At: e.CreatedAt, IP: plain(e.IP), UserAgent: plain(e.UserAgent), Referrer: secret.New(plain(e.Referrer)),
			})
		}
	}
	slices.SortStableFunc(log, func(a, b store.LogEntry) int {
		if a.Kind != b.Kind && (a.Kind == store.EntryCreation || b.Kind == store.EntryCreation) {
			return cmp.Compare(a.Kind, b.Kind) // the creation comes first, whatever the clock said
		}
		return a.At.Compare(b.At)
	})
	return log
}

// file adds a file to an upload. If that is nil, it only reads the file, to see that it is
// whole.
func (m *move) file(ctx context.Context, u *store.Upload, id int64) (err error) {
	blob := m.blobs[id]
	switch {
	case blob.ID == 0:
		return errNoBlob
	case m.Storage == nil:
		return ErrNoStorage
	}
	content, err := m.Storage.Open(blob)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	if u == nil {
		_, err = io.Copy(io.Discard, content)
		return err
	}
	if err := u.Add(ctx, content); err != nil {
		return err
	}
	u.Describe(plain(blob.Filename), plain(blob.ContentType))
	return nil
}

// compare reads a push that came, and compares it with the dump.
func (m *move) compare(ctx context.Context, row pwpush.Row) error {
	p, ok := row.(pwpush.Push)
	if !ok || !m.mine(p) {
		return nil
	}
	in, err := m.translate(p)
	if err != nil {
		return err
	}
	got, err := m.store.Preview(ctx, in.Token)
	if err == nil && (got.Owner != in.Owner || got.Kind != in.Kind || got.ViewLimit != in.Views || got.Days != in.Days ||
		got.Protected == in.Passphrase.IsZero() || got.HoldsFiles() != (len(m.attached[p.Ref]) > 0) ||
		got.ViewLimit-got.ViewsRemaining() != views(in.Log)) {
		err = ErrDiffers
	}
	if err != nil {
		return fmt.Errorf("push %d of table %s: %w", p.ID, p.Table, err)
	}
	return nil
}

func views(log []store.LogEntry) (n int) {
	for _, e := range log {
		if e.Kind == store.EntryView {
			n++
		}
	}
	return n
}
