package seal

import (
	"errors"
	"math"
	"testing"
	"time"
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
	if next.RowVersion() != 2 {
		t.Errorf("rows are authenticated under version %d", next.RowVersion())
	}
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
