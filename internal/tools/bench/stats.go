package main

import (
	"cmp"
	"slices"
)

// median is the middle one of the numbers, or the mean of the two in the middle; 0 if
// there are none. It does not change the slice.
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

// percentile is the smallest of the sorted values that p percent of them do not exceed;
// zero if there are none.
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
