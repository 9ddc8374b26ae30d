package store

import (
	"pushbox/internal/secret"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// MaxStep is how many chunks of a file are kept in one step, MaxInFlight how many
// steps of it are on their way.
const (
	MaxStep     = maxStep
	MaxInFlight = maxInFlight
)

// KEKs lists the versions of the key encryption keys.
func (s *Store) KEKs() (versions []uint32) {
	for _, p := range s.ring.Load().Versions(seal.KEKs) {
		versions = append(versions, p.Version)
	}
	return versions
}

// Running is how many downloads are registered.
func (s *Store) Running() (n int) {
	s.downloads.mu.Lock()
	defer s.downloads.mu.Unlock()
	for _, of := range s.downloads.all {
		n += len(of)
	}
	return n
}

// RepeatID identifies the key of a create.
func (s *Store) RepeatID(by Actor, key string) record.RepeatID {
	return s.repeatID(by, secret.New(key))
}
