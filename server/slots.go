package server

import "sync"

// slots bound how much goes on at the same time, in all and for a client.
type slots struct {
	most, each int

	mu  sync.Mutex
	all int
	of  map[string]int // by client
}

// newSlots makes slots of which a client may have so many, one at least.
func newSlots(most, each int) *slots {
	return &slots{most: most, each: max(1, each), of: make(map[string]int)}
}

// resize changes how many slots there are, and how many of them a client may have.
// Nobody loses one.
func (s *slots) resize(most, each int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most, s.each = most, max(1, each)
}

// enter takes a slot, if there is one: one of the client's, unless that has no
// name. Whoever gets one calls leave.
func (s *slots) enter(client string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= s.most || client != "" && s.of[client] >= s.each {
		return false
	}
	s.all++
	s.of[client]++
	return true
}

// taken is how many slots are.
func (s *slots) taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

func (s *slots) leave(client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[client]--; s.of[client] == 0 {
		delete(s.of, client)
	}
}
