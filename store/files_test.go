package store_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/seal"
	"pushbox/store/storetest"
)

// content is size bytes that tell their place.
func content(seed uint64, size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	return b
}

// pushFiles creates a file push.
func pushFiles(t *testing.T, f *storetest.Fixture, by store.Actor, change func(*store.NewPush), files ...[]byte) store.PushInfo {
	t.Helper()
	u := f.NewUpload()
	for i, c := range files {
		if err := u.Add(ctx, bytes.NewReader(c)); err != nil {
			t.Fatalf("file %d: %v", i, err)
		}
		u.Describe(fmt.Sprintf("file %d.bin", i), "text/plain")
	}
	in := store.NewPush{Kind: store.File, Files: u}
	if change != nil {
		change(&in)
	}
	p, err := f.CreatePush(ctx, by, in)
	if closeErr := u.Close(ctx); err != nil || closeErr != nil {
		t.Fatalf("create: %v, %v", err, closeErr)
	}
	return p
}

// grantOf retrieves a file push and returns its grant.
func grantOf(t *testing.T, f *storetest.Fixture, by store.Actor, p store.PushInfo) store.PushInfo {
	t.Helper()
	got, err := f.Retrieve(ctx, by, p.Token, secret.Text{})
	if err != nil || got.Grant.IsZero() {
		t.Fatalf("retrieve: no grant, %v", err)
	}
	return got
}

// download reads a file to its end.
func download(f *storetest.Fixture, grant secret.Text, file int) ([]byte, error) {
	d, err := f.Download(ctx, grant, file)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return io.ReadAll(d)
}

func wantEnded(t *testing.T, f *storetest.Fixture, grant secret.Text) {
	t.Helper()
	if _, err := download(f, grant, 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the grant has not ended: %v", err)
	}
}

// boundaries are sizes around which something changes: a chunk, a step of
// chunks, several of those, and more than are on their way at a time.
func boundaries() (sizes []int) {
	for _, at := range []int{0, seal.ChunkSize, 2 * seal.ChunkSize, store.MaxStep * seal.ChunkSize, 2 * store.MaxStep * seal.ChunkSize, (store.MaxFlights + 1) * store.MaxStep * seal.ChunkSize} {
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
		want := content(uint64(i), size)
		p := pushFiles(t, f, alice, nil, want)
		got := grantOf(t, f, nobody, p)
		if len(got.Files) != 1 || got.Files[0].Size != int64(size) || got.Files[0].Name.Reveal() != "file 0.bin" || got.Files[0].ContentType != "text/plain" {
			t.Errorf("%d bytes: the push tells of %+v", size, got.Files)
		}
		back, err := download(f, got.Grant, 0)
		if err != nil || sha256.Sum256(back) != sha256.Sum256(want) {
			t.Errorf("%d bytes: %d came back, %v", size, len(back), err)
		}
	}
}

func TestEachFileOfAPushIsItself(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	alice := f.Account("alice@example.com")
	files := [][]byte{content(1, 100), nil, content(2, 3*seal.ChunkSize), content(1, 100)}
	p := pushFiles(t, f, alice, func(in *store.NewPush) { in.Payload = secret.New("look at these") }, files...)
	f.Reopen()
	got := grantOf(t, f, nobody, p)
	if got.Payload.Reveal() != "look at these" {
		t.Errorf("the text is %q", got.Payload.Reveal())
	}
	tags := make(map[string]bool)
	for i, want := range files {
		if back, err := download(f, got.Grant, i); err != nil || !bytes.Equal(back, want) {
			t.Errorf("file %d: %v", i, err)
		}
		d, err := f.Download(ctx, got.Grant, i)
		if err != nil {
			t.Fatal(err)
		}
		tags[d.Tag] = true
		d.Close()
	}
	if len(tags) != len(files) {
		t.Error("two files have one tag")
	}
	for _, n := range []int{-1, len(files)} {
		if _, err := f.Download(ctx, got.Grant, n); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("file %d: %v", n, err)
		}
	}
	if _, err := f.Download(ctx, seal.NewGrantToken(), 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another grant: %v", err)
	}
}

// TestAnyPartOfAFileIsThatPart compares reads from anywhere with a slice.
func TestAnyPartOfAFileIsThatPart(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	want := content(7, 5*seal.ChunkSize+123)
	got := grantOf(t, f, nobody, pushFiles(t, f, f.Account("alice@example.com"), nil, want))
	d, err := f.Download(ctx, got.Grant, 0)
	if err != nil {
		t.Fatal(err)
	}
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
	want := content(3, seal.ChunkSize+1000)
	got := grantOf(t, f, nobody, pushFiles(t, f, f.Account("alice@example.com"), nil, want))
	d, err := f.Download(ctx, got.Grant, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := iotest.TestReader(d, want); err != nil {
		t.Error(err)
	}
}

func TestADamagedFileIsRefusedAndNeverCutShort(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	a, b := content(1, 3*seal.ChunkSize), content(2, 3*seal.ChunkSize)
	got := grantOf(t, f, nobody, pushFiles(t, f, f.Account("alice@example.com"), nil, a, b))
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
			if !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%s: it was not refused before the first byte: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		back, err := io.ReadAll(d)
		d.Close()
		if !errors.Is(err, store.ErrCorrupt) || !bytes.Equal(back, a[:test.read]) {
			t.Errorf("%s: %d bytes, %v", name, len(back), err)
		}
	}
	if n := f.Running(); n != 0 {
		t.Errorf("%d downloads are taken for running", n)
	}
}
