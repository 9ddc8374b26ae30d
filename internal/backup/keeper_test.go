package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"pushbox/internal/durable"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/unnamed"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// keeper keeps backups whose content is the time, by a clock that the test sets.
func keeper(t *testing.T, now *time.Time) *Keeper {
	t.Helper()
	return &Keeper{
		Dir: t.TempDir(), Every: 24 * time.Hour, Keep: 2, Now: func() time.Time { return *now },
		Make: func(_ context.Context, path string) (Copy, error) {
			f, err := os.CreateTemp(filepath.Dir(path), durable.TempPattern(path))
			if err != nil {
				return Copy{}, err
			}
			n, err := io.WriteString(f, now.String())
			return Copy{Path: f.Name(), Size: int64(n), Key: "0badc0de"}, errors.Join(err, f.Close())
		},
	}
}

func wantRound(t *testing.T, k *Keeper, made string, wait time.Duration) {
	t.Helper()
	r, err := k.Round(t.Context())
	if made != "" {
		made = filepath.Join(k.Dir, made)
	}
	if err != nil || r.Made != made || r.Wait != wait {
		t.Errorf("it made %q and waits %v, not %q and %v: %v", r.Made, r.Wait, made, wait, err)
	}
}

func TestABackupIsDueSoLongAfterTheNewestWhateverRestarts(t *testing.T) {
	t.Parallel()
	now := noon
	k := keeper(t, &now)
	wantRound(t, k, "pushbox-20260102T120000Z.db", 24*time.Hour)
	wantRound(t, k, "", 24*time.Hour)
	now = noon.Add(24*time.Hour - time.Second)
	again := *k // as after a restart
	wantRound(t, &again, "", time.Second)
	now = noon.Add(24 * time.Hour)
	wantRound(t, &again, "pushbox-20260103T120000Z.db", 24*time.Hour)
	wantNames(t, k.Dir, "pushbox-20260102T120000Z.db", "pushbox-20260103T120000Z.db")
}

func TestOnlyTheOldestOfItsOwnGoAndOnlyForANewOne(t *testing.T) {
	t.Parallel()
	now := noon
	k := keeper(t, &now)
	strangers := []string{"box.db", "pushbox-20250101T000000Z.db.bak", "pushbox-20250101.db"}
	put(t, k.Dir, 0, strangers...)
	put(t, k.Dir, 0, "pushbox-20251230T000000Z.db", "pushbox-20251231T000000Z.db.age", "pushbox-20260101T000000Z.db")
	broken, whole := errors.New("broken"), k.Make
	k.Make = func(context.Context, string) (Copy, error) { return Copy{}, broken }
	if _, err := k.Round(t.Context()); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	all, err := List(k.Dir)
	if err != nil || len(all) != 3 {
		t.Fatalf("after a failure there are %v, %v", all, err)
	}
	k.Make = whole
	wantRound(t, k, "pushbox-20260102T120000Z.db", k.Every)
	wantNames(t, k.Dir, "box.db", "pushbox-20250101.db", "pushbox-20250101T000000Z.db.bak", "pushbox-20260101T000000Z.db", "pushbox-20260102T120000Z.db")
	k.Keep, now = 1, noon.Add(k.Every)
	wantRound(t, k, "pushbox-20260103T120000Z.db", k.Every)
	if all, err := List(k.Dir); err != nil || len(all) != 1 || all[0].At != now {
		t.Errorf("of one to keep there are %v, %v", all, err)
	}
}

func TestABackupOfAWrongClockNeitherPutsTheNextOffNorTakesItsPlace(t *testing.T) {
	t.Parallel()
	now := noon
	k := keeper(t, &now)
	k.Keep = 1
	put(t, k.Dir, 0, "pushbox-20990101T000000Z.db")
	wantRound(t, k, "pushbox-20260102T120000Z.db", k.Every)
	wantNames(t, k.Dir, "pushbox-20260102T120000Z.db", "pushbox-20990101T000000Z.db")
}

func TestWhatAKilledRoundLeftGoes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	k := keeper(t, &now)
	put(t, k.Dir, 0, "pushbox-copy.new-77", Name(now, false))
	put(t, k.Dir, 2*staleAfter, "pushbox-backup.new-78")
	wantRound(t, k, "", now.UTC().Truncate(time.Second).Add(k.Every).Sub(now))
	wantNames(t, k.Dir, Name(now, false))
}

func TestAScheduledBackupIsEncryptedAndItsCopyGoes(t *testing.T) {
	t.Parallel()
	now := noon
	k := keeper(t, &now)
	ann, annFile := newRecipient(t)
	k.Writer.Recipients = recipients(t, ann)
	wantRound(t, k, "pushbox-20260102T120000Z.db.age", k.Every)
	wantNames(t, k.Dir, "pushbox-20260102T120000Z.db.age")
	sealed := env.Read(t, filepath.Join(k.Dir, "pushbox-20260102T120000Z.db.age"))
	r, _, err := Decrypt(bytes.NewReader(sealed), identities(t, annFile))
	env.OK(t, err)
	if got, err := io.ReadAll(r); err != nil || string(got) != noon.String() {
		t.Errorf("%q, %v", got, err)
	}
	k.Writer.CheckSpace, now = func(string) error { return errors.New("full") }, noon.Add(k.Every)
	if _, err := k.Round(t.Context()); err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("it did not give way: %v", err)
	}
	wantNames(t, k.Dir, "pushbox-20260102T120000Z.db.age")
}

func TestANameTellsWhenAndIsReadAgain(t *testing.T) {
	t.Parallel()
	for _, isEncrypted := range []bool{false, true} {
		at, ok := parseName(Name(noon.In(time.FixedZone("", 3600)), isEncrypted))
		if !ok || !at.Equal(noon) {
			t.Errorf("%v, %t", at, ok)
		}
	}
	for _, name := range []string{"", "pushbox-.db", "pushbox-20261302T120000Z.db", "pushbox-20260102T120000Z", "pushbox-20260102T120000Z.age", "x-20260102T120000Z.db"} {
		if _, ok := parseName(name); ok {
			t.Errorf("%q is taken for one", name)
		}
	}
}

// The copy that was encrypted, and an old backup that is not, are overwritten.
func TestWhatAKeeperRemovesIsOverwrittenUnlessItIsSealed(t *testing.T) {
	t.Parallel()
	now := noon
	k := keeper(t, &now)
	k.Keep = 1
	ann, _ := newRecipient(t)
	k.Writer.Recipients = recipients(t, ann)
	inClear, sealed := filepath.Join(k.Dir, "pushbox-20251230T000000Z.db"), filepath.Join(k.Dir, "pushbox-20251231T000000Z.db.age")
	env.OK(t, errors.Join(os.WriteFile(inClear, []byte("pages"), 0o600), os.WriteFile(sealed, []byte("sealed"), 0o600)))
	a, b := unnamed.Open(t, inClear), unnamed.Open(t, sealed)
	var c unnamed.File
	whole := k.Make
	k.Make = func(ctx context.Context, path string) (Copy, error) {
		made, err := whole(ctx, path)
		c = unnamed.Open(t, made.Path)
		return made, err
	}
	wantRound(t, k, "pushbox-20260102T120000Z.db.age", k.Every)
	wantNames(t, k.Dir, "pushbox-20260102T120000Z.db.age")
	a.Want(t, "the old backup", "")
	b.Want(t, "the old encrypted backup", "sealed")
	c.Want(t, "the copy", "")
}

// content returns bytes whose values depend on their offsets.
func content(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// newRecipient makes a recipient and a file with the identity that belongs to it.
func newRecipient(t *testing.T) (recipient, identityFile string) {
	t.Helper()
	id := env.Must(age.GenerateX25519Identity())(t)
	return id.Recipient().String(), file(t, "# made by a test\n"+id.String()+"\n")
}

func file(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	env.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func recipients(t *testing.T, texts ...string) Recipients {
	t.Helper()
	return env.Must(ParseRecipients(texts, nil))(t)
}

func identities(t *testing.T, file string) Identities {
	t.Helper()
	return env.Must(LoadIdentities(file))(t)
}

// wantNames fails the test unless the directory has those files and no others.
func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries := env.Must(os.ReadDir(dir))(t)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("there is %q, not %q", got, want)
	}
}

func put(t *testing.T, dir string, age time.Duration, names ...string) {
	t.Helper()
	for _, name := range names {
		path, then := filepath.Join(dir, name), time.Now().Add(-age)
		env.OK(t, os.WriteFile(path, nil, 0o600))
		env.OK(t, os.Chtimes(path, then, then))
	}
}

// sent writes a copy of b with w.
func sent(t *testing.T, w Writer, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	env.OK(t, w.Stream(context.Background(), &out, bytes.NewReader(b), int64(len(b))))
	return out.Bytes()
}
