package seal

import (
	_ "embed"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

func TestRenewingAddsAKeyToEachFamilyAndOpensWhatWasSealed(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	details, entry := r.SealDetails(testID, []byte("d")), r.SealEntry(testID, []byte("e"))
	now := birth.Add(time.Hour)
	next, ok := r.Renew(now)
	if !ok {
		t.Fatal("it was not renewed")
	}
	for _, f := range Families() {
		if p := next.Versions(f); len(p) != 2 || p[1].Version != 2 || !p[1].From.Equal(now) || len(r.Versions(f)) != 1 {
			t.Errorf("family %d has the keys %v", f, p)
		}
	}
	for name, open := range map[string]func(*Ring) error{
		"details": func(r *Ring) error { _, err := r.OpenDetails(testID, details); return err },
		"entry":   func(r *Ring) error { _, err := r.OpenEntry(testID, entry); return err },
	} {
		dropped := next.Drop(DetailKeys, 1).Drop(AuditKeys, 1)
		if err := open(next); err != nil {
			t.Errorf("%s does not open: %v", name, err)
		}
		if err := open(dropped); !errors.Is(err, ErrOpen) {
			t.Errorf("%s under a dropped key: %v", name, err)
		}
	}
	for f, sealed := range map[Family][]byte{
		KEKs:       next.SealLink(now, testID, testToken),
		DetailKeys: next.SealDetails(testID, nil),
		AuditKeys:  next.SealAccount(testID, nil),
	} {
		if v, ok := SealedUnder(f, sealed); !ok || v != 2 {
			t.Errorf("family %d seals under version %d, %t", f, v, ok)
		}
	}
	env.Equal(t, "rows are authenticated under version", next.RowVersion(), 2)
	if _, ok := next.RowSum(1, "pushes", nil, nil); !ok {
		t.Error("the sum of an earlier row is not there")
	}
	if _, ok := next.Drop(RowKeys, 1).RowSum(1, "pushes", nil, nil); ok {
		t.Error("a dropped row key sums")
	}
}

// No KEK is lost, even if the clock has run back: something may be sealed under it.
func TestRenewingPutsTheNewKEKIntoUseAtOnce(t *testing.T) {
	t.Parallel()
	month := birth.Add(rotateAfter)
	rotated, _ := NewRing(birth).Rotate(month)
	for name, now := range map[string]time.Time{
		"before the newest is in use":  month.Add(time.Minute),
		"in the instant when it is":    month.Add(rotateAhead),
		"later":                        month.Add(2 * rotateAhead),
		"with a clock that ran back":   birth.Add(-time.Hour),
		"in the instant of the oldest": birth,
	} {
		next, ok := rotated.Renew(now)
		p := next.Versions(KEKs)
		if !ok || len(p) != 3 || p[2].Version != 3 || !p[2].From.Equal(now) {
			t.Errorf("%s: the KEKs are %v", name, p)
		}
		if got := sealedBy(next, now); got != 3 {
			t.Errorf("%s: version %d is in use", name, got)
		}
		if !p[0].From.Before(p[1].From) || !p[1].From.Before(now) {
			t.Errorf("%s: the periods are %v", name, p)
		}
		root := NewRootKey()
		if _, err := OpenRing(root, next.Sealed(root)); err != nil {
			t.Errorf("%s: it does not open: %v", name, err)
		}
	}
	if p := rotated.Versions(KEKs); !p[1].From.Equal(month.Add(rotateAhead)) {
		t.Errorf("renewing changed the ring itself: %v", p)
	}
}

func TestAFamilyHasAsManyVersionsAsItsHeadsCanSay(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	r = r.replace(DetailKeys, []familyKey{newFamilyKey(DetailKeys, newKey(), math.MaxUint16-1, birth.UnixMilli())})
	last, ok := r.Renew(birth.Add(time.Hour))
	if v, read := SealedUnder(DetailKeys, last.SealDetails(testID, nil)); !ok || !read || v != math.MaxUint16 {
		t.Errorf("the last version is %d, %t, %t", v, read, ok)
	}
	if again, ok := last.Renew(birth.Add(2 * time.Hour)); ok || again != last {
		t.Error("it was renewed beyond its last version")
	}
}

func TestEveryUseHasAnInfoTextOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{
		infoRing: true, infoWrap: true, infoPayload: true, infoFiles: true, infoList: true, infoFile: true, infoGrant: true,
		infoFirstDetail: true, infoFirstRow: true,
	}
	if len(seen) != 9 {
		t.Error("two texts are the same")
	}
	for _, u := range uses {
		if u.family == 0 || u.name == "" || u.info == "" || seen[u.info] {
			t.Errorf("the use %+v has no text of its own", u)
		}
		seen[u.info] = true
	}
}

func TestNothingIsSealedUnderAHeadThatIsNone(t *testing.T) {
	t.Parallel()
	for _, f := range Families() {
		for _, sealed := range [][]byte{nil, {version1}, make([]byte, 100), append([]byte{3, xchacha20}, make([]byte, 100)...)} {
			if v, ok := SealedUnder(f, sealed); ok || v != 0 {
				t.Errorf("family %d: %x is sealed under %d", f, sealed, v)
			}
		}
	}
}

//go:embed testdata/families.json
var familiesJSON []byte

// familyVectors are the values that testdata/families.py made, of the push of vectors.
type familyVectors struct {
	SealedRing    hexBytes `json:"sealed_ring"`
	SealedLink    hexBytes `json:"sealed_link"`
	Details       string   `json:"details"`
	SealedDetails hexBytes `json:"sealed_details"`
	Hook          string   `json:"hook"`
	SealedHook    hexBytes `json:"sealed_hook"`
	Message       string   `json:"message"`
	SealedMessage hexBytes `json:"sealed_message"`
	Place         hexBytes `json:"place"`
	Request       string   `json:"request"`
	SealedRequest hexBytes `json:"sealed_request"`
	Entry         string   `json:"entry"`
	SealedEntry   hexBytes `json:"sealed_entry"`
	Event         string   `json:"event"`
	EventDigest   hexBytes `json:"event_digest"`
	SealedEvent   hexBytes `json:"sealed_event"`
	Account       string   `json:"account"`
	AccountID     hexBytes `json:"account_id"`
	SealedAccount hexBytes `json:"sealed_account"`

	Bucket  string     `json:"bucket"`
	Value   hexBytes   `json:"value"`
	RowSums []hexBytes `json:"row_sums"` // under versions 1 and 2

	FirstDetails hexBytes `json:"first_details"`
	FirstEntry   hexBytes `json:"first_entry"`
	FirstRowSum  hexBytes `json:"first_row_sum"`
}

// loadFamilyVectors also returns the ring that they were sealed under, and the ring of
// before there were families.
func loadFamilyVectors(t testing.TB) (v vectors, f familyVectors, ring, first *Ring) {
	t.Helper()
	v, root, first := loadVectors(t)
	env.OK(t, json.Unmarshal(familiesJSON, &f))
	ring = env.Must(OpenRing(root, f.SealedRing))(t)
	return v, f, ring, first
}

func TestTheFrozenFamiliesAreRead(t *testing.T) {
	t.Parallel()
	v, f, ring, _ := loadFamilyVectors(t)
	if got := ring.MAC(v.Token); string(got[:]) != string(v.MAC) {
		t.Errorf("MAC is %x, not %x", got, v.MAC)
	}
	for family, versions := range map[Family][]uint32{KEKs: {1, 2}, DetailKeys: {1, 300}, AuditKeys: {1}, RowKeys: {1, 2}} {
		periods := ring.Versions(family)
		if len(periods) != len(versions) {
			t.Errorf("family %d has the keys %v", family, periods)
			continue
		}
		for i, p := range periods {
			if p.Version != versions[i] || p.From.UnixMilli() != v.KEKFrom[i] {
				t.Errorf("key %d of family %d is %v", i, family, p)
			}
		}
	}
	root := env.Must(ParseRootKey([]byte(v.KeyText)))(t)
	if now := ring.Sealed(root); len(now) != len(f.SealedRing) || string(now[:plainHead]) != string(f.SealedRing[:plainHead]) {
		t.Errorf("the ring is sealed as %x now", now)
	}
	wrap, err := ring.OpenWrap(v.Wrap, v.PushID, secret.New(v.Token), secret.Text{})
	if err != nil || *wrap.s != string(v.DEK) {
		t.Errorf("a wrap of before there were families does not open: %v", err)
	}
}

func TestTheFrozenRecordsOfFamiliesOpenAndHaveTheirLayout(t *testing.T) {
	t.Parallel()
	v, f, ring, _ := loadFamilyVectors(t)
	digest := [32]byte(f.EventDigest)
	for name, c := range map[string]struct {
		sealed hexBytes
		plain  string
		open   func([]byte) ([]byte, error)
		seal   func([]byte) []byte
		head   int
	}{
		"link": {
			f.SealedLink, v.Token,
			func(b []byte) ([]byte, error) { l, err := ring.OpenLink(v.PushID, b); return []byte(l.Reveal()), err },
			func(p []byte) []byte {
				return ring.SealLink(time.UnixMilli(v.KEKFrom[1]), v.PushID, secret.New(string(p)))
			},
			kekHead,
		},
		"details": {
			f.SealedDetails, f.Details,
			func(b []byte) ([]byte, error) { return ring.OpenDetails(v.PushID, b) },
			func(p []byte) []byte { return ring.SealDetails(v.PushID, p) },
			familyHead,
		},
		"webhook": {
			f.SealedHook, f.Hook,
			func(b []byte) ([]byte, error) { return ring.OpenHook(f.Place, b) },
			func(p []byte) []byte { return ring.SealHook(f.Place, p) },
			familyHead,
		},
		"message": {
			f.SealedMessage, f.Message,
			func(b []byte) ([]byte, error) { return ring.OpenMessage(f.Place, b) },
			func(p []byte) []byte { return ring.SealMessage(f.Place, p) },
			familyHead,
		},
		"request": {
			f.SealedRequest, f.Request,
			func(b []byte) ([]byte, error) { return ring.OpenRequest(v.PushID, b) },
			func(p []byte) []byte { return ring.SealRequest(v.PushID, p) },
			familyHead,
		},
		"entry": {
			f.SealedEntry, f.Entry,
			func(b []byte) ([]byte, error) { return ring.OpenEntry(v.PushID, b) },
			func(p []byte) []byte { return ring.SealEntry(v.PushID, p) },
			familyHead,
		},
		"event": {
			f.SealedEvent, f.Event,
			func(b []byte) ([]byte, error) { return ring.OpenEvent(digest, b) },
			func(p []byte) []byte { return ring.SealEvent(digest, p) },
			familyHead,
		},
		"part of an account": {
			f.SealedAccount, f.Account,
			func(b []byte) ([]byte, error) { return ring.OpenAccount(f.AccountID, b) },
			func(p []byte) []byte { return ring.SealAccount(f.AccountID, p) },
			familyHead,
		},
	} {
		plain, err := c.open(c.sealed)
		if err != nil || string(plain) != c.plain {
			t.Errorf("%s opens as %q, %v", name, plain, err)
		}
		now := c.seal([]byte(c.plain))
		if len(now) != len(c.sealed) || string(now[:c.head]) != string(c.sealed[:c.head]) {
			t.Errorf("%s is sealed as %x now, not as %x", name, now, c.sealed)
		}
	}
}

func TestTheFrozenRowsHaveTheirSums(t *testing.T) {
	t.Parallel()
	v, f, ring, _ := loadFamilyVectors(t)
	for i, want := range f.RowSums {
		sum, ok := ring.RowSum(uint16(i+1), f.Bucket, v.PushID, f.Value)
		if !ok || string(sum[:]) != string(want) {
			t.Errorf("under version %d the sum is %x, %t, not %x", i+1, sum, ok, want)
		}
	}
	env.Equal(t, "rows are authenticated under version", ring.RowVersion(), 2)
}

// A ring of before there were families has the same keys of families each time that it
// is opened, and keeps them when it is sealed again.
func TestTheFirstKeysOfFamiliesComeFromTheRingOfBefore(t *testing.T) {
	t.Parallel()
	v, f, _, first := loadFamilyVectors(t)
	root := NewRootKey()
	again := env.Must(OpenRing(root, first.Sealed(root)))(t)
	for name, ring := range map[string]*Ring{"as it was": first, "sealed again": again} {
		for _, old := range []hexBytes{v.SealedDetails, f.FirstDetails} {
			if plain, err := ring.OpenDetails(v.PushID, old); err != nil || string(plain) != f.Details {
				t.Errorf("%s: details open as %q, %v", name, plain, err)
			}
		}
		if plain, err := ring.OpenEntry(v.EntryID, v.SealedEntry); err != nil || string(plain) != v.Entry {
			t.Errorf("%s: an entry of before opens as %q, %v", name, plain, err)
		}
		if plain, err := ring.OpenEntry(v.PushID, f.FirstEntry); err != nil || string(plain) != f.Entry {
			t.Errorf("%s: an entry opens as %q, %v", name, plain, err)
		}
		if sum, ok := ring.RowSum(1, f.Bucket, v.PushID, f.Value); !ok || string(sum[:]) != string(f.FirstRowSum) {
			t.Errorf("%s: the sum of a row is %x, %t", name, sum, ok)
		}
	}
	for family, want := range map[Family]uint32{DetailKeys: 0, AuditKeys: 1} {
		sealed := map[Family][]byte{DetailKeys: v.SealedDetails, AuditKeys: v.SealedEntry}[family]
		if got, ok := SealedUnder(family, sealed); !ok || got != want {
			t.Errorf("a record of before is sealed under version %d of family %d, %t", got, family, ok)
		}
	}
}

// What was sealed under a KEK before there were families goes with that KEK.
func TestDetailsOfBeforeOpenUnderTheirKEKAlone(t *testing.T) {
	t.Parallel()
	v, _, _, first := loadFamilyVectors(t)
	if _, err := first.Drop(KEKs, 1).OpenDetails(v.PushID, v.SealedDetails); err != nil {
		t.Errorf("they do not open without another KEK: %v", err)
	}
	next, _ := first.Rotate(time.UnixMilli(v.KEKFrom[1]).Add(rotateAfter))
	plain, err := next.Drop(KEKs, 2).OpenDetails(v.PushID, v.SealedDetails)
	wantRefusal(t, "without their KEK", plain, err)
}
