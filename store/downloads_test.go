package store_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

func TestTheLastViewClosesThePushWhileItsGrantsLive(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	want := storetest.Content(1, 1000)
	p := storetest.PushFiles(t, f, f.Account("alice@example.com"), func(in *store.NewPush) { in.Views = ptr(1) }, want)
	got := storetest.Grant(t, f, anonymous, p)
	again, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil)
	if err != nil || again.Live() || len(again.Files) != 0 || !again.Grant.IsZero() {
		t.Fatalf("after the last view: %+v, %v", again, err)
	}
	f.Reopen()
	f.Clock.Advance(15*time.Minute - time.Millisecond)
	f.SweepAll()
	if back, err := storetest.Download(f, got.Grant, 0); err != nil || !bytes.Equal(back, want) {
		t.Fatalf("the grant ended with the push: %v", err)
	}
	f.Clock.Advance(time.Hour)
	f.SweepAll()
	wantEnded(t, f, got.Grant)
	if n := f.Orphans(); n != 0 {
		t.Errorf("%d pushes left their files behind", n)
	}
}

func TestDeletingEndsGrantsAtOnceAndDownloadsThatRun(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	for name, views := range map[string]int{"a live push": 5, "a push that had its last view": 1} {
		p := storetest.PushFiles(t, f, alice, func(in *store.NewPush) { in.Views = ptr(views) }, storetest.Content(1, 4*seal.ChunkSize))
		got := storetest.Grant(t, f, anonymous, p)
		d, err := f.Download(ctx, got.Grant, 0)
		env.OK(t, err)
		ended := make(chan struct{})
		d.AfterEnd(func() { close(ended) })
		if _, err := io.CopyN(io.Discard, d, seal.ChunkSize/2); err != nil {
			t.Fatal(err)
		}
		if _, err := f.DeletePush(ctx, alice, p.Token); err != nil {
			t.Fatal(err)
		}
		<-ended
		if _, err := d.Read(make([]byte, 10)); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("%s: a download goes on: %v", name, err)
		}
		d.Close()
		wantEnded(t, f, got.Grant)
		f.SweepAll()
		if n := f.Orphans(); n != 0 {
			t.Errorf("%s: %d pushes left their files behind", name, n)
		}
	}
}

func TestAGrantSlidesWhileADownloadRunsForADayAtMost(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	p := storetest.PushFiles(t, f, f.Account("alice@example.com"), nil, storetest.Content(1, 300*seal.ChunkSize))
	idle, got := storetest.Grant(t, f, anonymous, p), storetest.Grant(t, f, anonymous, p)
	d, err := f.Download(ctx, got.Grant, 0)
	env.OK(t, err)
	defer d.Close()
	const step = 10 * time.Minute
	for passed := step; passed < day; passed += step {
		f.Clock.Advance(step)
		if _, err := io.CopyN(io.Discard, d, seal.ChunkSize); err != nil {
			t.Fatalf("after %v: %v", passed, err)
		}
	}
	wantEnded(t, f, idle.Grant)
	f.Clock.Advance(step)
	if _, err := io.CopyN(io.Discard, d, seal.ChunkSize); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("after a day: %v", err)
	}
}

func TestNoClockBringsAnEndedGrantBack(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	got := storetest.Grant(t, f, anonymous, storetest.PushFiles(t, f, f.Account("alice@example.com"), nil, storetest.Content(1, 10)))
	f.Clock.Advance(15 * time.Minute)
	wantEnded(t, f, got.Grant)
	f.Clock.Jump(-time.Hour)
	f.Reopen()
	wantEnded(t, f, got.Grant)
}

func TestADoubtfulClockNeitherGivesNorEndsADownload(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	p := storetest.PushFiles(t, f, f.Account("alice@example.com"), nil, storetest.Content(1, 10))
	got := storetest.Grant(t, f, anonymous, p)
	f.Clock.Jump(2 * day)
	if _, err := f.Retrieve(ctx, anonymous, p.Token, secret.Text{}, nil); !errors.Is(err, record.ErrClock) {
		t.Errorf("a retrieval: %v", err)
	}
	if _, err := storetest.Download(f, got.Grant, 0); !errors.Is(err, record.ErrClock) {
		t.Errorf("while in doubt: %v", err)
	}
	f.SweepAll()
	f.Clock.Jump(-2 * day)
	if _, err := storetest.Download(f, got.Grant, 0); err != nil {
		t.Errorf("after: %v", err)
	}
	if again := storetest.Grant(t, f, anonymous, p); again.Views != 2 {
		t.Errorf("%d views", again.Views)
	}
}
