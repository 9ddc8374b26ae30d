package endtoend

import (
	"bytes"
	"crypto/ecdh"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pushbox/internal/secret"
)

type requestVectors struct {
	Made []struct {
		Name, Fragment, Key, Ephemeral, Wrapped string
		Private                                 []string
		PublicKeys                              keyTexts `json:"public_keys"`
	}
	Refused struct {
		Fragments   [][3]string
		PublicKeys  []namedKeys `json:"public_keys"`
		Fragment    string
		WrappedKeys [][3]string `json:"wrapped_keys"`
	}
}

type keyTexts struct{ P256, X25519 string }

// A namedKeys is written as an array.
type namedKeys struct {
	name string
	keys keyTexts
}

func (n *namedKeys) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &[]any{&n.name, &n.keys}) }

func (k keyTexts) parse() (PublicKeys, error) {
	p256, err1 := decode(k.P256)
	x25519, err2 := decode(k.X25519)
	if errors.Join(err1, err2) != nil {
		return PublicKeys{}, ErrPublicKeys
	}
	return NewPublicKeys(p256, x25519)
}

func (p PublicKeys) same(other PublicKeys) bool {
	if p.x25519 == nil || other.x25519 == nil {
		return p.p256.Equal(other.p256) && p.x25519 == other.x25519
	}
	return p.p256.Equal(other.p256) && p.x25519.Equal(other.x25519)
}

func TestTheExamplesOfWrappedKeysAreMadeAndRead(t *testing.T) {
	t.Parallel()
	var all requestVectors
	readVectors(t, "requests.json", &all)
	for _, v := range all.Made {
		own, err := ParseRequestFragment(v.Fragment)
		if err != nil || own.p256.Reveal()+own.x25519.Reveal() != string(unhex(t, v.Private...)) || own.Fragment().Reveal() != v.Fragment {
			t.Fatalf("%s: the private keys became %s, %v", v.Name, own.Fragment().Reveal(), err)
		}
		public, err := v.PublicKeys.parse()
		if err != nil || !own.Public().same(public) {
			t.Fatalf("%s: the public keys are others, %v", v.Name, err)
		}
		key := Key{secret.New(string(unhex(t, v.Key)))}
		to := public.p256
		if public.x25519 != nil {
			to = public.x25519
		}
		ephemeral, err := to.Curve().NewPrivateKey(unhex(t, v.Ephemeral))
		if err != nil {
			t.Fatal(err)
		}
		wrapped, err := decode(v.Wrapped)
		if err != nil {
			t.Fatal(err)
		}
		made, err := wrap(key, ephemeral, to)
		if err != nil || !bytes.Equal(made, wrapped) || !IsWrappedKey(made) {
			t.Errorf("%s: made %x, %v", v.Name, made, err)
		}
		got, err := own.Unwrap(wrapped)
		if err != nil || got.bytes.Reveal() != key.bytes.Reveal() {
			t.Errorf("%s: another key was unwrapped, %v", v.Name, err)
		}
		other, err := public.Wrap(key)
		if got, err2 := own.Unwrap(other); err != nil || err2 != nil || got.bytes.Reveal() != key.bytes.Reveal() || bytes.Equal(other, wrapped) {
			t.Errorf("%s: a random wrapped key: %v, %v", v.Name, err, err2)
		}
	}
}

func TestForeignKeysOfRequestsAreRefused(t *testing.T) {
	t.Parallel()
	var all requestVectors
	readVectors(t, "requests.json", &all)
	refused := all.Refused
	reasons := map[string]error{"none": ErrNoKey, "cut": ErrCutKey, "later": ErrLaterKey, "not": ErrNotEncrypted, "open": ErrOpen}
	for _, v := range refused.Fragments {
		if _, err := ParseRequestFragment(v[1]); !errors.Is(err, reasons[v[2]]) {
			t.Errorf("private keys with %s: %v", v[0], err)
		}
	}
	for _, v := range refused.PublicKeys {
		if _, err := v.keys.parse(); !errors.Is(err, ErrPublicKeys) {
			t.Errorf("public keys with %s: %v", v.name, err)
		}
	}
	own, err := ParseRequestFragment(refused.Fragment)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range refused.WrappedKeys {
		wrapped, err := decode(v[1])
		if err != nil {
			t.Fatal(err)
		}
		if key, err := own.Unwrap(wrapped); !errors.Is(err, reasons[v[2]]) || !key.IsZero() {
			t.Errorf("a wrapped key with %s: %v", v[0], err)
		}
		if got := IsWrappedKey(wrapped); got != (v[2] == "open") {
			t.Errorf("a wrapped key with %s: IsWrappedKey says %v", v[0], got)
		}
	}
	over, err := decode(all.Made[0].Wrapped)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (RequestKey{p256: own.p256}).Unwrap(over); !errors.Is(err, ErrOpen) {
		t.Errorf("without a key of that curve: %v", err)
	}
	none, err := ecdh.X25519().NewPublicKey(make([]byte, keySize))
	if err != nil {
		t.Fatal(err)
	}
	if wrapped, err := (PublicKeys{own.Public().p256, none}).Wrap(NewKey()); err == nil {
		t.Errorf("a point of low order became %x", wrapped)
	}
}

func TestNothingShowsThePrivateKeysOfARequest(t *testing.T) {
	t.Parallel()
	var all requestVectors
	readVectors(t, "requests.json", &all)
	own, err := ParseRequestFragment(all.Made[0].Fragment)
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		shown := fmt.Sprintf(verb, own)
		for _, key := range []string{own.p256.Reveal(), own.x25519.Reveal()} {
			if strings.Contains(shown, key) || strings.Contains(shown, fmt.Sprintf("%x", key)) {
				t.Errorf("%s writes %s", verb, shown)
			}
		}
	}
}
