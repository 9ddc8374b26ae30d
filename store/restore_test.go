package store_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// backUp makes a backup of f and returns it under a name of its own.
func backUp(t *testing.T, f *storetest.Fixture) (path string) {
	t.Helper()
	dir := t.TempDir()
	b, err := f.Backup(ctx, storetest.Operator, filepath.Join(dir, "copy"), func(int64, int64) {})
	env.OK(t, err)
	path = filepath.Join(dir, "restored.db")
	info, err := os.Stat(b.Path)
	if err != nil || info.Size() != b.Size || info.Mode() != 0o600 {
		t.Fatalf("%+v is %v, %v", b, info, err)
	}
	env.OK(t, os.Rename(b.Path, path))
	return path
}

func TestABackupHoldsTheTimeOfItsBeginning(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	f.Clock.Advance(17*time.Second + 5*time.Millisecond) // less than lies between two times that an idle store keeps
	b, err := f.Backup(ctx, storetest.Operator, filepath.Join(t.TempDir(), "copy"), func(int64, int64) {})
	env.OK(t, err)
	held, err := f.Over(b.Path).Count(ctx)
	if err != nil || !held.Latest.Equal(b.At) || !b.At.Equal(f.Clock.Now()) {
		t.Errorf("a backup of %v, made at %v, is as of %v, %v", b.At, f.Clock.Now(), held.Latest, err)
	}
}

// restored is what a restore makes of a backup.
func restored(t *testing.T, f *storetest.Fixture, path string, keepLive bool, want store.Restored) *storetest.Fixture {
	t.Helper()
	back := f.Over(path)
	got, err := back.Restore(ctx, keepLive)
	if err != nil || got != want {
		t.Fatalf("restored %+v, %v; want %+v", got, err, want)
	}
	back.Reopen()
	back.Check()
	return back
}

func TestNothingThatWasLiveInABackupIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	open, viewed := storetest.Push(t, f, alice, nil), storetest.Push(t, f, alice, func(in *store.NewPush) { in.Views = ptr(2) })
	storetest.Retrieve(t, f, anonymous, viewed)
	files := storetest.PushFiles(t, f, alice, nil, storetest.Content(1, 300_000))
	before := storetest.Grant(t, f, anonymous, files)
	path := backUp(t, f)
	storetest.Retrieve(t, f, anonymous, viewed) // the last view, which the backup knows nothing of

	back := restored(t, f, path, false, store.Restored{Pushes: 3, Live: 3})
	for name, c := range map[string]struct {
		store.PushInfo
		kinds string
		views int
	}{
		"never viewed": {open, "creation expire ", 0},
		"viewed":       {viewed, "creation view expire ", 1},
		"of files":     {files, "creation view expire ", 1},
	} {
		got, err := back.Retrieve(ctx, alice, c.Token, secret.Text{}, nil)
		if err != nil || got.Live() || got.State != record.Deleted || !got.Payload.IsZero() || !got.Grant.IsZero() || got.Views != c.views {
			t.Errorf("%s: state %d, %d views, %v", name, got.State, got.Views, err)
		}
		if kinds := storetest.EntryKinds(t, back, alice, c.PushInfo); kinds != c.kinds+"failed_view " {
			t.Errorf("%s: its log has %s", name, kinds)
		}
	}
	h, err := back.History(ctx, alice, open.Token, 1)
	if err != nil || h.Log[1].UserAgent != "pushbox restore" || h.Log[1].IP != "" {
		t.Errorf("the log says %+v, %v", h.Log, err)
	}
	wantEnded(t, back, before.Grant)
	if back.Orphans() != 0 {
		t.Error("chunks of its files are left")
	}
}

func TestWhatIsKeptLiveGoesOnWithTheViewsOfTheBackup(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	p := storetest.Push(t, f, alice, func(in *store.NewPush) { in.Views = ptr(2) })
	storetest.Retrieve(t, f, anonymous, p)
	files := storetest.PushFiles(t, f, alice, func(in *store.NewPush) { in.Views = ptr(2) }, storetest.Content(1, 300_000))
	before := storetest.Grant(t, f, anonymous, files)
	ended := storetest.Push(t, f, alice, func(in *store.NewPush) { in.Views = ptr(1) })
	storetest.Retrieve(t, f, anonymous, ended)
	back := restored(t, f, backUp(t, f), true, store.Restored{Pushes: 3, Live: 2})

	storetest.Retrieve(t, back, anonymous, p)
	if got, err := back.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil); err != nil || got.Live() || got.Views != 2 || !got.Payload.IsZero() {
		t.Errorf("beyond its limit: live %t, %d views, %v", got.Live(), got.Views, err)
	}
	if kinds := storetest.EntryKinds(t, back, alice, p); kinds != "creation view edit view failed_view " {
		t.Errorf("its log has %s", kinds)
	}
	wantEnded(t, back, before.Grant)
	file, err := storetest.Download(back, storetest.Grant(t, back, anonymous, files).Grant, 0)
	if err != nil || !bytes.Equal(file, storetest.Content(1, 300_000)) {
		t.Errorf("its file: %v", err)
	}
	if kinds := storetest.EntryKinds(t, back, alice, ended); kinds != "creation view " {
		t.Errorf("the log of what had expired has %s", kinds)
	}
}

func TestARestoreEndsAllSessionsAndKeepsTheAccounts(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, unhurried)
	storetest.AddMember(t, f, email)
	session := storetest.SignIn(t, f)
	token, err := f.CreateToken(ctx, storetest.Operator, email, store.TokenTerms{Label: "laptop"})
	env.OK(t, err)
	back := restored(t, f, backUp(t, f), false, store.Restored{})
	wantResume(t, f, session, nil)
	wantResume(t, back, session, record.ErrSession)
	if _, _, err := back.Authenticate(ctx, storetest.Anonymous, token.Secret); err != nil {
		t.Errorf("the API token: %v", err)
	}
	storetest.SignIn(t, back)
}

func TestAStoreThatIsDamagedIsNeitherBackedUpNorRestored(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	p := storetest.Push(t, f, anonymous, nil)
	if _, err := f.Engine().Change(ctx, p.ID, func(p record.Push) (record.Push, record.Entry, error) {
		p.Views++ // and no entry records it
		p.UpdatedAt = p.UpdatedAt.Add(1)
		return p, record.Entry{}, nil
	}); err != nil {
		t.Fatal(err)
	}
	f.Abandon()
	dir := t.TempDir()
	damaged := func(err error) bool {
		return errors.Is(err, record.ErrCorrupt) && strings.Contains(err.Error(), "a check finds 1 problem; the first is: ")
	}
	_, err := f.Backup(ctx, storetest.Operator, filepath.Join(dir, "copy"), func(int64, int64) {})
	if !damaged(err) {
		t.Errorf("a backup: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("there is %v, %v", left, err)
	}
	if _, err := f.Restore(ctx, false); !damaged(err) {
		t.Errorf("a restore: %v", err)
	}
	if q, _, err := f.Engine().Push(ctx, p.ID); err != nil || !q.Live() {
		t.Errorf("it was changed: %v", err)
	}
}

func TestAnotherKeyDoesNotOpenABackup(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	sealed, err := f.Engine().KeyRing(ctx)
	env.OK(t, err)
	if err := store.CheckKey(seal.NewRootKey(), sealed); !errors.Is(err, record.ErrKey) {
		t.Errorf("another key: %v", err)
	}
	if err := store.CheckKey(seal.NewRootKey(), sealed[:9]); !errors.Is(err, record.ErrKey) && !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("a piece of it: %v", err)
	}
}
