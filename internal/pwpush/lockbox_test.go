package pwpush_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/internal/pwpush"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

// sealedOf returns the encrypted values of rows, by table, row and attribute.
func sealedOf(all []pwpush.Row) map[string]pwpush.Sealed {
	sealed := make(map[string]pwpush.Sealed)
	for _, row := range all {
		switch row := row.(type) {
		case pwpush.User:
			sealed[fmt.Sprint("users ", row.ID, " otp_secret")] = row.TOTP
		case pwpush.Push:
			at := fmt.Sprint(row.Table, " ", row.Ref.ID, " ")
			sealed[at+"payload"], sealed[at+"note"], sealed[at+"passphrase"] = row.Payload, row.Note, row.Passphrase
		}
	}
	return sealed
}

// TestWhatLockboxEncryptedIsDecrypted compares with what make.rb gave to Lockbox itself.
func TestWhatLockboxEncryptedIsDecrypted(t *testing.T) {
	t.Parallel()
	k := keys(t, strings.ToUpper(masterKey), " "+previousKey, "", pwpush.DefaultMasterKey+" ")
	for _, version := range []string{"v2", "v1"} {
		var plain []struct {
			Table, Attribute, Text string
			ID                     int64
		}
		if err := json.Unmarshal(fixture(t, version+".plain.json"), &plain); err != nil || len(plain) < 10 {
			t.Fatal(len(plain), err)
		}
		sealed := sealedOf(wholeFixture(t, version+".sqlite.sql"))
		for _, p := range plain {
			at := fmt.Sprint(p.Table, " ", p.ID, " ", p.Attribute)
			s, ok := sealed[at]
			got, err := k.Open(s)
			if !ok || err != nil || got.Reveal() != p.Text || s.IsZero() != (p.Text == "") {
				t.Errorf("%s: %q, %v; want %q", at, got.Reveal(), err, p.Text)
			}
		}
	}
}

func TestAWrongKeyOpensNothing(t *testing.T) {
	t.Parallel()
	sealed := sealedOf(wholeFixture(t, "v2.sqlite.sql"))
	for _, c := range []struct {
		name string
		keys pwpush.Keys
		ok   bool
	}{
		{"pushes 1 payload", keys(t, masterKey), true},
		{"pushes 1 payload", keys(t, previousKey), false},
		{"pushes 1 payload", keys(t, previousKey, masterKey), true},
		{"pushes 6 payload", keys(t, masterKey), false},
		{"pushes 6 payload", keys(t, masterKey, previousKey), true},
		{"pushes 7 payload", keys(t, ""), true},
		{"pushes 7 payload", keys(t, masterKey), false},
		{"users 1 otp_secret", keys(t, masterKey), true},
		{"users 1 otp_secret", keys(t, ""), false},
	} {
		got, err := c.keys.Open(sealed[c.name])
		if (err == nil) != c.ok || got.IsZero() == c.ok || err != nil && !errors.Is(err, pwpush.ErrSealed) {
			t.Errorf("%s: %v (%d bytes)", c.name, err, got.Len())
		}
	}
}

func TestADamagedValueIsNotOpened(t *testing.T) {
	t.Parallel()
	k := keys(t, masterKey)
	for _, text := range []string{"%", "AAAA", strings.Repeat("A", 64)} {
		dump := "PRAGMA x;CREATE TABLE users (id,email,encrypted_password,otp_secret_ciphertext);INSERT INTO users VALUES(1,'','','" + text + "');COMMIT;"
		all, bad, err := rows(strings.NewReader(dump))
		if err != nil || bad != nil || len(all) != 1 {
			t.Fatal(all, bad, err)
		}
		_, err = k.Open(all[0].(pwpush.User).TOTP)
		env.ErrorIs(t, text, err, pwpush.ErrSealed)
	}
}

func TestOnlyKeysOf64DigitsAreTaken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		master, previous string
		ok               bool
	}{
		{"", "", true},
		{masterKey + "\n", "", true},
		{masterKey, previousKey + "," + masterKey, true},
		{masterKey[1:], "", false},
		{masterKey + "0", "", false},
		{masterKey[:63] + "x", "", false},
		{strings.Repeat("x", 32), "", false},
		{masterKey, "x", false},
	} {
		_, err := pwpush.NewKeys(secret.New(c.master), secret.New(c.previous))
		if (err == nil) != c.ok || err != nil && !errors.Is(err, pwpush.ErrMasterKey) {
			t.Errorf("%q, %q: %v", c.master, c.previous, err)
		}
	}
}

func TestRowsPrintWithoutTheirSecrets(t *testing.T) {
	t.Parallel()
	for _, row := range wholeFixture(t, "v2.sqlite.sql") {
		printed := fmt.Sprintf("%v %+v %#v", row, row, row)
		for _, hidden := range []string{"$2a$", "Zx_9yQm3v", "ab12-cd34_ef", "It's a"} {
			if strings.Contains(printed, hidden) {
				t.Errorf("%q is in %s", hidden, printed)
			}
		}
	}
}

// blobsOf returns the files of the fixtures.
func blobsOf(t *testing.T) (all []pwpush.Blob) {
	t.Helper()
	for _, row := range wholeFixture(t, "v2.sqlite.sql") {
		if b, ok := row.(pwpush.Blob); ok {
			all = append(all, b)
		}
	}
	if len(all) != 2 {
		t.Fatalf("%d files", len(all))
	}
	return all
}

// content returns the content of a file in a directory.
func content(t *testing.T, dir string, b pwpush.Blob) (string, error) {
	t.Helper()
	s := env.Must(pwpush.OpenStorage(dir))(t)
	defer func() { _ = s.Close() }()
	r, err := s.Open(b)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), errors.Join(err, r.Close())
}

func TestFilesAreInTheStorage(t *testing.T) {
	t.Parallel()
	all := blobsOf(t)
	if got, err := content(t, "testdata/storage", all[0]); err != nil || got != "What the file says.\n" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := content(t, "testdata/storage", all[1]); err != nil || len(got) != 1024 || got[255] != 255 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	unchecked := all[0]
	unchecked.MD5 = "" // Active Storage may have none
	if _, err := content(t, "testdata/storage", unchecked); err != nil {
		t.Errorf("without a checksum: %v", err)
	}
}

func TestADamagedFileIsNoticed(t *testing.T) {
	t.Parallel()
	b := blobsOf(t)[0]
	whole := "What the file says.\n"
	for what, text := range map[string]string{"changed": "That the file says.\n", "cut": whole[:19], "longer": whole + "x", "empty": ""} {
		dir := t.TempDir()
		name := filepath.Join(dir, b.Key[:2], b.Key[2:4], b.Key)
		env.OK(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)))
		_, err := content(t, dir, b)
		env.ErrorIs(t, what, err, pwpush.ErrContent)
	}
}

func TestAFileThatIsNotThereIsNotOpened(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		change func(*pwpush.Blob)
		want   error
	}{
		{"missing", func(b *pwpush.Blob) { b.Key = "abcdmissing" }, fs.ErrNotExist},
		{"in object storage", func(b *pwpush.Blob) { b.Service = "amazon" }, pwpush.ErrElsewhere},
		{"outside", func(b *pwpush.Blob) { b.Key = "../../reader.go" }, nil},
		{"without a key", func(b *pwpush.Blob) { b.Key = "" }, nil},
	} {
		b := blobsOf(t)[0]
		c.change(&b)
		if _, err := content(t, "testdata/storage", b); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	_, err := pwpush.OpenStorage("testdata/missing")
	env.ErrorIs(t, "a directory that is not there", err, fs.ErrNotExist)
}

func TestAPushIsLiveWithinItsLimits(t *testing.T) {
	t.Parallel()
	made := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	end := made.Add(7 * 24 * time.Hour)
	for _, c := range []struct {
		what    string
		change  func(*pwpush.Push)
		at      time.Time
		counted int
		want    bool
	}{
		{"new", func(*pwpush.Push) {}, made, 0, true},
		{"at its last moment and last view", func(*pwpush.Push) {}, end.Add(-1), 4, true},
		{"past its days", func(*pwpush.Push) {}, end, 0, false},
		{"past its views", func(*pwpush.Push) {}, made, 5, false},
		{"expired", func(p *pwpush.Push) { p.Expired = true }, made, 0, false},
		{"deleted", func(p *pwpush.Push) { p.Deleted = true }, made, 0, false},
		{"without limits", func(p *pwpush.Push) { p.Days, p.Views = 0, 0 }, made, 0, false},
		{"with the longest limit", func(p *pwpush.Push) { p.Days = 1<<31 - 1 }, end, 0, true},
	} {
		p := pwpush.Push{CreatedAt: made, Days: 7, Views: 5}
		c.change(&p)
		env.Equal(t, c.what, p.Live(c.at, c.counted), c.want)
	}
}

func TestViewsAndFailedViewsCount(t *testing.T) {
	t.Parallel()
	counted := make(map[pwpush.Ref]int)
	for _, row := range append(wholeFixture(t, "v2.sqlite.sql"), wholeFixture(t, "v1.sqlite.sql")...) {
		if e, ok := row.(pwpush.Entry); ok && e.Counts() {
			counted[e.Push]++
		}
	}
	for push, want := range map[pwpush.Ref]int{
		{Table: "pushes", ID: 1}: 2, {Table: "pushes", ID: 2}: 1, {Table: "pushes", ID: 5}: 2,
		{Table: "passwords", ID: 1}: 2, {Table: "passwords", ID: 2}: 0, {Table: "file_pushes", ID: 1}: 1, {Table: "urls", ID: 1}: 1,
	} {
		env.Equal(t, push, counted[push], want)
	}
}
