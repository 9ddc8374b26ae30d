package seal

import (
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"pushbox/internal/secret"
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
		if rotated != want || (next == r) == want || len(next.keks) != map[bool]int{false: 1, true: 2}[want] {
			t.Errorf("after %v: %t, %d KEKs", age, rotated, len(next.keks))
		}
		if again, rotated := next.Rotate(birth.Add(age)); rotated || again != next {
			t.Errorf("after %v it rotates twice", age)
		}
	}
	if len(r.keks) != 1 {
		t.Error("rotating changed the ring itself")
	}
}

func TestVersionsTellWhichKEKSeals(t *testing.T) {
	t.Parallel()
	r := grown(3)
	periods := r.Versions()
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

// sealedBy returns which KEK's version wraps, details and grants made at t carry.
func sealedBy(r *Ring, t time.Time) uint32 {
	wrap := r.Wrap(t, testID, testToken, secret.Text{}, NewDEK())
	version := binary.BigEndian.Uint32(wrap[plainHead:])
	for _, sealed := range [][]byte{
		wrap,
		r.SealDetails(t, testID, nil),
		r.SealGrant(t, testID, testGrant, NewDEK().FilesKey()),
	} {
		if got, ok := KEKVersion(sealed); !ok || got != version {
			return 0
		}
	}
	return version
}

// The old ring may still be in use when the new one is kept already: both must
// agree on what is created until the new KEK's period begins.
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
	wrap := r.Wrap(birth, testID, testToken, secret.Text{}, NewDEK())
	grant := r.SealGrant(birth, testID, testGrant, NewDEK().FilesKey())
	details, entry := r.SealDetails(birth, testID, []byte("d")), r.SealEntry(testID, []byte("e"))
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
	dropped := r.Drop(2)
	if len(r.keks) != 3 || len(dropped.keks) != 2 {
		t.Fatalf("%d and %d KEKs are left", len(r.keks), len(dropped.keks))
	}
	for _, p := range r.Versions() {
		wrap := r.Wrap(p.From, testID, testToken, testWords, NewDEK())
		grant := r.SealGrant(p.From, testID, testGrant, NewDEK().FilesKey())
		details := r.SealDetails(p.From, testID, []byte("d"))
		want := error(nil)
		if p.Version == 2 {
			want = ErrOpen
		}
		if _, err := dropped.OpenWrap(wrap, testID, testToken, testWords); !errors.Is(err, want) {
			t.Errorf("wrap of %d: %v", p.Version, err)
		}
		if _, err := dropped.OpenDetails(testID, details); !errors.Is(err, want) {
			t.Errorf("details of %d: %v", p.Version, err)
		}
		if _, err := dropped.OpenGrant(testID, testGrant, grant); !errors.Is(err, want) {
			t.Errorf("grant of %d: %v", p.Version, err)
		}
	}
	if p := dropped.Versions(); p[0].To != r.Versions()[2].From {
		t.Errorf("the periods have a gap: %v", p)
	}
}

func TestTheNewestAndTheUnknownAreNotDropped(t *testing.T) {
	t.Parallel()
	r := grown(2)
	for _, version := range []uint32{0, 2, 3} {
		if r.Drop(version) != r {
			t.Errorf("%d was dropped", version)
		}
	}
	one := r.Drop(1)
	if one.Drop(2) != one || len(one.keks) != 1 {
		t.Error("the last KEK was dropped")
	}
}

func TestAVersionIsNotGivenTwice(t *testing.T) {
	t.Parallel()
	r := grown(2).Drop(1)
	next, rotated := r.Rotate(birth.Add(365 * 24 * time.Hour))
	if !rotated || next.Versions()[1].Version != 3 {
		t.Errorf("the periods are %v", next.Versions())
	}
}
