package residue

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A kind is a kind of thing that must not be left.
type kind string

const (
	wrap    kind = "wrap"
	payload kind = "payload"
	chunk   kind = "chunk"
	link    kind = "link"
	details kind = "name and note"
	ring    kind = "key ring"
)

// Found is how many pushes have something left, by kind. For a key ring, how many rings.
type found map[kind]int

func (f found) String() string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(f)) {
		all = append(all, fmt.Sprintf("%d × %s", f[k], k))
	}
	return strings.Join(all, ", ")
}

// A secretPush is a push with all that opens it, as it was while it lived.
type secretPush struct {
	store.PushInfo
	passphrase secret.Text
	dek        seal.DEK
	anonymous  bool
	purged     bool // its end leaves no record
}

const (
	headLen    = 28 // the longest head of an envelope, which others have, too
	windowLen  = 8
	windowStep = 16
	longStep   = 512 // in a value of more than a page, of which no less is ever left
)

// Pieces are windows of bytes of what was sealed.
type pieces struct {
	of    map[uint64]piece
	might [1 << 18]uint64 // a bit for each hash of a window
}

type piece struct {
	kind kind
	of   record.ID // the push; a number of the ring
}

func hash(window uint64) uint64 { return window * 0x9E3779B97F4A7C15 >> 40 }

// add adds the windows of a sealed value.
func (p *pieces) add(k kind, of record.ID, sealed []byte) {
	step := windowStep
	if len(sealed) > 4096 {
		step = longStep
	}
	for at := headLen; at+windowLen <= len(sealed); at += step {
		w := binary.NativeEndian.Uint64(sealed[at:])
		h := hash(w)
		p.might[h/64] |= 1 << (h % 64)
		p.of[w] = piece{k, of}
	}
}

// find returns what an image has of the pieces.
func (p *pieces) find(image []byte) map[piece]bool {
	there := make(map[piece]bool)
	for at := range len(image) - windowLen + 1 {
		w := binary.NativeEndian.Uint64(image[at:])
		if h := hash(w); p.might[h/64]&(1<<(h%64)) == 0 {
			continue
		}
		if one, ok := p.of[w]; ok {
			there[one] = true
		}
	}
	return there
}

// opened adds to there what opens, by the keys in ring and those of the pushes.
func opened(image []byte, keys *seal.Ring, pushes map[record.ID]*secretPush, there map[piece]bool) {
	eachRow(image, func(key, value []byte) {
		if len(key) < len(record.ID{}) {
			return
		}
		p := pushes[record.ID(key[:len(record.ID{})])]
		if p == nil {
			return
		}
		for _, k := range p.opens(keys, key[len(record.ID{}):], value) {
			there[piece{k, p.ID}] = true
		}
	})
}

// rowTag is how long the tag behind a record is.
const rowTag = 18

// opens returns which of its secrets a row of the push reveals.
func (p *secretPush) opens(keys *seal.Ring, place, value []byte) (all []kind) {
	switch len(place) {
	case 0:
		q := record.Push{ID: p.ID}
		if q.UnmarshalBinary(value) != nil && (len(value) < rowTag || q.UnmarshalBinary(value[:len(value)-rowTag]) != nil) {
			return nil
		}
		if _, err := keys.OpenWrap(q.Wrap, q.ID[:], p.Token.Text, p.passphrase); err == nil {
			all = append(all, wrap)
		}
		if p.opensLink(keys, q) {
			all = append(all, link)
		}
	case 4:
		if _, err := p.dek.OpenPayload(p.ID[:], byte(p.Kind), value); err == nil {
			all = append(all, payload)
		}
	case 6:
		file := p.dek.FilesKey().File(append(p.ID[:], place[:2]...))
		number := uint64(binary.BigEndian.Uint32(place[2:]))
		for _, last := range []bool{false, true} {
			if _, err := file.Open(nil, number, last, value); err == nil {
				all = append(all, chunk)
			}
		}
	}
	return all
}

// opensLink reports whether a record reveals the link of its push.
func (p *secretPush) opensLink(keys *seal.Ring, q record.Push) bool {
	token, err := keys.OpenLink(q.ID[:], q.Link)
	return err == nil && token.Reveal() == p.Token.Reveal()
}

// The layout of bbolt's pages, in the machine's byte order: a head, an element for each
// row, then keys and values. See internal/common/page.go of bbolt.
const (
	pageHead   = 16
	elementLen = 16
	leafFlag   = 2
	bucketFlag = 1 // flag of a row that is a bucket
	bucketHead = 16
)

// eachRow calls fn with each row of each page that looks like a leaf, whether or not
// anything leads to it, and of each bucket that lies in a row.
func eachRow(image []byte, fn func(key, value []byte)) {
	size := os.Getpagesize()
	for at := 0; at+pageHead <= len(image); at += size {
		more := int(binary.NativeEndian.Uint32(image[at+12:]))
		eachRowOf(image[at:min(len(image), at+(1+min(more, len(image)/size))*size)], fn)
	}
}

func eachRowOf(page []byte, fn func(key, value []byte)) {
	n := binary.NativeEndian
	if len(page) < pageHead || n.Uint16(page[8:])&leafFlag == 0 {
		return
	}
	for i := range int(n.Uint16(page[10:])) {
		at := pageHead + i*elementLen
		if at+elementLen > len(page) {
			return
		}
		e := page[at:]
		key := at + int(n.Uint32(e[4:]))
		value := key + int(n.Uint32(e[8:]))
		end := value + int(n.Uint32(e[12:]))
		if key < at || value < key || end < value || end > len(page) {
			continue
		}
		if n.Uint32(e)&bucketFlag == 0 {
			fn(page[key:value], page[value:end])
		} else if end-value > bucketHead {
			eachRowOf(page[value+bucketHead:end], fn)
		}
	}
}
