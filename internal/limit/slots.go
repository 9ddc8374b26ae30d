package limit

import "sync"

// Slots limit how many operations run at the same time, in total and per Holder. They are
// safe for concurrent use.
type Slots struct {
	mu     sync.Mutex
	shares shares
}

// NewSlots returns total slots. One client may take an eighth of them, but at least one.
func NewSlots(total int) *Slots {
	return &Slots{shares: newShares(int64(total), int64(total/part))}
}

// Resize changes how many slots there are, and how many a client may take. Slots that are
// taken stay taken.
func (s *Slots) Resize(total, perClient int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shares.total, s.shares.client = int64(total), int64(perClient)
}

// Take takes a slot and reports whether one was free. It must be freed by the same Holder.
func (s *Slots) Take(by Holder) bool {
	all := by.steps()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.shares.fit(all, 0, 1) {
		return false
	}
	s.shares.add(all, 1)
	return true
}

// Free gives back a slot that was taken.
func (s *Slots) Free(by Holder) {
	all := by.steps()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shares.add(all, -1)
}

// Taken returns how many slots are taken.
func (s *Slots) Taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(s.shares.held)
}
