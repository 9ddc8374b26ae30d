package seal

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
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

var sizes = []int{0, 1, ChunkSize - 1, ChunkSize, ChunkSize + 1, 2 * ChunkSize, 3*ChunkSize + 12345}

// pattern returns bytes; no two chunks of them are the same.
func pattern(size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

// sealFile returns the sealed chunks of a file.
func sealFile(c *FileCipher, plain []byte) (sealed [][]byte) {
	n := uint64(Chunks(int64(len(plain))))
	for i := range n {
		end := min((i+1)*ChunkSize, uint64(len(plain)))
		sealed = append(sealed, c.Seal(nil, i, i == n-1, plain[i*ChunkSize:end]))
	}
	return sealed
}

// openFile opens chunks without knowing how many there should be.
func openFile(c *FileCipher, sealed [][]byte) (plain []byte, err error) {
	for i, chunk := range sealed {
		if plain, err = c.Open(plain, uint64(i), i == len(sealed)-1, chunk); err != nil {
			return nil, err
		}
	}
	return plain, nil
}

func newFile() *FileCipher { return NewDEK().FilesKey().File(testBlob) }

func TestAFileComesBackAsItWas(t *testing.T) {
	t.Parallel()
	c := newFile()
	for _, size := range sizes {
		plain := pattern(size)
		sealed := sealFile(c, plain)
		if got := len(slices.Concat(sealed...)); int64(got) != SealedSize(int64(size)) {
			t.Errorf("%d bytes are sealed in %d", size, got)
		}
		back, err := openFile(c, sealed)
		if err != nil || !bytes.Equal(back, plain) {
			t.Errorf("%d bytes come back as %d other bytes: %v", size, len(back), err)
		}
	}
}

func TestAnyChunkOpensByItself(t *testing.T) {
	t.Parallel()
	c, plain := newFile(), pattern(3*ChunkSize+1)
	sealed := sealFile(c, plain)
	for _, i := range []int{3, 1, 0, 2, 1} {
		got, err := c.Open([]byte("before "), uint64(i), i == 3, sealed[i])
		want := "before " + string(plain[i*ChunkSize:min((i+1)*ChunkSize, len(plain))])
		if err != nil || string(got) != want {
			t.Errorf("chunk %d opens otherwise: %v", i, err)
		}
	}
}

func TestAFileThatWasTamperedWithIsRefused(t *testing.T) {
	t.Parallel()
	key := NewDEK().FilesKey()
	otherBlob := append(testBlob[:15:15], 'g')
	plain := pattern(3*ChunkSize + 100)
	a, b, elsewhere := key.File(testBlob), key.File(otherBlob), newFile()
	s, neighbour, stranger := sealFile(a, plain), sealFile(b, plain), sealFile(elsewhere, plain)
	even := sealFile(a, plain[:2*ChunkSize])
	alone := sealFile(a, plain[:ChunkSize])
	for name, chunks := range map[string][][]byte{
		"the last chunk missing":           s[:3],
		"all but the first missing":        s[:1],
		"the first missing":                s[1:],
		"one from the middle missing":      {s[0], s[2], s[3]},
		"the last cut short":               {s[0], s[1], s[2], s[3][:50]},
		"the last cut to a tag":            {s[0], s[1], s[2], s[3][:16]},
		"the last cut to less than a tag":  {s[0], s[1], s[2], s[3][:15]},
		"the last cut to nothing":          {s[0], s[1], s[2], {}},
		"a chunk in the middle cut":        {s[0], s[1][:ChunkSize], s[2], s[3]},
		"a byte more":                      {s[0], s[1], s[2], append(bytes.Clone(s[3]), 0)},
		"a byte more in the middle":        {s[0], append(bytes.Clone(s[1]), 0), s[2], s[3]},
		"two swapped":                      {s[1], s[0], s[2], s[3]},
		"one twice":                        {s[0], s[1], s[1], s[3]},
		"one inserted":                     {s[0], s[1], s[2], s[2], s[3]},
		"the last twice":                   {s[0], s[1], s[2], s[3], s[3]},
		"extended by another file":         append(slices.Clone(s), neighbour...),
		"one of another file":              {s[0], neighbour[1], s[2], s[3]},
		"one of another push":              {s[0], stranger[1], s[2], s[3]},
		"the last of another file":         {s[0], s[1], s[2], neighbour[3]},
		"the last of another push":         {s[0], s[1], s[2], stranger[3]},
		"another file":                     neighbour,
		"another push":                     stranger,
		"whole chunks, the last missing":   even[:1],
		"whole chunks, an empty one more":  {even[0], even[1], a.aead.Seal(nil, nonceOf(2, true), nil, nil)},
		"an empty chunk behind one":        {s[0], a.aead.Seal(nil, nonceOf(1, true), nil, nil)},
		"a short chunk that is not last":   {a.aead.Seal(nil, nonceOf(0, false), plain[:9], nil), s[1], s[2], s[3]},
		"the only chunk as one of several": {alone[0], s[1], s[2], s[3]},
	} {
		got, err := openFile(a, chunks)
		wantRefusal(t, name, got, err)
	}
	for name, c := range map[string]*FileCipher{"its own": a, "its neighbour's": b, "a stranger's": elsewhere} {
		if _, err := openFile(c, s); (err == nil) != (c == a) {
			t.Errorf("under %s key the error is %v", name, err)
		}
	}
}

func nonceOf(n uint64, last bool) []byte {
	nonce := chunkNonce(n, last)
	return nonce[:]
}

func TestAChunkOpensOnlyWithItsNumberAndFlag(t *testing.T) {
	t.Parallel()
	c, full := newFile(), pattern(ChunkSize)
	for _, made := range []struct {
		n    uint64
		last bool
	}{{0, false}, {0, true}, {1, false}, {256, true}, {1 << 32, false}, {1<<64 - 1, true}} {
		sealed := c.Seal(nil, made.n, made.last, full)
		for _, n := range []uint64{0, 1, 2, 255, 256, 1 << 32, 1 << 56, 1<<64 - 1} {
			for _, last := range []bool{false, true} {
				_, err := c.Open(nil, n, last, sealed)
				same := n == made.n && last == made.last
				if same != (err == nil) || !same && !errors.Is(err, ErrOpen) {
					t.Errorf("%v opened as %d, %t: %v", made, n, last, err)
				}
			}
		}
	}
}

func TestNoChunkOpensWithAFlippedBitOrCutShort(t *testing.T) {
	t.Parallel()
	c := newFile()
	for _, size := range []int{0, 1, 100} {
		sealed := c.Seal(nil, 0, true, pattern(size))
		for i := range len(sealed) * 8 {
			sealed[i/8] ^= 1 << (i % 8)
			plain, err := c.Open(nil, 0, true, sealed)
			wantRefusal(t, fmt.Sprintf("bit %d of %d bytes", i, size), plain, err)
			sealed[i/8] ^= 1 << (i % 8)
		}
		for n := range sealed {
			plain, err := c.Open(nil, 0, true, slices.Clip(sealed[:n]))
			wantRefusal(t, fmt.Sprintf("%d bytes of %d", n, len(sealed)), plain, err)
		}
	}
	whole := c.Seal(nil, 0, false, pattern(ChunkSize))
	for i := 0; i < len(whole); i += 509 {
		whole[i] ^= 0x10
		plain, err := c.Open(nil, 0, false, whole)
		wantRefusal(t, fmt.Sprintf("byte %d of a whole chunk", i), plain, err)
		whole[i] ^= 0x10
	}
}

func TestOnlyAChunkIsSealed(t *testing.T) {
	t.Parallel()
	c, b := newFile(), make([]byte, ChunkSize+1)
	for name, seal := range map[string]func(){
		"too many bytes":            func() { c.Seal(nil, 0, true, b) },
		"too many before the last":  func() { c.Seal(nil, 0, false, b) },
		"too few before the last":   func() { c.Seal(nil, 0, false, b[:ChunkSize-1]) },
		"none at the end of a file": func() { c.Seal(nil, 1, true, nil) },
		"none before the last":      func() { c.Seal(nil, 0, false, nil) },
	} {
		func() {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, "cannot have") {
					t.Errorf("%s: the panic is %s", name, p)
				}
			}()
			seal()
		}()
	}
}

func TestChunksAreSealedAndOpenedInPlace(t *testing.T) {
	t.Parallel()
	c, plain := newFile(), pattern(ChunkSize)
	buf := make([]byte, ChunkSize, ChunkSize+ChunkOverhead)
	copy(buf, plain)
	sealed := c.Seal(buf[:0], 3, false, buf)
	if &sealed[0] != &buf[0] || !bytes.Equal(sealed, c.Seal(nil, 3, false, plain)) {
		t.Error("it is sealed elsewhere, or otherwise")
	}
	opened, err := c.Open(sealed[:0], 3, false, sealed)
	if err != nil || &opened[0] != &buf[0] || !bytes.Equal(opened, plain) {
		t.Errorf("it is opened elsewhere, or otherwise: %v", err)
	}
}

func TestAChunkThatDoesNotOpenLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	c, plain := newFile(), pattern(ChunkSize)
	sealed := c.Seal(nil, 0, true, plain)
	dst := append(make([]byte, 0, 4+ChunkSize), "kept"...)
	out, err := c.Open(dst, 0, false, sealed)
	wantRefusal(t, "another flag", out, err)
	if string(dst) != "kept" || bytes.Contains(dst[:cap(dst)], plain[:8]) {
		t.Error("after an error dst is longer or changed")
	}
}

// Not parallel: allocations of other tests would count.
func TestAChunkCostsOneSmallAllocation(t *testing.T) {
	c, plain := newFile(), pattern(ChunkSize)
	sealed := c.Seal(nil, 0, true, plain)
	dst := make([]byte, 0, ChunkSize+ChunkOverhead)
	if n := testing.AllocsPerRun(100, func() { c.Seal(dst, 0, true, plain) }); n > 1 {
		t.Errorf("sealing makes %v", n)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = c.Open(dst, 0, true, sealed) }); n > 1 {
		t.Errorf("opening makes %v", n)
	}
}

func TestOneCipherServesManyAtOnce(t *testing.T) {
	t.Parallel()
	c, plain := newFile(), pattern(8*ChunkSize)
	want := sealFile(c, plain)
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			back, err := openFile(c, sealFile(c, plain))
			if err != nil || !bytes.Equal(back, plain) {
				t.Errorf("it comes back otherwise: %v", err)
			}
		})
	}
	done.Wait()
	if !bytes.Equal(slices.Concat(want...), slices.Concat(sealFile(c, plain)...)) {
		t.Error("it is sealed otherwise afterwards")
	}
}

func TestEachFileHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	dek := NewDEK()
	if once, again := dek.FilesKey(), dek.FilesKey(); *once.s != *again.s {
		t.Error("the files key changes")
	}
	seen := map[string]bool{*dek.s: true}
	for name, k := range map[string]FilesKey{"one push": dek.FilesKey(), "another": NewDEK().FilesKey()} {
		if seen[*k.s] {
			t.Errorf("%s: the files key came twice, or is the DEK", name)
		}
		seen[*k.s] = true
		for _, blob := range []string{"0123456789abcdef", "0123456789abcdeg"} {
			sealed := string(k.File([]byte(blob)).Seal(nil, 0, true, make([]byte, 32)))
			if seen[sealed] {
				t.Errorf("%s: two files are sealed the same", name)
			}
			seen[sealed] = true
		}
	}
}
