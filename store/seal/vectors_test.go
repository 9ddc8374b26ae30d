package seal

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

//go:embed testdata/vectors.json
var vectorsJSON []byte

// hexBytes are bytes that JSON has in hexadecimal.
type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.AppendDecode(nil, text)
	return err
}

// vectors are the values that testdata/vectors.py made.
type vectors struct {
	KeyText        string   `json:"key_text"`
	SealedRing     hexBytes `json:"sealed_ring"`
	KEKFrom        []int64  `json:"kek_from"`
	Token          string   `json:"token"`
	Passphrase     string   `json:"passphrase"`
	MAC            hexBytes `json:"mac"`
	PushID         hexBytes `json:"push_id"`
	EntryID        hexBytes `json:"entry_id"`
	Kind           byte     `json:"kind"`
	DEK            hexBytes `json:"dek"`
	Wrap           hexBytes `json:"wrap"`
	WrapProtected  hexBytes `json:"wrap_protected"`
	Payload        string   `json:"payload"`
	SealedPayload  hexBytes `json:"sealed_payload"`
	Details        string   `json:"details"`
	SealedDetails  hexBytes `json:"sealed_details"`
	Entry          string   `json:"entry"`
	SealedEntry    hexBytes `json:"sealed_entry"`
	PasswordSalt   hexBytes `json:"password_salt"`
	PasswordHash   hexBytes `json:"password_hash"`
	APIToken       string   `json:"api_token"`
	APITokenDigest hexBytes `json:"api_token_digest"`
}

func loadVectors(t testing.TB) (v vectors, root RootKey, ring *Ring) {
	t.Helper()
	env.OK(t, json.Unmarshal(vectorsJSON, &v))
	root, err := ParseRootKey([]byte(v.KeyText))
	env.OK(t, err)
	ring, err = OpenRing(root, v.SealedRing)
	env.OK(t, err)
	return v, root, ring
}

func TestTheFrozenKeyAndRingAreRead(t *testing.T) {
	t.Parallel()
	v, root, ring := loadVectors(t)
	if got := string(root.Text()); got != v.KeyText {
		t.Errorf("the key is written as\n%s, not\n%s", got, v.KeyText)
	}
	if got := ring.MAC(v.Token); string(got[:]) != string(v.MAC) {
		t.Errorf("MAC is %x, not %x", got, v.MAC)
	}
	periods := ring.Versions(KEKs)
	if len(periods) != 2 || periods[0].Version != 1 || periods[1].Version != 2 ||
		periods[0].From.UnixMilli() != v.KEKFrom[0] || periods[1].From.UnixMilli() != v.KEKFrom[1] {
		t.Errorf("the ring has the periods %v", periods)
	}
}

func TestTheFrozenWrapsOpen(t *testing.T) {
	t.Parallel()
	v, _, ring := loadVectors(t)
	for _, w := range []struct {
		wrap       []byte
		passphrase string
		protected  bool
	}{
		{v.Wrap, "", false},
		{v.WrapProtected, v.Passphrase, true},
	} {
		dek, err := ring.OpenWrap(w.wrap, v.PushID, secret.New(v.Token), secret.New(w.passphrase))
		env.OK(t, err)
		if *dek.s != string(v.DEK) {
			t.Error("it holds another key")
		}
		if free := wrapCost(w.wrap) == (Cost{}); free == w.protected {
			t.Errorf("its cost is zero: %t", free)
		}
	}
}

func TestTheFrozenRecordsOpen(t *testing.T) {
	t.Parallel()
	v, _, ring := loadVectors(t)
	payload, err := DEK{keyOf(v.DEK)}.OpenPayload(v.PushID, v.Kind, v.SealedPayload)
	if err != nil || payload.Reveal() != v.Payload {
		t.Errorf("the payload opens as %q, %v", payload.Reveal(), err)
	}
	details, err := ring.OpenDetails(v.PushID, v.SealedDetails)
	if err != nil || string(details) != v.Details {
		t.Errorf("the details open as %q, %v", details, err)
	}
	entry, err := ring.OpenEntry(v.EntryID, v.SealedEntry)
	if err != nil || string(entry) != v.Entry {
		t.Errorf("the entry opens as %q, %v", entry, err)
	}
}

func TestTheFrozenHashesAreTheSame(t *testing.T) {
	t.Parallel()
	v, _, _ := loadVectors(t)
	if got := standard.hash(secret.New(v.Passphrase), v.PasswordSalt); string(got) != string(v.PasswordHash) {
		t.Errorf("Argon2id gives %x, not %x", got, v.PasswordHash)
	}
	if got := Digest(secret.New(v.APIToken)); string(got[:]) != string(v.APITokenDigest) {
		t.Errorf("the digest is %x, not %x", got, v.APITokenDigest)
	}
}

// What is sealed now has the layout of the frozen records to the byte, except for what
// is random.
func TestWhatIsSealedNowHasTheFrozenLayout(t *testing.T) {
	t.Parallel()
	v, _, ring := loadVectors(t)
	first, second := time.UnixMilli(v.KEKFrom[0]), time.UnixMilli(v.KEKFrom[1])
	token, passphrase := secret.New(v.Token), secret.New(v.Passphrase)
	dek := NewDEK()
	wrap := ring.Wrap(first, v.PushID, token, secret.Text{}, dek, Cost{})
	protected := ring.Wrap(second, v.PushID, token, passphrase, dek, Cost{})
	for name, pair := range map[string]struct {
		now, frozen []byte
		same        int // bytes at the front that are not random
	}{
		"wrap":           {wrap, v.Wrap, wrapSalt},
		"protected wrap": {protected, v.WrapProtected, wrapSalt},
		"payload":        {dek.SealPayload(v.PushID, v.Kind, secret.New(v.Payload)), v.SealedPayload, plainHead},
	} {
		if len(pair.now) != len(pair.frozen) {
			t.Errorf("%s: %d bytes instead of %d", name, len(pair.now), len(pair.frozen))
		} else if string(pair.now[:pair.same]) != string(pair.frozen[:pair.same]) {
			t.Errorf("%s: begins %x instead of %x", name, pair.now[:pair.same], pair.frozen[:pair.same])
		}
	}
}
