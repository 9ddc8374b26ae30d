package limit

import "sync"

// Slots limit how many operations run at the same time, in total and per client. The
// networks around a client may take a multiple of what it may: a /24 of IPv4 eight times
// as many, an IPv6 /56 four times and a /48 sixteen times, but at most half of all. They
// are safe for concurrent use.
type Slots struct {
	mu        sync.Mutex
	total     int
	perClient int
	taken     int
	of        map[string]int // by client, and by network
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
	if s.taken >= s.total {
		return false
	}
	all := slotSteps(client)
	for _, one := range all {
		if s.of[one.Key] >= s.most(one) {
			return false
		}
	}
	s.taken++
	for _, one := range all {
		s.of[one.Key]++
	}
	return true
}

// most is how many slots may be taken of a step.
func (s *Slots) most(of Step) int {
	if of.Times == 1 {
		return s.perClient
	}
	return max(s.perClient, min(s.perClient*of.Times, s.total/2))
}

// slotSteps is steps, and none for a client without a name.
func slotSteps(client string) []Step {
	if client == "" {
		return nil
	}
	return Steps(client)
}

// Free gives back a slot that the client took.
func (s *Slots) Free(client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	for _, one := range slotSteps(client) {
		if s.of[one.Key]--; s.of[one.Key] == 0 {
			delete(s.of, one.Key)
		}
	}
}

// Taken returns how many slots are taken.
func (s *Slots) Taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}
