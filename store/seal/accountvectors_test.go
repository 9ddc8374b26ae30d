package seal

import (
	_ "embed"
	"encoding/json"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

//go:embed testdata/accounts.json
var accountsJSON []byte

// accountVectors are the values that testdata/accounts.py made, under the ring of
// vectors.
type accountVectors struct {
	Session       string   `json:"session"`
	SessionDigest hexBytes `json:"session_digest"`
	Origin        string   `json:"origin"`
	SealedOrigin  hexBytes `json:"sealed_origin"`
	AccountID     hexBytes `json:"account_id"`
	TOTP          hexBytes `json:"totp"`
	SealedTOTP    hexBytes `json:"sealed_totp"`
}

func loadAccountVectors(t testing.TB) (a accountVectors, ring *Ring) {
	t.Helper()
	_, _, ring = loadVectors(t)
	env.OK(t, json.Unmarshal(accountsJSON, &a))
	return a, ring
}

func TestTheFrozenPartsOfAnAccountOpen(t *testing.T) {
	t.Parallel()
	a, ring := loadAccountVectors(t)
	if got := Digest(secret.New(a.Session)); string(got[:]) != string(a.SessionDigest) {
		t.Errorf("the digest is %x, not %x", got, a.SessionDigest)
	}
	for name, part := range map[string]struct {
		id, sealed []byte
		plain      string
	}{
		"the origin of a session":       {a.SessionDigest, a.SealedOrigin, a.Origin},
		"the secret of a second factor": {a.AccountID, a.SealedTOTP, string(a.TOTP)},
	} {
		plain, err := ring.OpenAccount(part.id, part.sealed)
		if err != nil || string(plain) != part.plain {
			t.Errorf("%s opens as %q, %v", name, plain, err)
		}
	}
}

func TestThePartsOfAnAccountOpenOnlyWhereTheyBelong(t *testing.T) {
	t.Parallel()
	a, ring := loadAccountVectors(t)
	for _, c := range []struct {
		name string
		ring *Ring
		id   []byte
	}{
		{"of another session", ring, a.AccountID},
		{"of none", ring, nil},
		{"of a longer id", ring, append(a.SessionDigest, 0)},
		{"under another ring", NewRing(birth), a.SessionDigest},
	} {
		plain, err := c.ring.OpenAccount(c.id, a.SealedOrigin)
		wantRefusal(t, c.name, plain, err)
	}
	if _, err := ring.OpenEntry(a.SessionDigest, a.SealedOrigin); err == nil {
		t.Error("it opens as an audit entry")
	}
}

// Parts of an account stay readable for the life of the store: no KEK seals them.
func TestThePartsOfAnAccountOutliveEveryKEK(t *testing.T) {
	t.Parallel()
	first := NewRing(birth)
	sealed := first.SealAccount(testID, []byte("kept"))
	root, ring := NewRootKey(), first
	for i := range 3 {
		ring, _ = ring.Rotate(birth.AddDate(0, 2*(i+1), 0))
	}
	for _, p := range ring.Versions(KEKs)[:3] {
		ring = ring.Drop(KEKs, p.Version)
	}
	ring, err := OpenRing(root, ring.Sealed(root))
	env.OK(t, err)
	if plain, err := ring.OpenAccount(testID, sealed); err != nil || string(plain) != "kept" {
		t.Errorf("it opens as %q, %v", plain, err)
	}
}
