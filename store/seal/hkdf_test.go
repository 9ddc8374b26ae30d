package seal

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"regexp"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

// FuzzDerivedKeys compares keys and MACs with those of the standard library.
func FuzzDerivedKeys(f *testing.F) {
	for _, n := range []int{0, 1, 32, 63, 64, 65, 127, 128, 129, 191, 192, 193, 1000} {
		f.Add(bytes.Repeat([]byte{0xa5}, n), []byte(nil), infoWrap)
		f.Add([]byte("secret"), bytes.Repeat([]byte{0x5a}, n), infoPayload)
		f.Add([]byte("secret"), []byte("salt"), string(make([]byte, n)))
	}
	f.Fuzz(func(t *testing.T, secret, salt []byte, info string) {
		want, err := hkdf.Key(sha256.New, secret, salt, info, keySize)
		env.OK(t, err)
		if got := hkdfSHA256(secret, salt, info); !bytes.Equal(got[:], want) {
			t.Errorf("HKDF(%x, %x, %q) is %x, not %x", secret, salt, info, got, want)
		}
		h := hmac.New(sha256.New, salt)
		_, _ = h.Write(secret)
		if got := hmacSHA256(salt, secret); !hmac.Equal(got[:], h.Sum(nil)) {
			t.Errorf("HMAC(%x, %x) is %x", salt, secret, got)
		}
	})
}

func TestAnAPITokenHasItsForm(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^pb_[a-z2-7]{52}$`)
	seen := make(map[string]bool)
	for range 100 {
		token := NewAPIToken().Reveal()
		if !form.MatchString(token) || seen[token] {
			t.Fatalf("a token has a wrong form, or came twice: %s", token)
		}
		seen[token] = true
	}
}

func TestADigestCoversTheWholeToken(t *testing.T) {
	t.Parallel()
	token := NewAPIToken()
	if Digest(token) != sha256.Sum256([]byte(token.Reveal())) {
		t.Error("it is not the SHA-256 digest")
	}
	if Digest(token) == Digest(secret.New(token.Reveal()[3:])) {
		t.Error("it is the same without the prefix")
	}
}
