package seal

import (
	"encoding/base64"
	"errors"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/crypto/argon2"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

func TestACostIsBoundedOnBothSides(t *testing.T) {
	t.Parallel()
	for c, want := range map[Cost]bool{
		{}:                                 true,
		standard:                           true,
		cheap:                              true,
		most:                               true,
		{memory: 1, passes: 1, threads: 1}: true,
		{memory: 256 << 10, passes: 16, threads: 4}:    true,
		{memory: 256<<10 + 1, passes: 16, threads: 4}:  false,
		{memory: 256 << 10, passes: 17, threads: 4}:    false,
		{memory: 256 << 10, passes: 16, threads: 5}:    false,
		{memory: 0, passes: 1, threads: 1}:             false,
		{memory: 1, passes: 0, threads: 1}:             false,
		{memory: 1, passes: 1, threads: 0}:             false,
		{memory: 1<<32 - 1, passes: 255, threads: 255}: false,
	} {
		if c.bounded() != want {
			t.Errorf("%+v: %t", c, !want)
		}
	}
}

func TestAPasswordIsHashedInPHCForm(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^\$argon2id\$v=19\$m=19456,t=2,p=1\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$`)
	hash := Cost{}.HashPassword(testWords)
	parts := form.FindStringSubmatch(hash)
	if parts == nil {
		t.Fatalf("the hash is %s", hash)
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[1])
	env.OK(t, err)
	want := argon2.IDKey([]byte(testWords.Reveal()), salt, 2, 19456, 1, 32)
	if base64.RawStdEncoding.EncodeToString(want) != parts[2] {
		t.Error("it is not the hash of the password")
	}
	if (Cost{}).HashPassword(testWords) == hash {
		t.Error("two hashes of a password are the same")
	}
}

func TestAPasswordIsVerified(t *testing.T) {
	t.Parallel()
	hash := Cost{}.HashPassword(testWords)
	for password, want := range map[string]bool{
		testWords.Reveal():       true,
		testWords.Reveal() + " ": false,
		"Open sesame":            false,
		"":                       false,
	} {
		if ok, err := VerifyPassword(hash, secret.New(password)); ok != want || err != nil {
			t.Errorf("%q: %t, %v", password, ok, err)
		}
	}
}

func TestTheFrozenPasswordIsVerified(t *testing.T) {
	t.Parallel()
	v, _, _ := loadVectors(t)
	if ok, err := VerifyPassword(standard.phc(v.PasswordSalt, v.PasswordHash), secret.New(v.Passphrase)); !ok || err != nil {
		t.Errorf("%t, %v", ok, err)
	}
}

func TestAMalformedHashIsRefusedBeforeHashing(t *testing.T) {
	t.Parallel()
	good := cheap.phc(make([]byte, saltSize), make([]byte, keySize))
	if ok, err := VerifyPassword(good, testWords); ok || err != nil {
		t.Fatalf("%s: %t, %v", good, ok, err)
	}
	change := func(from, to string) string {
		bad := strings.Replace(good, from, to, 1)
		if bad == good {
			t.Fatalf("there is no %s in %s", from, good)
		}
		return bad
	}
	for _, hash := range []string{
		"", "$", "password", good + "$", good + "A", good[1:],
		change("argon2id", "argon2i"), change("v=19", "v=16"), change("m=8", "m=08"), change("m=8", "m=-8"),
		change("m=8", "m=262145"), change("t=1", "t=17"), change("t=1", "t=257"), change("p=1", "p=5"),
		change("m=8,t=1,p=1", "m=0,t=0,p=0"), change("m=8,t=1,p=1", "m=8,t=1"), change("m=8,t=1,p=1", "m=8,t=1,p=1,x=1"),
		change("AAAA$", "AAAB$"), change("AAAA$", "$"), change("AA$", "AA==$"), change("AA$", "A-$"),
	} {
		if ok, err := VerifyPassword(hash, testWords); ok || !errors.Is(err, ErrOpen) {
			t.Errorf("%s: %t, %v", hash, ok, err)
		}
	}
}
