package moving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"pushbox/internal/humanize"
	"pushbox/internal/pwpush"
	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
)

func (m *move) push(ctx context.Context, p pwpush.Push) (err error) {
	if err := m.spoiled[p.Ref]; err != nil {
		return err
	}
	in, err := m.translate(p)
	if err != nil {
		return err
	}
	if in.Views <= views(in.Log) {
		return store.ErrEnded
	}
	cut := shorten(&in)
	var sizes []int64
	for _, id := range m.attached[p.Ref] {
		sizes = append(sizes, m.blobs[id].Size)
	}
	if err := m.store.CheckImport(ctx, in, sizes); err != nil { // before its files are read
		return err
	}
	for _, remark := range cut {
		m.Remark(naming(p), remark)
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

// shorten cuts a name and a note that are too long, and reports that, because the push is useful
// without their ends.
func shorten(in *store.ImportedPush) (remarks []string) {
	for _, label := range []struct {
		name string
		text *secret.Text
		most int
	}{{"name", &in.Name, store.MaxName}, {"note", &in.Note, store.MaxNote}} {
		if label.text.Len() > label.most {
			*label.text = secret.New(strings.ToValidUTF8(label.text.Reveal()[:label.most], "")) // removes half a character
			remarks = append(remarks, fmt.Sprintf("its %s is longer than %s, and was cut", label.name, humanize.Size(int64(label.most))))
		}
	}
	return remarks
}

func naming(p pwpush.Push) string { return fmt.Sprintf("push %d of table %s", p.ID, p.Table) }

func (m *move) translate(p pwpush.Push) (in store.ImportedPush, err error) {
	kind, _ := record.ParseKind(p.Kind)
	in = store.ImportedPush{
		Kind: kind, Name: p.Name, CreatedAt: p.CreatedAt, Days: p.Days,
		RetrievalStep: p.RetrievalStep, DeletableByViewer: p.DeletableByViewer, Log: m.log(p),
	}
	in.Views = m.limit(p, in.Log)
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

// limit returns the limit of views that leaves as many as Password Pusher does. It counts
// failed views, too.
func (m *move) limit(p pwpush.Push, log []store.LogEntry) int {
	most := p.Views + views(log)
	for _, e := range m.logs[p.Ref] {
		if e.Counts() {
			most--
		}
	}
	return most
}

// log returns the audit log of a push, oldest first. An entry whose time cannot be read has that
// of the push.
func (m *move) log(p pwpush.Push) (log []store.LogEntry) {
	for _, e := range m.logs[p.Ref] {
		if kind, ok := entryKinds[e.Kind]; ok {
			log = append(log, store.LogEntry{
				Kind: kind, At: cmp.Or(e.CreatedAt, p.CreatedAt), IP: plain(e.IP), UserAgent: plain(e.UserAgent), Referrer: secret.New(plain(e.Referrer)),
			})
		}
	}
	slices.SortStableFunc(log, func(a, b store.LogEntry) int {
		if a.Kind != b.Kind && (a.Kind == record.EntryCreation || b.Kind == record.EntryCreation) {
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
		return fmt.Errorf("%s: %w", naming(p), err)
	}
	return nil
}

func views(log []store.LogEntry) (n int) {
	for _, e := range log {
		if e.Kind == record.EntryView {
			n++
		}
	}
	return n
}
