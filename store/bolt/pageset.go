package bolt

import "math/bits"

// A pageSet is a set of page numbers.
type pageSet struct {
	words []uint64
	count int
}

func (s *pageSet) add(page uint64) {
	for page/64 >= uint64(len(s.words)) {
		s.words = append(s.words, 0)
	}
	if w := &s.words[page/64]; *w&(1<<(page%64)) == 0 {
		*w |= 1 << (page % 64)
		s.count++
	}
}

func (s *pageSet) remove(page uint64) {
	if s.has(page) {
		s.words[page/64] &^= 1 << (page % 64)
		s.count--
	}
}

func (s *pageSet) has(page uint64) bool {
	return page/64 < uint64(len(s.words)) && s.words[page/64]&(1<<(page%64)) != 0
}

// next returns the first page in the set that is not before page; false for none.
func (s *pageSet) next(page uint64) (uint64, bool) {
	for i := page / 64; i < uint64(len(s.words)); i++ {
		w := s.words[i]
		if i == page/64 {
			w &= ^uint64(0) << (page % 64)
		}
		if w != 0 {
			return i*64 + uint64(bits.TrailingZeros64(w)), true
		}
	}
	return 0, false
}

// addAll adds the pages of another set, which is empty afterwards.
func (s *pageSet) addAll(other *pageSet) {
	for page, ok := other.next(0); ok; page, ok = other.next(page + 1) {
		s.add(page)
	}
	clear(other.words)
	other.count = 0
}
