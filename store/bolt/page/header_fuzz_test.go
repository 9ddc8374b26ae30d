package page

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"testing"
)

// FuzzFileHeader checks that a header whose checksum, marks and page size are right is
// read as it was written; and that, whatever is spoiled in two header pages, the header
// in use is one of those that were written.
func FuzzFileHeader(f *testing.F) {
	first, second := headerPages(f)
	f.Add(first[headerAt:headerAt+headerLen], uint32(0), []byte{0})
	f.Add(second[headerAt:headerAt+headerLen], uint32(len(first)+headerAt+48), []byte{1})
	f.Add(make([]byte, headerLen), uint32(headerAt), make([]byte, headerLen))
	f.Add([]byte("short"), uint32(len(first)), bytes.Repeat([]byte{0xff}, 80))
	f.Fuzz(func(t *testing.T, fields []byte, at uint32, spoil []byte) {
		page := writtenHeader(fields)
		h, ok := parseHeader(page)
		n := binary.NativeEndian
		size := n.Uint32(page[headerAt+8:])
		if want := size >= minPageSize && size <= maxPageSize; ok != want {
			t.Fatalf("pages of %d bytes: %t", size, ok)
		}
		if m := page[headerAt:]; h.pageSize != int64(size) || h.freelist != n.Uint64(m[32:]) || h.pages != n.Uint64(m[40:]) || h.txid != n.Uint64(m[48:]) {
			t.Fatalf("%+v of %x", h, m)
		}
		two := append(bytes.Clone(first), second...)
		for i, b := range spoil {
			two[(int(at%uint32(len(two)))+i)%len(two)] ^= b
		}
		a, _ := parseHeader(first)
		b, _ := parseHeader(second)
		if got, ok, err := newestHeader(bytes.NewReader(two)); err != nil || ok && got != a && got != b {
			t.Fatalf("%+v of a spoiled file, %v", got, err)
		}
	})
}

// writtenHeader is a header page with these fields, the right marks and the right
// checksum.
func writtenHeader(fields []byte) []byte {
	page := make([]byte, headerAt+headerLen)
	m := page[headerAt:]
	copy(m, fields)
	binary.NativeEndian.PutUint32(m, headerMagic)
	binary.NativeEndian.PutUint32(m[4:], headerVersion)
	sum := fnv.New64a()
	_, _ = sum.Write(m[:headerSumAt])
	binary.NativeEndian.PutUint64(m[headerSumAt:], sum.Sum64())
	return page
}
