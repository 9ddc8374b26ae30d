// Package sample is what the tests of faults seed faults into.
package sample

// Sum adds numbers.
func Sum(numbers ...int) int {
	sum := 0
	for _, n := range numbers {
		sum += n
	}
	return sum
}
