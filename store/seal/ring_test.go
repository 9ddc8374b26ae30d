package seal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"
)

func TestAnotherRootKeyDoesNotOpenTheRing(t *testing.T) {
	t.Parallel()
	sealed := NewRing(birth).Sealed(NewRootKey())
	r, err := OpenRing(NewRootKey(), sealed)
	if !errors.Is(err, ErrKey) || errors.Is(err, ErrOpen) || r != nil {
		t.Errorf("the error is %v", err)
	}
}

func TestWhatIsNoSealedRingIsNotBlamedOnTheKey(t *testing.T) {
	t.Parallel()
	root := NewRootKey()
	sealed := NewRing(birth).Sealed(root)
	later := bytes.Clone(sealed)
	later[0]++
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
	wrap := ring.Wrap(birth, testID, testToken, testWords, NewDEK())
	ring, err := OpenRing(before, ring.Sealed(before))
	if err != nil {
		t.Fatal(err)
	}
	ring, err = OpenRing(after, ring.Sealed(after))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.OpenWrap(wrap, testID, testToken, testWords); err != nil {
		t.Errorf("a wrap of before does not open: %v", err)
	}
}

func TestARingThatWasSealedBadlyIsRefused(t *testing.T) {
	t.Parallel()
	root := NewRootKey()
	head := []byte{version1, xchacha20}
	ring := grown(3)
	good := ring.encode()
	swapped := slices.Concat(good[:ringFixed], good[ringFixed+kekRecord:], good[ringFixed:ringFixed+kekRecord])
	twice := slices.Concat(good, good[len(good)-kekRecord:])
	backwards := bytes.Clone(good)
	binary.BigEndian.PutUint64(backwards[ringFixed+kekRecord+4:], uint64(birth.UnixMilli()))
	for name, plain := range map[string][]byte{
		"nothing":                   nil,
		"no KEK":                    good[:ringFixed],
		"half a KEK":                good[:len(good)-1],
		"a byte too many":           append(bytes.Clone(good), 0),
		"KEKs swapped":              swapped,
		"a KEK twice":               twice,
		"two periods from one time": backwards,
	} {
		r, err := OpenRing(root, encrypt(root.aead(infoRing), head, head, plain))
		if !errors.Is(err, ErrOpen) || r != nil {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	if r, err := OpenRing(root, encrypt(root.aead(infoRing), head, head, good)); err != nil || !bytes.Equal(r.encode(), good) {
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
	for now := birth; len(r.keks) < n; now = now.Add(24 * time.Hour) {
		r, _ = r.Rotate(now)
	}
	return r
}
