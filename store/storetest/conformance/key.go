package conformance

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"testing"
	"time"

	"pushbox/store/record"
)

var keySuite = suite{
	"the key ring is kept":       keepsTheKeyRing,
	"the latest time only grows": keepsTheLatestTime,
}

func keepsTheKeyRing(t *testing.T, e record.Engine) {
	ring := got(e.KeyRing(t.Context())).of(t)
	if ring != nil {
		t.Errorf("a new store has the key ring %q", ring)
	}
	for _, want := range []string{"sealed", "sealed again, and longer"} {
		given := []byte(want)
		Must(t, e.SetKeyRing(t.Context(), given, Keys{}, Told))
		scribble(given)
		for range 2 {
			ring = got(e.KeyRing(t.Context())).of(t)
			Same(t, "key ring", string(ring), want)
			scribble(ring)
		}
	}
}

func keepsTheLatestTime(t *testing.T, e record.Engine) {
	Same(t, "time of a new store", got(e.KeepTime(t.Context(), time.Time{})).of(t), time.Time{})
	for _, c := range []struct{ set, want time.Duration }{
		{0, 0}, {time.Millisecond, time.Millisecond}, {-time.Hour, time.Millisecond}, {time.Hour, time.Hour},
	} {
		for _, set := range []time.Time{epoch.Add(c.set), {}} {
			Same(t, "latest time", got(e.KeepTime(t.Context(), set)).of(t), epoch.Add(c.want))
		}
	}
}

// Keys are the keys of rows in tests. They are the same in every process.
type Keys struct{}

// RowVersion returns 1.
func (Keys) RowVersion() uint16 { return 1 }

// RowSum returns the sum of a row, under the only key that there is.
func (Keys) RowSum(version uint16, bucket string, key, value []byte) (sum [32]byte, ok bool) {
	return Version(1).RowSum(version, bucket, key, value)
}

// A Version is the keys of rows, of versions from 1 to its number.
type Version uint16

// RowVersion returns the number.
func (v Version) RowVersion() uint16 { return uint16(v) }

// RowSum returns the sum of a row. Versions differ by their number alone.
func (v Version) RowSum(version uint16, bucket string, key, value []byte) (sum [32]byte, ok bool) {
	if version == 0 || version > uint16(v) {
		return sum, false
	}
	m := hmac.New(sha256.New, []byte("the keys of tests"))
	m.Write(append([]byte(bucket), 0))
	m.Write(binary.BigEndian.AppendUint32(nil, uint32(len(key))))
	m.Write(key)
	m.Write(value)
	m.Sum(sum[:0])
	sum[0] ^= byte(version) - 1
	return sum, true
}
