package seal

import (
	"crypto/sha256"
	"regexp"
	"testing"

	"pushbox/internal/secret"
)

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
