package seal

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"slices"
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
	root = env.Must(ParseRootKey([]byte(v.KeyText)))(t)
	ring = env.Must(OpenRing(root, v.SealedRing))(t)
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
		dek := env.Must(ring.OpenWrap(w.wrap, v.PushID, secret.New(v.Token), secret.New(w.passphrase)))(t)
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

//go:embed testdata/files.json
var filesJSON []byte

// fileVectors are the values that testdata/files.py made, of the push of vectors.
type fileVectors struct {
	FilesKey hexBytes `json:"files_key"`
	BlobID   hexBytes `json:"blob_id"`
	Files    []struct {
		Size         int      `json:"size"`
		SealedSize   int64    `json:"sealed_size"`
		SealedSHA256 hexBytes `json:"sealed_sha256"`
	} `json:"files"`
	ChunkNumber uint64   `json:"chunk_number"`
	Chunk       string   `json:"chunk"`
	SealedChunk hexBytes `json:"sealed_chunk"`
	GrantToken  string   `json:"grant_token"`
	List        string   `json:"list"`
	SealedList  hexBytes `json:"sealed_list"`
	SealedGrant hexBytes `json:"sealed_grant"`
}

func loadFileVectors(t testing.TB) (v vectors, f fileVectors, ring *Ring) {
	t.Helper()
	v, _, ring = loadVectors(t)
	env.OK(t, json.Unmarshal(filesJSON, &f))
	return v, f, ring
}

// A chunk has no random part: sealed again it must have the same bytes.
func TestTheFrozenFilesAreSealedTheSame(t *testing.T) {
	t.Parallel()
	v, f, _ := loadFileVectors(t)
	c := DEK{keyOf(v.DEK)}.FilesKey().File(f.BlobID)
	if len(f.Files) != len(sizes) {
		t.Fatalf("there are %d files", len(f.Files))
	}
	for _, file := range f.Files {
		plain := pattern(file.Size)
		sealed := sealFile(c, plain)
		all := slices.Concat(sealed...)
		if sum := sha256.Sum256(all); string(sum[:]) != string(file.SealedSHA256) {
			t.Errorf("%d bytes: the digest is %x, not %x", file.Size, sum, file.SealedSHA256)
		}
		if int64(len(all)) != file.SealedSize || SealedSize(int64(file.Size)) != file.SealedSize {
			t.Errorf("%d bytes: they are sealed in %d", file.Size, len(all))
		}
		if back, err := openFile(c, sealed); err != nil || string(back) != string(plain) {
			t.Errorf("%d bytes: they come back otherwise: %v", file.Size, err)
		}
	}
}

func TestTheFrozenChunkOpens(t *testing.T) {
	t.Parallel()
	_, f, _ := loadFileVectors(t)
	c := FilesKey{keyOf(f.FilesKey)}.File(f.BlobID)
	plain, err := c.Open(nil, f.ChunkNumber, true, f.SealedChunk)
	if err != nil || string(plain) != f.Chunk {
		t.Errorf("it opens as %q, %v", plain, err)
	}
	if now := c.Seal(nil, f.ChunkNumber, true, plain); string(now) != string(f.SealedChunk) {
		t.Errorf("it is sealed as %x, not %x", now, f.SealedChunk)
	}
}

func TestTheFrozenListOpens(t *testing.T) {
	t.Parallel()
	v, f, _ := loadFileVectors(t)
	list, err := FilesKey{keyOf(f.FilesKey)}.OpenList(v.PushID, f.SealedList)
	if err != nil || string(list) != f.List {
		t.Errorf("it opens as %q, %v", list, err)
	}
}

func TestTheFrozenGrantOpensAndHasItsLayout(t *testing.T) {
	t.Parallel()
	v, f, ring := loadFileVectors(t)
	token := secret.New(f.GrantToken)
	files, err := ring.OpenGrant(v.PushID, token, f.SealedGrant)
	if err != nil || *files.s != string(f.FilesKey) {
		t.Fatalf("it does not open as it should: %v", err)
	}
	if *files.s != *(DEK{keyOf(v.DEK)}).FilesKey().s {
		t.Error("its key is not the files key of the push")
	}
	now := ring.SealGrant(time.UnixMilli(v.KEKFrom[1]), v.PushID, token, files)
	if len(now) != len(f.SealedGrant) || string(now[:kekHead]) != string(f.SealedGrant[:kekHead]) {
		t.Errorf("it is sealed as %x now, not as %x", now, f.SealedGrant)
	}
	if len(NewGrantToken().Reveal()) != len(f.GrantToken) {
		t.Error("the tokens have another length now")
	}
}

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
	ring = env.Must(OpenRing(root, ring.Sealed(root)))(t)
	if plain, err := ring.OpenAccount(testID, sealed); err != nil || string(plain) != "kept" {
		t.Errorf("it opens as %q, %v", plain, err)
	}
}
