package seal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

func TestAnotherRootKeyDoesNotOpenTheRing(t *testing.T) {
	t.Parallel()
	sealed := NewRing(birth).Sealed(NewRootKey())
	r, err := OpenRing(NewRootKey(), sealed)
	if !errors.Is(err, ErrKey) || errors.Is(err, ErrOpen) || r != nil {
		t.Errorf("the error is %v", err)
	}
}

func TestTextThatIsNotASealedRingIsNotAnErrorOfTheKey(t *testing.T) {
	t.Parallel()
	root := NewRootKey()
	sealed := NewRing(birth).Sealed(root)
	later := bytes.Clone(sealed)
	later[0] = version2 + 1
	for name, b := range map[string][]byte{"nothing": nil, "a stump": sealed[:20], "a later version": later} {
		if _, err := OpenRing(root, b); !errors.Is(err, ErrOpen) || errors.Is(err, ErrKey) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func TestARingOpensUnderANewRootKey(t *testing.T) {
	t.Parallel()
	before, after := NewRootKey(), NewRootKey()
	ring := NewRing(birth)
	wrap := ring.Wrap(birth, testID, testToken, testWords, NewDEK(), Cost{})
	ring = env.Must(OpenRing(before, ring.Sealed(before)))(t)
	ring = env.Must(OpenRing(after, ring.Sealed(after)))(t)
	if _, err := ring.OpenWrap(wrap, testID, testToken, testWords); err != nil {
		t.Errorf("an earlier wrap does not open: %v", err)
	}
}

func TestARingThatWasSealedBadlyIsRefused(t *testing.T) {
	t.Parallel()
	good := grown(3).encode()
	record := func(i int) []byte { return good[keySize+i*keyRecord : keySize+(i+1)*keyRecord] }
	without := func(i int) []byte {
		return slices.Delete(slices.Clone(good), keySize+i*keyRecord, keySize+(i+1)*keyRecord)
	}
	changed := func(i, offset int, b ...byte) []byte {
		c := slices.Clone(good)
		copy(c[keySize+i*keyRecord+offset:], b)
		return c
	}
	const version, from = 1, 5 // offsets in a record
	first := binary.BigEndian.AppendUint64(nil, uint64(birth.UnixMilli()))
	wantRefusedRings(t, version2, good, map[string][]byte{
		"nothing":                        nil,
		"no key":                         good[:keySize],
		"half a key":                     good[:len(good)-1],
		"a byte too many":                append(slices.Clone(good), 0),
		"KEKs swapped":                   slices.Concat(good[:keySize], record(1), record(0), good[keySize+2*keyRecord:]),
		"a key twice":                    slices.Concat(good, record(5)),
		"two periods from one time":      changed(1, from, first...),
		"a version twice":                changed(1, version, 0, 0, 0, 1),
		"families swapped":               slices.Concat(good[:keySize+3*keyRecord], record(4), record(3), record(5)),
		"an unknown family":              changed(5, 0, 5),
		"no family":                      changed(0, 0, 0),
		"no detail key":                  without(3),
		"no row key":                     without(5),
		"a version that no head can say": changed(5, version, 0, 1, 0, 0),
	})
	wantRefusedRings(t, version2, changed(5, version, 0, 0, 0xff, 0xff), nil)
}

func TestARingOfBeforeThatWasSealedBadlyIsRefused(t *testing.T) {
	t.Parallel()
	kek := func(version uint32, from int64) []byte {
		b := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, version), uint64(from))
		return append(b, newKey().bytes()...)
	}
	fixed := append(newKey().bytes(), newKey().bytes()...)
	good := slices.Concat(fixed, kek(1, 1000), kek(2, 2000))
	wantRefusedRings(t, version1, good, map[string][]byte{
		"nothing":                   nil,
		"no KEK":                    fixed,
		"half a KEK":                good[:len(good)-1],
		"a byte too many":           append(slices.Clone(good), 0),
		"KEKs swapped":              slices.Concat(fixed, kek(2, 2000), kek(1, 1000)),
		"a KEK twice":               slices.Concat(fixed, kek(1, 1000), kek(1, 2000)),
		"two periods from one time": slices.Concat(fixed, kek(1, 1000), kek(2, 1000)),
	})
}

// wantRefusedRings fails the test unless a good ring of a version opens, and no bad one.
func wantRefusedRings(t *testing.T, version byte, good []byte, bad map[string][]byte) {
	t.Helper()
	root, head := NewRootKey(), []byte{version, xchacha20}
	open := func(plain []byte) (*Ring, error) {
		return OpenRing(root, encrypt(root.aead(infoRing), head, head, plain))
	}
	for name, plain := range bad {
		if r, err := open(plain); !errors.Is(err, ErrOpen) || r != nil {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	if r, err := open(good); err != nil || version == version2 && !bytes.Equal(r.encode(), good) {
		t.Errorf("a good one: %v", err)
	}
}

func TestTheMACIsOfTheTokenAndTheRing(t *testing.T) {
	t.Parallel()
	a, b := NewRing(birth), NewRing(birth)
	one := a.MAC("one")
	if one == a.MAC("two") || one == b.MAC("one") || one == a.MAC("one\x00") {
		t.Error("it is the same for another token or ring")
	}
	next, rotated := a.Rotate(birth.Add(rotateAfter))
	if !rotated || next.MAC("one") != one || a.MAC("one") != one {
		t.Error("it changed, with the KEK or from one call to the next")
	}
}

// grown returns a ring with n KEKs.
func grown(n int) *Ring {
	r := NewRing(birth)
	for now := birth; len(r.keys[KEKs]) < n; now = now.Add(24 * time.Hour) {
		r, _ = r.Rotate(now)
	}
	return r
}

func TestARingRotatesAfterThirtyDays(t *testing.T) {
	t.Parallel()
	const days = 24 * time.Hour
	r := NewRing(birth)
	for age, want := range map[time.Duration]bool{
		-time.Hour:                false,
		0:                         false,
		30*days - time.Nanosecond: false,
		30 * days:                 true,
		400 * days:                true,
	} {
		next, rotated := r.Rotate(birth.Add(age))
		if rotated != want || (next == r) == want || len(next.keys[KEKs]) != map[bool]int{false: 1, true: 2}[want] {
			t.Errorf("after %v: %t, %d KEKs", age, rotated, len(next.keys[KEKs]))
		}
		if again, rotated := next.Rotate(birth.Add(age)); rotated || again != next {
			t.Errorf("after %v it rotates twice", age)
		}
	}
	if len(r.keys[KEKs]) != 1 {
		t.Error("rotating changed the ring itself")
	}
}

func TestVersionsSayWhichKEKSeals(t *testing.T) {
	t.Parallel()
	r := grown(3)
	periods := r.Versions(KEKs)
	if len(periods) != 3 || !periods[2].To.IsZero() || !periods[0].From.Equal(birth) {
		t.Fatalf("the periods are %v", periods)
	}
	if r.current(birth.Add(-time.Hour)).version != 1 {
		t.Error("what was created before the first period is not sealed by the first KEK")
	}
	for i, p := range periods {
		if p.Version != uint32(i+1) || p.From.Location() != time.UTC {
			t.Errorf("period %d is %v", i, p)
		}
		if i > 0 && periods[i-1].To != p.From {
			t.Errorf("there is a gap before %v", p)
		}
		if got := sealedBy(r, p.From); got != p.Version {
			t.Errorf("at its start %d seals, not %d", got, p.Version)
		}
		if got := sealedBy(r, p.From.Add(-time.Millisecond)); got != max(1, p.Version-1) {
			t.Errorf("before the start of %d, %d seals", p.Version, got)
		}
	}
}

// sealedBy returns the version of the KEK for wraps, links and grants made at t.
func sealedBy(r *Ring, t time.Time) uint32 {
	wrap := r.Wrap(t, testID, testToken, secret.Text{}, NewDEK(), Cost{})
	version := binary.BigEndian.Uint32(wrap[plainHead:])
	for _, sealed := range [][]byte{
		wrap,
		r.SealLink(t, testID, testToken),
		r.SealGrant(t, testID, testGrant, NewDEK().FilesKey()),
	} {
		if got, ok := SealedUnder(KEKs, sealed); !ok || got != version {
			return 0
		}
	}
	return version
}

// The old ring may still be in use when the new one is stored: both must agree on the
// KEK until the period of the new one begins.
func TestOldAndNewRingAgreeForAnHour(t *testing.T) {
	t.Parallel()
	old := NewRing(birth)
	now := birth.Add(rotateAfter)
	next, _ := old.Rotate(now)
	for after, agree := range map[time.Duration]bool{
		0: true, time.Minute: true, time.Hour - time.Millisecond: true, time.Hour: false,
	} {
		if got := sealedBy(old, now.Add(after)) == sealedBy(next, now.Add(after)); got != agree {
			t.Errorf("%v after: they agree: %t", after, got)
		}
	}
}

func TestAfterRotationWhatWasSealedStillOpens(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	wrap := r.Wrap(birth, testID, testToken, secret.Text{}, NewDEK(), Cost{})
	grant := r.SealGrant(birth, testID, testGrant, NewDEK().FilesKey())
	details, entry := r.SealDetails(testID, []byte("d")), r.SealEntry(testID, []byte("e"))
	next, _ := r.Rotate(birth.Add(rotateAfter))
	if _, err := next.OpenWrap(wrap, testID, testToken, secret.Text{}); err != nil {
		t.Error(err)
	}
	if _, err := next.OpenDetails(testID, details); err != nil {
		t.Error(err)
	}
	if _, err := next.OpenEntry(testID, entry); err != nil {
		t.Error(err)
	}
	if _, err := next.OpenGrant(testID, testGrant, grant); err != nil {
		t.Error(err)
	}
}

func TestADroppedKEKOpensNothingAndTheOthersGoOn(t *testing.T) {
	t.Parallel()
	r := grown(3)
	dropped := r.Drop(KEKs, 2)
	if len(r.keys[KEKs]) != 3 || len(dropped.keys[KEKs]) != 2 {
		t.Fatalf("%d and %d KEKs are left", len(r.keys[KEKs]), len(dropped.keys[KEKs]))
	}
	for _, p := range r.Versions(KEKs) {
		wrap := r.Wrap(p.From, testID, testToken, testWords, NewDEK(), Cost{})
		grant := r.SealGrant(p.From, testID, testGrant, NewDEK().FilesKey())
		link := r.SealLink(p.From, testID, testToken)
		want := error(nil)
		if p.Version == 2 {
			want = ErrOpen
		}
		if _, err := dropped.OpenWrap(wrap, testID, testToken, testWords); !errors.Is(err, want) {
			t.Errorf("wrap of %d: %v", p.Version, err)
		}
		if _, err := dropped.OpenLink(testID, link); !errors.Is(err, want) {
			t.Errorf("link of %d: %v", p.Version, err)
		}
		if _, err := dropped.OpenGrant(testID, testGrant, grant); !errors.Is(err, want) {
			t.Errorf("grant of %d: %v", p.Version, err)
		}
	}
	if p := dropped.Versions(KEKs); p[0].To != r.Versions(KEKs)[2].From {
		t.Errorf("the periods have a gap: %v", p)
	}
}

func TestTheNewestAndTheUnknownAreNotDropped(t *testing.T) {
	t.Parallel()
	r := grown(2)
	for _, version := range []uint32{0, 2, 3} {
		if r.Drop(KEKs, version) != r {
			t.Errorf("%d was dropped", version)
		}
	}
	one := r.Drop(KEKs, 1)
	if one.Drop(KEKs, 2) != one || len(one.keys[KEKs]) != 1 {
		t.Error("the last KEK was dropped")
	}
}

func TestAVersionIsNotUsedTwice(t *testing.T) {
	t.Parallel()
	r := grown(2).Drop(KEKs, 1)
	next, rotated := r.Rotate(birth.Add(365 * 24 * time.Hour))
	if !rotated || next.Versions(KEKs)[1].Version != 3 {
		t.Errorf("the periods are %v", next.Versions(KEKs))
	}
}

func TestARetiredKeyOpensAndIsNotKept(t *testing.T) {
	t.Parallel()
	root, r := NewRootKey(), NewRing(birth)
	details, entry := r.SealDetails(testID, []byte("d")), r.SealEntry(testID, []byte("e"))
	renewed, ok := r.Renew(birth.Add(time.Hour))
	if !ok {
		t.Fatal("it was not renewed")
	}
	retired := renewed.Retire(DetailKeys, 1).Retire(AuditKeys, 1)
	if len(retired.Versions(DetailKeys)) != 1 || len(retired.Versions(AuditKeys)) != 1 || len(renewed.Versions(AuditKeys)) != 2 {
		t.Error("they are still listed, or the first ring was changed")
	}
	later, _ := retired.Rotate(birth.Add(100 * 24 * time.Hour))
	for name, ring := range map[string]*Ring{"retired": retired, "with one more key": later} {
		if _, err := ring.OpenDetails(testID, details); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := ring.OpenEntry(testID, entry); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		kept := env.Must(OpenRing(root, ring.Sealed(root)))(t)
		_, err := kept.OpenDetails(testID, details)
		env.ErrorIs(t, name+": after a restart the details open", err, ErrOpen)
		_, err = kept.OpenEntry(testID, entry)
		env.ErrorIs(t, name+": after a restart the entry opens", err, ErrOpen)
	}
	if retired.Retire(DetailKeys, 2) != retired || retired.Retire(DetailKeys, 1) != retired {
		t.Error("the newest was retired, or one twice")
	}
}
