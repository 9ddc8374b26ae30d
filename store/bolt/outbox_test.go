package bolt

import (
	"path/filepath"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
	"pushbox/store/record"
	"pushbox/store/storetest/conformance"
)

// viewWithMessage counts a view with a message about it.
func viewWithMessage(p record.Push) (record.Push, record.Entry, error) {
	p.Views, p.Seq = p.Views+1, p.Seq+1
	m := record.Message{Route: record.ByWebhook, CreatedAt: time.UnixMilli(1), NextAt: time.UnixMilli(1), Sealed: []byte("sealed")}
	return p, record.Entry{Kind: record.EntryView, Messages: []record.Message{m}}, nil
}

// countAll counts the messages in the outbox.
func countAll(t *testing.T, db *DB) (n int, err error) {
	t.Helper()
	counts, err := db.CountMessages(t.Context())
	for _, each := range counts {
		n += each
	}
	return n, err
}

// outboxed is a database of one push that allows many views.
func outboxed(t *testing.T, o Options) (*DB, record.ID) {
	t.Helper()
	o.Path = filepath.Join(t.TempDir(), "db")
	db, _, err := OpenUnlocked(t.Context(), o)
	env.OK(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	p := testPush(1)
	p.ViewLimit = 1000
	env.OK(t, conformance.Made(db.CreatePush(t.Context(), p, []byte("sealed"), record.Entry{Kind: record.EntryCreation})))
	return db, p.ID
}

func TestAViewWithAMessageGoesToTheJournal(t *testing.T) {
	t.Parallel()
	db, id := outboxed(t, Options{})
	db.KeepJournal(t, 100)
	for range 10 {
		if _, err := db.Change(t.Context(), id, viewWithMessage); err != nil {
			t.Fatal(err)
		}
	}
	db.writing.Lock()
	rows := db.journal.next - db.journal.first
	db.writing.Unlock()
	if n, err := countAll(t, db); rows != 10 || n != 10 || err != nil {
		t.Errorf("%d rows are in the journal, %d messages wait, %v", rows, n, err)
	}
}

func TestAViewIsCountedWhereItsMessageHasNoSpace(t *testing.T) {
	t.Parallel()
	db, id := outboxed(t, Options{})
	used := int64(0)
	env.OK(t, db.view(t.Context(), func(t *tx) error {
		used = t.bolt.Size() - t.unused()
		return nil
	}))
	db.SetSpaceLimits(record.SpaceLimits{MaxSize: used - 1})
	c, err := db.Change(t.Context(), id, viewWithMessage)
	if err != nil || c.Push.Views != 1 || len(c.Entry.Messages) != 0 {
		t.Errorf("%d views, %d messages, %v", c.Push.Views, len(c.Entry.Messages), err)
	}
	if n, err := countAll(t, db); n != 0 || err != nil {
		t.Errorf("%d messages wait, %v", n, err)
	}
}
