package residue

import (
	"encoding/binary"
	"os"
)

// The layout of bbolt's pages, in the machine's byte order: a head, an element for each
// row, then keys and values. See internal/common/page.go of bbolt.
const (
	pageHead   = 16
	elementLen = 16
	leafFlag   = 2
	bucketFlag = 1 // of a row that is a bucket
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
