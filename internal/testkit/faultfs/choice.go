package faultfs

import "math/rand/v2"

// Chance returns a random Keep for pending changes: all or nothing, all except one or
// one alone, whole changes or sectors, few or many. It returns the choice in a word,
// too.
func Chance(r *rand.Rand, pending []Entry) (how string, keep Keep) {
	share := r.Float64()
	switch n := len(pending); {
	case n == 0:
		return "all synced", func(int, int) bool { return true }
	case n > 1 && r.IntN(5) == 0:
		only := r.IntN(n)
		return "one kept", func(change, _ int) bool { return change == only }
	case n > 1 && r.IntN(4) == 0:
		lost := r.IntN(n)
		return "one lost", func(change, _ int) bool { return change != lost }
	}
	switch r.IntN(8) {
	case 0:
		return "all lost", func(int, int) bool { return false }
	case 1:
		return "all kept", func(int, int) bool { return true }
	case 2, 3:
		kept := make([]bool, len(pending))
		for i := range kept {
			kept[i] = r.Float64() < share
		}
		return "some kept", func(change, _ int) bool { return kept[change] }
	case 4:
		last := len(pending) - 1
		return "the last torn", func(change, _ int) bool { return change < last || r.Float64() < share }
	default:
		return "torn", func(int, int) bool { return r.Float64() < share }
	}
}
