package store_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

func TestAnUploadThatComesToNothingLeavesNothing(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(o *storetest.Setup) { o.Files.MaxCount, o.Files.MaxSize = 2, 3*seal.ChunkSize })
	alice := f.Account("alice@example.com")
	whole := func() io.Reader { return bytes.NewReader(storetest.Content(1, 3*seal.ChunkSize)) }
	cut := errors.New("cut")
	for name, test := range map[string]struct {
		files  []io.Reader
		change func(*store.NewPush)
		want   error
	}{
		"a cut upload":          {files: []io.Reader{io.MultiReader(whole(), iotest.ErrReader(cut))}, want: cut},
		"a truncated body":      {files: []io.Reader{io.MultiReader(io.LimitReader(whole(), 9), iotest.ErrReader(io.ErrUnexpectedEOF))}, want: io.ErrUnexpectedEOF},
		"a file too large":      {files: []io.Reader{io.MultiReader(whole(), bytes.NewReader([]byte{1}))}, want: record.ErrFileSize},
		"a file too many":       {files: []io.Reader{whole(), whole(), whole()}, want: &record.InvalidError{}},
		"a refused field":       {files: []io.Reader{whole()}, change: func(in *store.NewPush) { in.Views = ptr(0) }, want: &record.InvalidError{}},
		"an owner who is gone":  {files: []io.Reader{whole()}, want: record.ErrToken},
		"a name that is longer": {files: []io.Reader{whole()}, change: func(in *store.NewPush) { in.Name = secret.New(string(make([]byte, 256))) }, want: &record.InvalidError{}},
	} {
		u, by := f.NewUpload(f.Policy("")), alice
		if errors.Is(test.want, record.ErrToken) {
			by.Account = 99
		}
		var err error
		for _, r := range test.files {
			if err = u.Add(ctx, r); err != nil {
				break
			}
		}
		if err == nil {
			in := store.NewPush{Kind: record.File, Files: u}
			if test.change != nil {
				test.change(&in)
			}
			_, err = f.CreatePush(ctx, by, in)
		}
		invalid := (*record.InvalidError)(nil)
		if !errors.Is(err, test.want) && !(errors.As(test.want, &invalid) && errors.As(err, &invalid)) {
			t.Errorf("%s: %v", name, err)
		}
		if again := u.Add(ctx, whole()); again == nil && len(test.files) == 1 && test.change == nil && !errors.Is(test.want, record.ErrToken) {
			t.Errorf("%s: it goes on as if nothing had been", name)
		}
		if err := u.Close(ctx); err != nil || f.Orphans() != 0 {
			t.Errorf("%s: %d left, %v", name, f.Orphans(), err)
		}
	}
	storetest.PushFiles(t, f, alice, nil, storetest.Content(1, 3*seal.ChunkSize), storetest.Content(2, 3*seal.ChunkSize)) // just as many and as large as may be
}

func TestAnUploadThatAKillCutShortIsSweptAndOneThatRunsIsNot(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	u := f.NewUpload(f.Policy(""))
	env.OK(t, u.Add(ctx, bytes.NewReader(storetest.Content(1, seal.ChunkSize*20))))
	f.SweepAll()
	if f.Orphans() != 1 {
		t.Fatal("an upload that runs was swept")
	}
	f.Reopen() // without a Close of the upload
	f.SweepAll()
	if f.Orphans() != 0 {
		t.Error("an upload that was cut short is still there")
	}
	if _, err := f.CreatePush(ctx, alice, store.NewPush{Kind: record.File, Files: u}); err == nil {
		t.Error("a push was created from files that are gone")
	}
}

func TestFilesOfARemovedAccountGo(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	got := storetest.Grant(t, f, anonymous, storetest.PushFiles(t, f, f.Account("alice@example.com"), nil, storetest.Content(1, 10)))
	env.OK(t, f.RemoveAccount(ctx, storetest.Operator, "alice@example.com"))
	wantEnded(t, f, got.Grant)
	f.SweepAll()
	if f.Orphans() != 0 {
		t.Error("its files are still there")
	}
}

func TestFilePushesCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	f := storetest.New(t, func(o *storetest.Setup) { delete(o.Terms, record.File) })
	u := f.NewUpload(f.Policy(""))
	invalid := (*record.InvalidError)(nil)
	if err := u.Add(ctx, iotest.ErrReader(errors.New("it was read"))); !errors.As(err, &invalid) || invalid.Fields["kind"] == nil {
		t.Errorf("it gave %v", err)
	}
	if err := u.Close(ctx); err != nil {
		t.Error(err)
	}
}
