package store_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

func wantEnded(t *testing.T, f *storetest.Fixture, grant secret.Text) {
	t.Helper()
	if _, err := storetest.Download(f, grant, 0); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("the grant has not ended: %v", err)
	}
}

// boundaries are sizes around which something changes: a chunk, a step of
// chunks, several of those, and more than are on their way at a time.
func boundaries() (sizes []int) {
	for _, at := range []int{0, seal.ChunkSize, 2 * seal.ChunkSize, store.MaxStep * seal.ChunkSize, 2 * store.MaxStep * seal.ChunkSize, (store.MaxInFlight + 1) * store.MaxStep * seal.ChunkSize} {
		for _, size := range []int{at - 1, at, at + 1} {
			sizes = append(sizes, max(size, 0))
		}
	}
	return sizes
}

func TestFilesComeBackAsTheyWereSent(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	for i, size := range boundaries() {
		want := storetest.Content(uint64(i), size)
		p := storetest.PushFiles(t, f, alice, nil, want)
		got := storetest.Grant(t, f, anonymous, p)
		if len(got.Files) != 1 || got.Files[0].Size != int64(size) || got.Files[0].Name.Reveal() != "file 0.bin" || got.Files[0].ContentType != "text/plain" {
			t.Errorf("%d bytes: the push tells of %+v", size, got.Files)
		}
		back, err := storetest.Download(f, got.Grant, 0)
		if err != nil || sha256.Sum256(back) != sha256.Sum256(want) {
			t.Errorf("%d bytes: %d came back, %v", size, len(back), err)
		}
	}
}

func TestEachFileOfAPushIsItself(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	files := [][]byte{storetest.Content(1, 100), nil, storetest.Content(2, 3*seal.ChunkSize), storetest.Content(1, 100)}
	p := storetest.PushFiles(t, f, alice, func(in *store.NewPush) { in.Payload = secret.New("look at these") }, files...)
	f.Reopen()
	got := storetest.Grant(t, f, anonymous, p)
	if got.Payload.Reveal() != "look at these" {
		t.Errorf("the text is %q", got.Payload.Reveal())
	}
	tags := make(map[string]bool)
	for i, want := range files {
		if back, err := storetest.Download(f, got.Grant, i); err != nil || !bytes.Equal(back, want) {
			t.Errorf("file %d: %v", i, err)
		}
		d, err := f.Download(ctx, got.Grant, i)
		env.OK(t, err)
		tags[d.Tag] = true
		d.Close()
	}
	if len(tags) != len(files) {
		t.Error("two files have one tag")
	}
	for _, n := range []int{-1, len(files)} {
		if _, err := f.Download(ctx, got.Grant, n); !errors.Is(err, record.ErrNotFound) {
			t.Errorf("file %d: %v", n, err)
		}
	}
	if _, err := f.Download(ctx, seal.NewGrantToken(), 0); !errors.Is(err, record.ErrNotFound) {
		t.Errorf("another grant: %v", err)
	}
}

// TestAnyPartOfAFileIsThatPart compares reads from anywhere with a slice.
func TestAnyPartOfAFileIsThatPart(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	want := storetest.Content(7, 5*seal.ChunkSize+123)
	got := storetest.Grant(t, f, anonymous, storetest.PushFiles(t, f, f.Account("alice@example.com"), nil, want))
	d, err := f.Download(ctx, got.Grant, 0)
	env.OK(t, err)
	defer d.Close()
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, len(want)+10).Draw(t, "from")
		length := rapid.IntRange(0, 2*seal.ChunkSize).Draw(t, "length")
		if _, err := d.Seek(int64(from), io.SeekStart); err != nil {
			t.Fatal(err)
		}
		part, err := io.ReadAll(io.LimitReader(d, int64(length)))
		from = min(from, len(want))
		if to := min(from+length, len(want)); err != nil || !bytes.Equal(part, want[from:to]) {
			t.Fatalf("%d bytes, %v", len(part), err)
		}
	})
}

func TestAReaderReadsLikeAnyOther(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	want := storetest.Content(3, seal.ChunkSize+1000)
	got := storetest.Grant(t, f, anonymous, storetest.PushFiles(t, f, f.Account("alice@example.com"), nil, want))
	d, err := f.Download(ctx, got.Grant, 0)
	env.OK(t, err)
	defer d.Close()
	if err := iotest.TestReader(d, want); err != nil {
		t.Error(err)
	}
}

func TestADamagedFileIsRefusedAndNeverCutShort(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	a, b := storetest.Content(1, 3*seal.ChunkSize), storetest.Content(2, 3*seal.ChunkSize)
	got := storetest.Grant(t, f, anonymous, storetest.PushFiles(t, f, f.Account("alice@example.com"), nil, a, b))
	flip := func(_, n int, sealed []byte) {
		if n == 1 {
			sealed[500] ^= 1
		}
	}
	for name, test := range map[string]struct {
		forgery storetest.Forgery
		read    int // bytes that come before it is noticed; -1: it is refused before the first
	}{
		"a flipped bit":        {storetest.Forgery{Spoil: flip}, seal.ChunkSize},
		"two in wrong order":   {storetest.Forgery{Take: func(file, n int) (int, int) { return file, []int{1, 0, 2}[n] }}, 0},
		"one of another file":  {storetest.Forgery{Take: func(file, n int) (int, int) { return (file + n%2) % 2, n }}, seal.ChunkSize},
		"one in place of last": {storetest.Forgery{Take: func(file, n int) (int, int) { return file, min(n, 1) }}, -1},
		"the last one missing": {storetest.Forgery{Take: func(file, n int) (int, int) { return file, n + n/2 }}, -1},
	} {
		f.Forge(&test.forgery)
		d, err := f.Download(ctx, got.Grant, 0)
		if test.read < 0 {
			if !errors.Is(err, record.ErrCorrupt) {
				t.Errorf("%s: it was not refused before the first byte: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		back, err := io.ReadAll(d)
		d.Close()
		if !errors.Is(err, record.ErrCorrupt) || !bytes.Equal(back, a[:test.read]) {
			t.Errorf("%s: %d bytes, %v", name, len(back), err)
		}
	}
	if n := f.Running(); n != 0 {
		t.Errorf("%d downloads are taken for running", n)
	}
}
