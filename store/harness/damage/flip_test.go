// A damage is one change of the file. The same seed and number give the same damage.
package damage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
)

const (
	pageSize     = 4096
	damageSector = 512
)

// A part is a range of bytes by which bbolt keeps its pages in order.
type part struct{ from, to int }

// partsOf returns the heads of the pages with the lists of their rows, where one bit
// changes most. Pages that continue a long row have none.
func partsOf(image []byte) (parts []part) {
	const head, element, mostElements = 16, 16, 200
	for at := 0; at+pageSize <= len(image); at += pageSize {
		page := image[at : at+pageSize]
		if binary.NativeEndian.Uint64(page) != uint64(at/pageSize) {
			continue
		}
		count := min(int(binary.NativeEndian.Uint16(page[10:])), mostElements)
		parts = append(parts, part{at, at + head + element*max(count, 4)})
	}
	return parts
}

// A damage is what happens to the file. It is the same for the same seed and
// number.
type damage struct {
	text    string
	patches []patch
	size    int // of the file after; -1: it stays
}

type patch struct {
	at    int
	bytes []byte
}

func (d damage) String() string { return d.text }

// newDamage chooses a damage.
func newDamage(rng *rand.Rand, image []byte, parts []part) damage {
	switch n := rng.IntN(100); {
	case n < 45:
		p := parts[rng.IntN(len(parts))]
		return flipBit(image, p.from+rng.IntN(p.to-p.from), rng.IntN(8))
	case n < 65:
		return flipBit(image, rng.IntN(len(image)), rng.IntN(8))
	case n < 75:
		return flipBits(rng, image)
	case n < 82:
		p := parts[rng.IntN(len(parts))]
		return replaceByte(image, p.from+rng.IntN(p.to-p.from), byte(rng.Uint32()))
	case n < 90:
		return fillSector(rng.IntN(len(image)/damageSector), []byte{0, 0xff}[rng.IntN(2)])
	case n < 96:
		return swapPages(image, rng.IntN(len(image)/pageSize), rng.IntN(len(image)/pageSize))
	default:
		return truncation(rng.IntN(len(image)))
	}
}

func flipBit(image []byte, at, bit int) damage {
	return damage{fmt.Sprintf("bit %d of byte %d (page %d, at %d)", bit, at, at/pageSize, at%pageSize), []patch{{at, []byte{image[at] ^ 1<<bit}}}, -1}
}

// flipBits flips up to eight bits of a page.
func flipBits(rng *rand.Rand, image []byte) damage {
	page := rng.IntN(len(image) / pageSize)
	d := damage{fmt.Sprintf("bits of page %d:", page), nil, -1}
	for range 2 + rng.IntN(7) {
		at, bit := page*pageSize+rng.IntN(pageSize), rng.IntN(8)
		d.text += fmt.Sprintf(" %d.%d", at%pageSize, bit)
		d.patches = append(d.patches, patch{at, []byte{image[at] ^ 1<<bit}})
	}
	return d
}

func replaceByte(image []byte, at int, b byte) damage {
	if b == image[at] {
		b = ^b
	}
	return damage{fmt.Sprintf("byte %d (page %d, at %d) is %#02x in place of %#02x", at, at/pageSize, at%pageSize, b, image[at]), []patch{{at, []byte{b}}}, -1}
}

func fillSector(n int, with byte) damage {
	return damage{fmt.Sprintf("sector %d (page %d) filled with %#02x", n, n*damageSector/pageSize, with), []patch{{n * damageSector, slices.Repeat([]byte{with}, damageSector)}}, -1}
}

// swapPages puts two pages in each other's place.
func swapPages(image []byte, a, b int) damage {
	pageOf := func(n int) []byte { return image[n*pageSize : (n+1)*pageSize] }
	return damage{fmt.Sprintf("pages %d and %d swapped", a, b), []patch{{a * pageSize, pageOf(b)}, {b * pageSize, pageOf(a)}}, -1}
}

func truncation(size int) damage {
	return damage{fmt.Sprintf("cut to %d bytes", size), nil, size}
}

// inflict restores the file, and then damages it.
func (w *world) inflict(d damage) error {
	f, err := os.OpenFile(w.path(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(int64(len(w.image))); err != nil {
		return err
	}
	if err := w.restore(f); err != nil {
		return err
	}
	for _, p := range d.patches {
		if _, err := f.WriteAt(p.bytes, int64(p.at)); err != nil {
			return err
		}
	}
	if d.size < 0 {
		return nil
	}
	return f.Truncate(int64(d.size))
}

// restore writes the pages that differ from the original.
func (w *world) restore(f *os.File) error {
	if len(w.buffer) != len(w.image) {
		w.buffer = make([]byte, len(w.image))
	}
	if _, err := f.ReadAt(w.buffer, 0); err != nil {
		return err
	}
	for at := 0; at < len(w.image); at += pageSize {
		page := w.image[at : at+pageSize]
		if bytes.Equal(w.buffer[at:at+pageSize], page) {
			continue
		}
		if _, err := f.WriteAt(page, int64(at)); err != nil {
			return err
		}
	}
	return nil
}
