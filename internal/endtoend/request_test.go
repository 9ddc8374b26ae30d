package endtoend

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
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
		ephemeral := env.Must(wraptest.Ephemeral(t, public).Curve().NewPrivateKey(unhex(t, v.Ephemeral)))(t)
		wrapped := env.Must(decode(v.Wrapped))(t)
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
	own := env.Must(ParseRequestFragment(refused.Fragment))(t)
	for _, v := range refused.WrappedKeys {
		wrapped := env.Must(decode(v[1]))(t)
		if key, err := own.Unwrap(wrapped); !errors.Is(err, reasons[v[2]]) || !key.IsZero() {
			t.Errorf("a wrapped key with %s: %v", v[0], err)
		}
		if got := IsWrappedKey(wrapped); got != (v[2] == "open") {
			t.Errorf("a wrapped key with %s: IsWrappedKey says %v", v[0], got)
		}
	}
	over := env.Must(decode(all.Made[0].Wrapped))(t)
	_, err := (RequestKey{p256: own.p256}).Unwrap(over)
	env.ErrorIs(t, "without a key of that curve", err, ErrOpen)
}

func TestNothingShowsThePrivateKeysOfARequest(t *testing.T) {
	t.Parallel()
	var all requestVectors
	readVectors(t, "requests.json", &all)
	own := env.Must(ParseRequestFragment(all.Made[0].Fragment))(t)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x"} {
		shown := fmt.Sprintf(verb, own)
		for _, key := range []string{own.p256.Reveal(), own.x25519.Reveal()} {
			if strings.Contains(shown, key) || strings.Contains(shown, fmt.Sprintf("%x", key)) {
				t.Errorf("%s writes %s", verb, shown)
			}
		}
	}
}

type pushVector struct {
	Name, Key, Fragment, Text, Envelope string
	Nonces                              [2]string
	Files                               []fileVector
}

type fileVector struct {
	Name, Type, Prefix string
	Size               int
	EncryptedSize      int64  `json:"encrypted_size"`
	EncryptedSHA256    string `json:"encrypted_sha256"`
}

func readVectors(t testing.TB, name string, into any) {
	t.Helper()
	env.OK(t, json.Unmarshal(env.Read(t, "../../testdata/end-to-end/"+name), into))
}

func unhex(t testing.TB, texts ...string) (all []byte) {
	t.Helper()
	for _, text := range texts {
		b := env.Must(hex.DecodeString(text))(t)
		all = append(all, b...)
	}
	return all
}

// pattern is the content of the files in the examples.
func pattern(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

func TestTheExamplesAreMadeAndRead(t *testing.T) {
	t.Parallel()
	var all []pushVector
	readVectors(t, "pushes.json", &all)
	for _, v := range all {
		key, err := ParseFragment(v.Fragment)
		if err != nil || key.bytes.Reveal() != string(unhex(t, v.Key)) || key.Fragment().Reveal() != v.Fragment {
			t.Fatalf("%s: the key became %s, %v", v.Name, key.Fragment().Reveal(), err)
		}
		want := Content{Text: secret.New(v.Text), Files: []File{}}
		for i, f := range v.Files {
			want.Files = append(want.Files, File{f.Name, f.Type})
			f.check(t, key, i+1)
		}
		made, err := key.seal(want, bytes.NewReader(unhex(t, v.Nonces[:]...)))
		if err != nil || made.Reveal() != v.Envelope || !IsEnvelope(v.Envelope) {
			t.Errorf("%s: made %s, %v", v.Name, made.Reveal(), err)
		}
		got, err := key.Open(secret.New(v.Envelope))
		if err != nil || got.Text.Reveal() != v.Text || !reflect.DeepEqual(got.Files, want.Files) {
			t.Errorf("%s: read %q %v, %v", v.Name, got.Text.Reveal(), got.Files, err)
		}
	}
}

func (f fileVector) check(t *testing.T, key Key, number int) {
	t.Helper()
	sealed, err := io.ReadAll(key.encrypt(number, bytes.NewReader(pattern(f.Size)), bytes.NewReader(unhex(t, f.Prefix))))
	sum := sha256.Sum256(sealed)
	if err != nil || hex.EncodeToString(sum[:]) != f.EncryptedSHA256 || int64(len(sealed)) != f.EncryptedSize || EncryptedSize(int64(f.Size)) != f.EncryptedSize {
		t.Errorf("%s: %d bytes of SHA-256 %x, %v", f.Name, len(sealed), sum, err)
	}
	if got, err := decrypt(key, number, sealed); err != nil || !bytes.Equal(got, pattern(f.Size)) {
		t.Errorf("%s: read %d bytes, %v", f.Name, len(got), err)
	}
}

func decrypt(key Key, number int, sealed []byte) ([]byte, error) {
	var out bytes.Buffer
	d := key.Decrypt(number, &out)
	_, err := d.Write(sealed)
	if err == nil {
		err = d.Close()
	}
	return out.Bytes(), err
}

func TestWhatIsNotGenuineIsRefused(t *testing.T) {
	t.Parallel()
	var refused struct {
		Fragments, Envelopes [][3]string
		Key                  string
	}
	readVectors(t, "refused.json", &refused)
	reasons := map[string]error{"none": ErrNoKey, "cut": ErrCutKey, "later": ErrLaterKey, "not": ErrNotEncrypted, "open": ErrOpen}
	for _, v := range refused.Fragments {
		if _, err := ParseFragment(v[1]); !errors.Is(err, reasons[v[2]]) {
			t.Errorf("a key with %s: %v", v[0], err)
		}
	}
	key := env.Must(ParseFragment(refused.Key))(t)
	for _, v := range refused.Envelopes {
		if c, err := key.Open(secret.New(v[1])); !errors.Is(err, reasons[v[2]]) || !c.Text.IsZero() {
			t.Errorf("an envelope with %s: %v", v[0], err)
		}
		if got := IsEnvelope(v[1]); got != (v[2] == "open") {
			t.Errorf("an envelope with %s: IsEnvelope says %v", v[0], got)
		}
	}
}
