package endtoend

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/wraptest"
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

// parse returns the public key of the preferred curve.
func (k keyTexts) parse() ([]byte, error) {
	p256, err1 := decode(k.P256)
	x25519, err2 := decode(k.X25519)
	if errors.Join(err1, err2) != nil {
		return nil, ErrPublicKeys
	}
	if len(x25519) > 0 {
		return x25519, CheckPublicKeys(p256, x25519)
	}
	return p256, CheckPublicKeys(p256, x25519)
}

func TestTheExamplesOfWrappedKeysAreMadeAndRead(t *testing.T) {
	t.Parallel()
	var all requestVectors
	readVectors(t, "requests.json", &all)
	for _, v := range all.Made {
		own, err := ParseRequestFragment(v.Fragment)
		if err != nil || own.p256.Reveal()+own.x25519.Reveal() != string(unhex(t, v.Private...)) {
			t.Fatalf("%s: the private keys are others, %v", v.Name, err)
		}
		public, err := v.PublicKeys.parse()
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		key := Key{secret.New(string(unhex(t, v.Key)))}
		ephemeral, err := wraptest.Ephemeral(t, public).Curve().NewPrivateKey(unhex(t, v.Ephemeral))
		env.OK(t, err)
		wrapped, err := decode(v.Wrapped)
		env.OK(t, err)
		made := wraptest.Wrap(t, key.Fragment(), public, ephemeral)
		if !bytes.Equal(made, wrapped) || !IsWrappedKey(made) {
			t.Errorf("%s: made %x", v.Name, made)
		}
		got, err := own.Unwrap(wrapped)
		if err != nil || got.bytes.Reveal() != key.bytes.Reveal() {
			t.Errorf("%s: another key was unwrapped, %v", v.Name, err)
		}
		other := wraptest.Wrap(t, key.Fragment(), public, wraptest.Ephemeral(t, public))
		if got, err := own.Unwrap(other); err != nil || got.bytes.Reveal() != key.bytes.Reveal() || bytes.Equal(other, wrapped) {
			t.Errorf("%s: a random wrapped key: %v", v.Name, err)
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
	env.OK(t, err)
	for _, v := range refused.WrappedKeys {
		wrapped, err := decode(v[1])
		env.OK(t, err)
		if key, err := own.Unwrap(wrapped); !errors.Is(err, reasons[v[2]]) || !key.IsZero() {
			t.Errorf("a wrapped key with %s: %v", v[0], err)
		}
		if got := IsWrappedKey(wrapped); got != (v[2] == "open") {
			t.Errorf("a wrapped key with %s: IsWrappedKey says %v", v[0], got)
		}
	}
	over, err := decode(all.Made[0].Wrapped)
	env.OK(t, err)
	if _, err := (RequestKey{p256: own.p256}).Unwrap(over); !errors.Is(err, ErrOpen) {
		t.Errorf("without a key of that curve: %v", err)
	}
}

func TestNothingShowsThePrivateKeysOfARequest(t *testing.T) {
	t.Parallel()
	var all requestVectors
	readVectors(t, "requests.json", &all)
	own, err := ParseRequestFragment(all.Made[0].Fragment)
	env.OK(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		shown := fmt.Sprintf(verb, own)
		for _, key := range []string{own.p256.Reveal(), own.x25519.Reveal()} {
			if strings.Contains(shown, key) || strings.Contains(shown, fmt.Sprintf("%x", key)) {
				t.Errorf("%s writes %s", verb, shown)
			}
		}
	}
}
