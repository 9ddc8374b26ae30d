//go:build race

package env

// UnderRace says whether the race detector is on. It takes memory of its own, and has sync.Pool
// forget things at random.
const UnderRace = true
