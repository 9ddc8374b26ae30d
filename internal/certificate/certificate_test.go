package certificate_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pushbox/internal/certificate"
)

// made returns a certificate under a key of a seed.
func made(t *testing.T, seed byte) (text []byte, key ed25519.PublicKey) {
	t.Helper()
	k := ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(seed), ed25519.SeedSize)))
	key = k.Public().(ed25519.PublicKey)
	f, err := certificate.Make(certificate.Statement{
		Server: "https://push.example.com", IssuedAt: "2026-11-21T11:39:25.834Z",
		Push:    certificate.Push{Handle: "agpqa", Kind: "text", Cause: "deleted", DeletedBy: []string{"sender", "recipient"}, Views: 1, ViewLimit: 5},
		Methods: []certificate.Method{{Technique: "Clear", Complete: true, How: "overwritten"}},
	}, func(m []byte) ([]byte, ed25519.PublicKey) { return ed25519.Sign(k, m), key })
	if err != nil {
		t.Fatal(err)
	}
	if text, err = json.Marshal(f); err != nil {
		t.Fatal(err)
	}
	return text, key
}

// only returns the fingerprint of a key, as all see it.
func only(key ed25519.PublicKey) string {
	line, _, _ := strings.Cut(string(certificate.Public(key)), "\n")
	return strings.TrimPrefix(line, certificate.Before)
}

func TestACertificateIsReadAsItWasMade(t *testing.T) {
	t.Parallel()
	text, key := made(t, 'a')
	s, err := certificate.Check(text, only(key))
	if err != nil || s.Push.Views != 1 || s.Type != certificate.Type {
		t.Fatalf("%+v, %v", s, err)
	}
}

// No byte of the payload and of the signature can change, nor the key.
func TestAChangedCertificateIsRefused(t *testing.T) {
	t.Parallel()
	text, key := made(t, 'a')
	var f map[string]string
	if err := json.Unmarshal(text, &f); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"payload", "signature", "key"} {
		whole, _ := base64.StdEncoding.DecodeString(f[part])
		for i := range whole {
			whole[i] ^= 1
			f[part] = base64.StdEncoding.EncodeToString(whole)
			whole[i] ^= 1
			changed, _ := json.Marshal(f)
			if s, err := certificate.Check(changed, only(key)); err == nil || s.Type != "" {
				t.Fatalf("byte %d of the %s may change", i, part)
			}
		}
		f[part] = base64.StdEncoding.EncodeToString(whole)
	}
	other, _ := made(t, 'b')
	if _, err := certificate.Check(other, only(key)); !errors.Is(err, certificate.ErrOtherKey) {
		t.Errorf("another key: %v", err)
	}
	for _, text := range []string{"", "{}", string(text) + "{}", `{"more":1,` + string(text[1:])} {
		if _, err := certificate.Check([]byte(text), only(key)); !errors.Is(err, certificate.ErrForm) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
