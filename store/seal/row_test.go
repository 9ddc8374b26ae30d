package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"testing"

	"pushbox/internal/testkit/env"
)

func TestARowSumIsOfBucketKeyAndValue(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	version := r.RowVersion()
	one, ok := r.RowSum(version, "pushes", []byte("key"), []byte("value"))
	if again, _ := r.RowSum(version, "pushes", []byte("key"), []byte("value")); !ok || one != again {
		t.Fatalf("the sum of the same row is %x and %x, %t", one, again, ok)
	}
	for name, other := range map[string]struct {
		ring               *Ring
		bucket, key, value string
	}{
		"of another ring":             {NewRing(birth), "pushes", "key", "value"},
		"in another bucket":           {r, "pushe", "skey", "value"},
		"under another key":           {r, "pushes", "kez", "value"},
		"of another value":            {r, "pushes", "key", "valuf"},
		"of no value":                 {r, "pushes", "key", ""},
		"with its key in the value":   {r, "pushes", "ke", "yvalue"},
		"with its value in the key":   {r, "pushes", "keyv", "alue"},
		"with its bucket in the rest": {r, "", "pusheskey", "value"},
	} {
		sum, ok := other.ring.RowSum(version, other.bucket, []byte(other.key), []byte(other.value))
		if !ok || sum == one {
			t.Errorf("a row %s has the sum %x, %t", name, sum, ok)
		}
	}
}

func TestARowSumIsThatOfTheStandardLibrary(t *testing.T) {
	t.Parallel()
	k := newKey()
	row := rowStates(k).New().(*rowState)
	for size := range 300 {
		key, value := make([]byte, size%40), make([]byte, size)
		mac := hmac.New(sha256.New, k.bytes())
		mac.Write([]byte("audit\x00"))
		mac.Write(binary.BigEndian.AppendUint32(nil, uint32(len(key))))
		mac.Write(key)
		mac.Write(value)
		if sum := row.of("audit", key, value); string(sum[:]) != string(mac.Sum(nil)) {
			t.Fatalf("a row of %d bytes has another sum", size)
		}
	}
}

func TestARowKeyThatIsNotInTheRingSumsNothing(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	for _, version := range []uint16{0, r.RowVersion() + 1} {
		if sum, ok := r.RowSum(version, "pushes", nil, nil); ok || sum != [32]byte{} {
			t.Errorf("version %d: %x, %t", version, sum, ok)
		}
	}
}

func TestRowSumsAreComputedSideBySide(t *testing.T) {
	t.Parallel()
	r := NewRing(birth)
	var want [8][32]byte
	for i := range want {
		want[i], _ = r.RowSum(r.RowVersion(), "pushes", []byte{byte(i)}, nil)
	}
	var g sync.WaitGroup
	for i := range want {
		g.Go(func() {
			for range 1000 {
				if sum, _ := r.RowSum(r.RowVersion(), "pushes", []byte{byte(i)}, nil); sum != want[i] {
					t.Errorf("row %d has another sum", i)
					return
				}
			}
		})
	}
	g.Wait()
}

// Not in parallel: it counts what the process allocates.
func TestARowSumAllocatesNothing(t *testing.T) {
	if env.UnderRace {
		t.Skip("the race detector has sync.Pool forget states")
	}
	r, key, value := NewRing(birth), make([]byte, 22), make([]byte, 4000)
	if n := testing.AllocsPerRun(1000, func() { r.RowSum(1, "pushes", key, value) }); n != 0 {
		t.Errorf("it allocates %v times", n)
	}
}

func BenchmarkRowSum(b *testing.B) {
	r, key, value := NewRing(birth), make([]byte, 22), make([]byte, 200)
	b.ReportAllocs()
	for b.Loop() {
		r.RowSum(r.RowVersion(), "pushes", key, value)
	}
}
