package seal

import (
	"math"
	"testing"
)

func TestAFileHasAsManyChunksAsItNeeds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ size, chunks, sealed int64 }{
		{0, 1, 16},
		{1, 1, 17},
		{65535, 1, 65551},
		{65536, 1, 65552},
		{65537, 2, 65569},
		{131072, 2, 131104},
		{131073, 3, 131121},
		{1 << 30, 16384, 1<<30 + 16384*16},
		{math.MaxInt64 / 2, 1 << 46, math.MaxInt64/2 + 1<<50},
	} {
		if got := Chunks(c.size); got != c.chunks {
			t.Errorf("%d bytes: %d chunks instead of %d", c.size, got, c.chunks)
		}
		if got := SealedSize(c.size); got != c.sealed {
			t.Errorf("%d bytes: sealed they are %d instead of %d", c.size, got, c.sealed)
		}
	}
}

func TestTheSealedSizeDoesNotWrapAround(t *testing.T) {
	t.Parallel()
	const most = 9_221_120_786_662_719_471 // bytes, whose sealed size is the greatest number
	for size, want := range map[int64]int64{
		most - 1:          math.MaxInt64 - 1,
		most:              math.MaxInt64,
		most + 1:          math.MaxInt64,
		math.MaxInt64 - 1: math.MaxInt64,
		math.MaxInt64:     math.MaxInt64,
	} {
		if got := SealedSize(size); got != want {
			t.Errorf("%d bytes: sealed they are %d instead of %d", size, got, want)
		}
	}
	if got := Chunks(math.MaxInt64); got != 1<<47 {
		t.Errorf("the greatest file has %d chunks", got)
	}
}

func TestOnlyTheLastChunkIsShortAndOnlyTheFirstEmpty(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n    uint64
		last bool
		size int
		want bool
	}{
		{0, true, -1, false},
		{0, true, 0, true},
		{0, true, 1, true},
		{0, true, ChunkSize, true},
		{0, true, ChunkSize + 1, false},
		{0, false, 0, false},
		{0, false, ChunkSize - 1, false},
		{0, false, ChunkSize, true},
		{0, false, ChunkSize + 1, false},
		{1, true, 0, false},
		{1, true, 1, true},
		{1, true, ChunkSize, true},
		{1, true, ChunkSize + 1, false},
		{1, false, ChunkSize - 1, false},
		{math.MaxUint64, false, ChunkSize, true},
	} {
		if got := fits(c.n, c.last, c.size); got != c.want {
			t.Errorf("chunk %d (last: %t) of %d bytes: %t", c.n, c.last, c.size, got)
		}
	}
}
