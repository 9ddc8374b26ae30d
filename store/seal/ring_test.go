package seal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"

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
	ring, err := OpenRing(before, ring.Sealed(before))
	env.OK(t, err)
	ring, err = OpenRing(after, ring.Sealed(after))
	env.OK(t, err)
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
