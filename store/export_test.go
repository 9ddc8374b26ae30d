package store

// MaxStep is how many chunks of a file are kept in one step, MaxFlights how many
// steps of it are on their way.
const (
	MaxStep    = maxStep
	MaxFlights = maxFlights
)

// Running is how many downloads the store takes for running.
func (s *Store) Running() (n int) {
	s.downloads.mu.Lock()
	defer s.downloads.mu.Unlock()
	for _, of := range s.downloads.all {
		n += len(of)
	}
	return n
}
