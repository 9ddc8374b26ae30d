package main

import (
	"cmp"
	"slices"
)

// median is the middle of the numbers, or what lies between the two in the
// middle; 0 of none. It leaves them as they are.
func median(numbers []float64) float64 {
	if len(numbers) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(numbers))
	middle := len(s) / 2
	if len(s)%2 == 1 {
		return s[middle]
	}
	return (s[middle-1] + s[middle]) / 2
}

// percentile is the least of the sorted values that p percent of them do not
// exceed; zero of none.
func percentile[T cmp.Ordered](sorted []T, p int) (v T) {
	if len(sorted) == 0 {
		return v
	}
	rank := (len(sorted)*p + 99) / 100 // rounded up
	return sorted[max(rank, 1)-1]
}

// medianOf is the median of one figure of each lap.
func medianOf(laps []lap, figure func(lap) float64) float64 {
	numbers := make([]float64, len(laps))
	for i, l := range laps {
		numbers[i] = figure(l)
	}
	return median(numbers)
}
