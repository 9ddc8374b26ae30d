package seal

import (
	"errors"
	"regexp"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

func TestAGrantTokenHasItsForm(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-z2-7]{32}$`)
	seen := make(map[string]bool)
	for range 100 {
		token := NewGrantToken().Reveal()
		if !form.MatchString(token) || seen[token] {
			t.Fatalf("a token has a wrong form, or came twice: %s", token)
		}
		seen[token] = true
	}
}

func TestAGrantOpensOnlyWhereItBelongs(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	sealed := r.SealGrant(birth, testID, testGrant, NewDEK().FilesKey())
	for _, c := range []struct {
		name  string
		ring  *Ring
		id    []byte
		grant secret.Text
		want  error
	}{
		{"in its place", r, testID, testGrant, nil},
		{"of another push", r, otherID, testGrant, ErrOpen},
		{"of no push", r, nil, testGrant, ErrOpen},
		{"of a shorter id", r, testID[:21], testGrant, ErrOpen},
		{"with another token", r, testID, NewGrantToken(), ErrOpen},
		{"with the token cut short", r, testID, secret.New(testGrant.Reveal()[:31]), ErrOpen},
		{"with a longer token", r, testID, secret.New(testGrant.Reveal() + "\x00"), ErrOpen},
		{"with the token in upper case", r, testID, secret.New("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"), ErrOpen},
		{"with no token", r, testID, secret.Text{}, ErrOpen},
		{"under another ring", NewRing(birth), testID, testGrant, ErrOpen},
	} {
		files, err := c.ring.OpenGrant(c.id, c.grant, sealed)
		if !errors.Is(err, c.want) || (err == nil) != (files.s != nil) {
			t.Errorf("%s: the error is %v", c.name, err)
		}
	}
}

func TestAGrantOpensTheFilesWithoutTheLink(t *testing.T) {
	t.Parallel()
	r, dek := NewRing(birth), NewDEK()
	sealed := dek.FilesKey().File(testBlob).Seal(nil, 0, true, []byte("the file"))
	files, err := r.OpenGrant(testID, testGrant, r.SealGrant(birth, testID, testGrant, dek.FilesKey()))
	env.OK(t, err)
	plain, err := files.File(testBlob).Open(nil, 0, true, sealed)
	if err != nil || string(plain) != "the file" {
		t.Errorf("the file does not open: %v", err)
	}
}

// A client with a grant has the files key, and must not get further with it.
func TestAGrantOpensNothingElseOfThePush(t *testing.T) {
	t.Parallel()
	dek := NewDEK()
	payload := dek.SealPayload(testID, 1, testWords)
	if _, err := (DEK{dek.FilesKey().key}).OpenPayload(testID, 1, payload); !errors.Is(err, ErrOpen) {
		t.Errorf("the error is %v", err)
	}
}

func TestAGrantWithoutAKeyInItIsRefused(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	k := &r.keys[KEKs][0]
	head := k.head(KEKs)
	for size, want := range map[int]error{0: ErrOpen, keySize - 1: ErrOpen, keySize: nil, keySize + 1: ErrOpen} {
		sealed := encrypt(k.granting(testGrant), head, bind(head, testID), pattern(size))
		if _, err := r.OpenGrant(testID, testGrant, sealed); !errors.Is(err, want) {
			t.Errorf("%d bytes: the error is %v", size, err)
		}
	}
}

func TestAGrantOfAnUnknownKEKIsRefused(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	sealed := r.SealGrant(birth, testID, testGrant, NewDEK().FilesKey())
	sealed[plainHead+3] = 9
	if _, err := r.OpenGrant(testID, testGrant, sealed); !errors.Is(err, ErrOpen) {
		t.Errorf("the error is %v", err)
	}
}
