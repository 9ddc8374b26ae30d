package seal

import (
	"encoding/base64"
	"regexp"
	"testing"

	"golang.org/x/crypto/argon2"
)

func TestACostIsBoundedOnBothSides(t *testing.T) {
	t.Parallel()
	for c, want := range map[cost]bool{
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
	hash := HashPassword(testWords)
	parts := form.FindStringSubmatch(hash)
	if parts == nil {
		t.Fatalf("the hash is %s", hash)
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	want := argon2.IDKey([]byte(testWords.Reveal()), salt, 2, 19456, 1, 32)
	if base64.RawStdEncoding.EncodeToString(want) != parts[2] {
		t.Error("it is not the hash of the password")
	}
	if HashPassword(testWords) == hash {
		t.Error("two hashes of a password are the same")
	}
}
