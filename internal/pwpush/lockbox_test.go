package pwpush_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pushbox/internal/pwpush"
	"pushbox/internal/secret"
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
		if _, err := k.Open(all[0].(pwpush.User).TOTP); !errors.Is(err, pwpush.ErrSealed) {
			t.Errorf("%s: %v", text, err)
		}
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
