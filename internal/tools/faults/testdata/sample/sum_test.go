package sample

import "testing"

func TestSums(t *testing.T) {
	t.Log("PUSHBOX_TEST_SEED=1")
	for name, numbers := range map[string][]int{"two": {1, 2}, "three": {1, 2, 0}} {
		t.Run("of "+name, func(t *testing.T) {
			t.Parallel()
			if got := Sum(numbers...); got != 3 {
				t.Errorf("the sum is %d", got)
			}
		})
	}
}

func TestNoNumbers(t *testing.T) {
	if Sum() != 0 {
		t.Error("nothing is something")
	}
}
