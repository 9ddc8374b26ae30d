package seal

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

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
		kept, err := OpenRing(root, ring.Sealed(root))
		env.OK(t, err)
		if _, err := kept.OpenDetails(testID, details); !errors.Is(err, ErrOpen) {
			t.Errorf("%s: after a restart the details open: %v", name, err)
		}
		if _, err := kept.OpenEntry(testID, entry); !errors.Is(err, ErrOpen) {
			t.Errorf("%s: after a restart the entry opens: %v", name, err)
		}
	}
	if retired.Retire(DetailKeys, 2) != retired || retired.Retire(DetailKeys, 1) != retired {
		t.Error("the newest was retired, or one twice")
	}
}
