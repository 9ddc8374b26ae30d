package record

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
)

// A record is what the kinds of record have in common.
type record interface {
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// records holds a full and an empty one of each kind.
func records() map[string][2]record {
	at := func(d time.Duration) time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(d) }
	return map[string][2]record{
		"push": {&Push{
			Kind: QR, State: Deleted, Owner: 1 << 63, CreatedAt: at(1e6), UpdatedAt: at(2e6), ExpiresAt: at(3e9), ExpiredAt: at(4e6),
			Days: 90, ViewLimit: 100, Views: 99, RetrievalStep: true, DeletableByViewer: true, Protected: true, Frozen: true, ClientEncrypted: true,
			Seq: 1<<32 - 1, Minor: 2000, Failed: 1<<31 - 1, Wrap: []byte{1, 2, 3}, Details: []byte{4}, Receipt: ReceiptDigest{5, 31: 6},
		}, &Push{Kind: Text, State: Live}},
		"push with files": {&Push{
			Kind: File, State: Expired, CreatedAt: at(1e6), ExpiredAt: at(4e6), Seq: 3,
			Files: []byte{5, 6}, Stored: 1<<63 - 1, GrantsEnd: at(9e9),
		}, &Push{Kind: File, State: Live, Files: []byte{0}, Stored: 1}},
		"push with all flags": {&Push{Kind: Text, State: Live, TypedReveal: true, Restricted: true, Reminded: true}, &Push{Kind: Text, State: Live, Reminded: true}},
		"push with times":     {&Push{Kind: Text, State: Live, OpensAt: at(7e6), CloseAfter: 90 * Day}, &Push{Kind: Text, State: Live, CloseAfter: time.Millisecond}},
		"grant": {&Grant{
			Push: ID{1, 21: 2}, ExpiresAt: at(3e6), Until: at(4e6), Sealed: []byte{8, 9},
		}, &Grant{}},
		"entry": {&Entry{Kind: EntryOwnerView, At: at(5e6), Sealed: []byte{6, 7}}, &Entry{Kind: EntryCreation}},
		"account": {&Account{
			ID: 9, Email: "a@example.com", PasswordHash: "$argon2id$", CreatedAt: at(0), Disabled: true, Removing: true,
			TOTP: "sealed", TOTPSince: at(6e9), TOTPStep: 1<<63 - 1, Recovery: strings.Repeat("0123456789abcdef", 10),
			SignedInAt: at(7e9), Unconfirmed: true, Code: AddressCode{Sum: [16]byte{1, 15: 2}, SentAt: at(8e9), Wrong: CodeTries, Sent: CodesPerDay},
			Identities: Identities("").With(Identity{"i", "s"}).With(Identity{"i", "t"}),
			Passkeys:   passkeyBytes + passkeyBytes,
			Name:       "Ann", Language: "de", Mails: NewEventSet(EventLastView), Policy: "finance",
		}, &Account{}},
		"session": {&Session{
			ID: 1<<64 - 1, Owner: 7, CreatedAt: at(1e6), LastUsedAt: at(2e6), ExpiresAt: at(3e9), Pending: true, Sealed: []byte{1, 2},
			Via: Identity{"i", "s"}, ViaName: "sid", Strong: true,
		}, &Session{}},
		"webhook": {&Hook{CreatedAt: at(1e6), Events: NewEventSet(Events()...), Disabled: true, Sealed: []byte{1, 2}, Tried: []Delivery{{At: at(2e6), Event: EventView, Status: 204}, {At: at(3e6), Fault: FaultSlow}}}, &Hook{}},
		"request": {&Request{
			Owner: 1<<64 - 1, CreatedAt: at(1e6), ExpiresAt: at(2e6), EndedAt: at(3e6), Texts: true, Files: true, RetrievalStep: true, MaxAnswers: MaxAnswers,
			Answers: []ID{{1}, {21: 2}}, Lifetime: 90 * Day, Views: 100, X25519: []byte{1}, P256: []byte{2}, Sealed: []byte{3},
		}, &Request{MaxAnswers: 1}},
		"answer":  {&Push{Kind: Text, State: Live, Request: RequestID{1, 21: 2}, WrappedKey: []byte{7}, ReadAt: at(5e6)}, &Push{Kind: Text, State: Live, Request: RequestID{9}}},
		"message": {&Message{Route: ByWebhook, To: 1<<64 - 1, CreatedAt: at(1e6), Attempts: 1<<31 - 1, Sealed: []byte{3}}, &Message{Route: ByWebhook}},
		"token":   {&APIToken{ID: 3, Digest: TokenDigest{1, 31: 2}, Owner: 4, Label: "ci", Scopes: ScopeCreate | ScopeManage, CreatedAt: at(0), ExpiresAt: at(1e9), LastUsedAt: at(6e10)}, &APIToken{}},
	}
}

func fresh(r record) record { return reflect.New(reflect.TypeOf(r).Elem()).Interface().(record) }

func TestRecordsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	for name, pair := range records() {
		for _, r := range pair {
			b, err := r.AppendBinary([]byte("front"))
			env.OK(t, err)
			got := fresh(r)
			if err := got.UnmarshalBinary(b[len("front"):]); err != nil || !reflect.DeepEqual(got, r) {
				t.Errorf("%s: %+v became %+v, %v", name, r, got, err)
			}
		}
	}
}

func TestRecordsShareNoMemory(t *testing.T) {
	t.Parallel()
	for name, pair := range records() {
		b, _ := pair[0].AppendBinary(nil)
		got := fresh(pair[0])
		env.OK(t, got.UnmarshalBinary(b))
		clear(b)
		if !reflect.DeepEqual(got, pair[0]) {
			t.Errorf("%s: it changed with the bytes it was read from", name)
		}
	}
}

func TestCutOrPaddedRecordsAreRefused(t *testing.T) {
	t.Parallel()
	for name, pair := range records() {
		b, _ := pair[0].AppendBinary(nil)
		for n := range b {
			if fresh(pair[0]).UnmarshalBinary(b[:n]) == nil {
				t.Errorf("%s: %d of %d bytes are accepted", name, n, len(b))
			}
		}
		if fresh(pair[0]).UnmarshalBinary(append(b, 0)) == nil {
			t.Errorf("%s: a byte more is accepted", name)
		}
		b[0]++
		if fresh(pair[0]).UnmarshalBinary(b[:len(b)-1]) == nil {
			t.Errorf("%s: a later version is accepted", name)
		}
	}
}

// FuzzRecords checks that a record which is accepted is written back unchanged.
func FuzzRecords(f *testing.F) {
	for _, pair := range records() {
		for _, r := range pair {
			b, _ := r.AppendBinary(nil)
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for name, pair := range records() {
			r := fresh(pair[0])
			if r.UnmarshalBinary(b) != nil {
				continue
			}
			again, err := r.AppendBinary(nil)
			if err != nil || !bytes.Equal(again, b) {
				t.Fatalf("%s: %x was written back as %x, %v", name, b, again, err)
			}
		}
	})
}

// What is not part of a record is its key, or is kept elsewhere.
func TestARecordIsReadBesideWhatItsKeySays(t *testing.T) {
	t.Parallel()
	p, g := Push{ID: ID{1, 21: 2}, Kind: File, State: Live}, Grant{Digest: GrantDigest{3, 31: 4}, Push: ID{5}}
	b, _ := p.AppendBinary(nil)
	q := Push{ID: p.ID}
	if err := q.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(q, p) || bytes.Contains(b, p.ID[:]) {
		t.Errorf("push: %+v, %v", q, err)
	}
	b, _ = g.AppendBinary(nil)
	h := Grant{Digest: g.Digest}
	if err := h.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(h, g) || bytes.Contains(b, g.Digest[:]) {
		t.Errorf("grant: %+v, %v", h, err)
	}
	s := Session{Digest: SessionDigest{6, 31: 7}, Owner: 8}
	b, _ = s.AppendBinary(nil)
	r := Session{Digest: s.Digest}
	if err := r.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(r, s) || bytes.Contains(b, s.Digest[:]) {
		t.Errorf("session: %+v, %v", r, err)
	}
	plain, _ := Entry{Kind: EntryView}.AppendBinary(nil)
	issued, _ := Entry{Kind: EntryView, Grant: &NewGrant{Grant: g}}.AppendBinary(nil)
	if !bytes.Equal(plain, issued) {
		t.Errorf("an entry holds the grant that was issued with it: %x", issued)
	}
}

func TestARecordThatIsRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	for name, pair := range records() {
		b, _ := pair[0].AppendBinary(nil)
		got := fresh(pair[0])
		if got.UnmarshalBinary(b[:len(b)-1]) == nil || !reflect.DeepEqual(got, fresh(pair[0])) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestRecoveryCodesAreKeptWhole(t *testing.T) {
	t.Parallel()
	for n, whole := range map[int]bool{0: true, RecoverySize - 1: false, RecoverySize: true, RecoverySize + 1: false, 2 * RecoverySize: true} {
		b, _ := Account{Recovery: strings.Repeat("x", n)}.AppendBinary(nil)
		if err := new(Account).UnmarshalBinary(b); (err == nil) != whole {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestIdentitiesAreKeptWhole(t *testing.T) {
	t.Parallel()
	one := Identities("").With(Identity{"i", "s"})
	for of, whole := range map[Identities]bool{
		"": true, one: true, one + one: false, one[:3]: false, one + "\x01": false, Identities("").With(Identity{"", "s"}): false,
		Identities("").With(Identity{"i", ""}): false, one.With(Identity{"is", "s"}): true, one.With(Identity{"i", strings.Repeat("s", maxSubject+1)}): false,
	} {
		b, _ := Account{Identities: of}.AppendBinary(nil)
		if err := new(Account).UnmarshalBinary(b); (err == nil) != whole {
			t.Errorf("%q: %v", of, err)
		}
	}
}

// passkeyBytes are the record of a passkey.
const passkeyBytes = "0123456789abcdef\x03key\x07\x01\x02\x06sealed"

func TestPasskeysAreKeptWhole(t *testing.T) {
	t.Parallel()
	for text, whole := range map[string]bool{
		passkeyBytes: true, passkeyBytes + passkeyBytes[:20]: false, passkeyBytes[1:]: false, passkeyBytes + "x": false,
		strings.Repeat(passkeyBytes, MaxPasskeys): true, strings.Repeat(passkeyBytes, MaxPasskeys+1): false,
	} {
		b, _ := Account{Passkeys: text}.AppendBinary(nil)
		if err := new(Account).UnmarshalBinary(b); (err == nil) != whole {
			t.Errorf("%q: %v", text, err)
		}
	}
	if new(Account).UnmarshalBinary(withFlags(flagPasskeys, 0)) == nil {
		t.Error("none is accepted as some")
	}
}

// withFlags is the record of an empty account with these flags and this end.
func withFlags(flags uint64, end ...byte) []byte {
	b, _ := Account{}.AppendBinary(nil)
	return slices.Concat(b[:1], binary.AppendUvarint(nil, flags), b[2:], end)
}

func TestOptionalPartsOfAnAccountAreNotEmpty(t *testing.T) {
	t.Parallel()
	for flags, end := range map[uint64][]byte{flagWishes: {0, 0, 0}, flagPolicy: {0}, flagTOTPSince: {0}, flagTOTPSince | flagSignedIn: {0, 0}, allAccountFlags + 1: {}} {
		if new(Account).UnmarshalBinary(withFlags(flags, end...)) == nil {
			t.Errorf("flags %#x with an empty part are accepted", flags)
		}
	}
}

func TestASignInHasATime(t *testing.T) {
	t.Parallel()
	b, _ := Account{}.AppendBinary(nil)
	b[1] |= flagSignedIn
	if new(Account).UnmarshalBinary(append(b, 0)) == nil {
		t.Error("one without a time is accepted")
	}
}

func TestACodeIsOfAnAddressThatIsNotConfirmed(t *testing.T) {
	t.Parallel()
	good := Account{Unconfirmed: true, Code: AddressCode{SentAt: time.UnixMilli(8e9).UTC(), Wrong: CodeTries, Sent: CodesPerDay}}
	for name, test := range map[string]struct {
		change func(*Account)
		good   bool
	}{
		"as it is":       {func(*Account) {}, true},
		"confirmed":      {func(a *Account) { a.Unconfirmed = false }, false},
		"at no time":     {func(a *Account) { a.Code.SentAt = time.Time{} }, false},
		"never sent":     {func(a *Account) { a.Code.Sent = 0 }, false},
		"sent too often": {func(a *Account) { a.Code.Sent++ }, false},
		"too many tries": {func(a *Account) { a.Code.Wrong++ }, false},
	} {
		a := good
		test.change(&a)
		b, _ := a.AppendBinary(nil)
		if err := new(Account).UnmarshalBinary(b); (err == nil) != test.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnUnknownFlagIsRefused(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]record{"account": &Account{}, "session": &Session{}} {
		b, _ := r.AppendBinary(nil)
		b[1] |= 1 << 7
		if fresh(r).UnmarshalBinary(b) == nil {
			t.Errorf("%s: it is accepted", name)
		}
	}
}
