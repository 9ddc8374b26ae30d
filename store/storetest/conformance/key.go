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
	ring, err := e.KeyRing(t.Context())
	Must(t, err)
	if ring != nil {
		t.Errorf("a new store has the key ring %q", ring)
	}
	for _, want := range []string{"sealed", "sealed again, and longer"} {
		given := []byte(want)
		Must(t, e.SetKeyRing(t.Context(), given, Keys{}, Told))
		scribble(given)
		for range 2 {
			ring, err = e.KeyRing(t.Context())
			Must(t, err)
			Same(t, "key ring", string(ring), want)
			scribble(ring)
		}
	}
}

func keepsTheLatestTime(t *testing.T, e record.Engine) {
	got, err := e.LatestTime(t.Context())
	Must(t, err)
	Same(t, "time of a new store", got, time.Time{})
	for _, c := range []struct{ set, want time.Duration }{
		{0, 0}, {time.Millisecond, time.Millisecond}, {-time.Hour, time.Millisecond}, {time.Hour, time.Hour},
	} {
		Must(t, e.SetLatestTime(t.Context(), epoch.Add(c.set)))
		got, err = e.LatestTime(t.Context())
		Must(t, err)
		Same(t, "latest time", got, epoch.Add(c.want))
	}
}

// Keys are the keys of rows in tests. They are the same in every process.
type Keys struct{}

// RowVersion returns 1.
func (Keys) RowVersion() uint16 { return 1 }

// RowSum returns the sum of a row, under the only key that there is.
func (Keys) RowSum(version uint16, bucket string, key, value []byte) (sum [32]byte, ok bool) {
	if version != 1 {
		return sum, false
	}
	m := hmac.New(sha256.New, []byte("the keys of tests"))
	m.Write(append([]byte(bucket), 0))
	m.Write(binary.BigEndian.AppendUint32(nil, uint32(len(key))))
	m.Write(key)
	m.Write(value)
	m.Sum(sum[:0])
	return sum, true
}
