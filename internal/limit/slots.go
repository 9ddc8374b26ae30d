package limit

import "sync"

// Slots limit how many operations run at the same time, in total and per
// client. They are safe for concurrent use.
type Slots struct {
	mu        sync.Mutex
	total     int
	perClient int
	taken     int
	of        map[string]int // by client
}

// NewSlots returns total slots. One client may take perClient of them, but at least
// one.
func NewSlots(total, perClient int) *Slots {
	return &Slots{total: total, perClient: max(1, perClient), of: make(map[string]int)}
}

// Resize changes how many slots there are, and how many a client may take.
// Slots that are taken stay taken.
func (s *Slots) Resize(total, perClient int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total, s.perClient = total, max(1, perClient)
}

// Take takes a slot and reports whether one was free. A client without a name
// is limited by the total alone. Each slot taken must be freed with the same
// name.
func (s *Slots) Take(client string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken >= s.total || client != "" && s.of[client] >= s.perClient {
		return false
	}
	s.taken++
	s.of[client]++
	return true
}

// Free gives back a slot that the client took.
func (s *Slots) Free(client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if s.of[client]--; s.of[client] == 0 {
		delete(s.of, client)
	}
}

// Taken returns how many slots are taken.
func (s *Slots) Taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}
