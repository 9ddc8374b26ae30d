//go:build !race

package main

// underRace says that the race detector is on, which takes memory of its own.
const underRace = false
