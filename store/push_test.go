package store

import (
	"testing"

	"pushbox/store/record"
)

// The tests of other packages that range over Kinds rely on it.
func TestKindsListsEveryKindThatHasAName(t *testing.T) {
	t.Parallel()
	for n := range 256 {
		k := record.Kind(n)
		listed := false
		for _, other := range record.Kinds() {
			listed = listed || other == k
		}
		if named := k.String() != ""; named != listed {
			t.Errorf("kind %d is named: %t, listed: %t", n, named, listed)
		}
		if got, ok := record.ParseKind(k.String()); listed && (!ok || got != k) {
			t.Errorf("%q is read as %v, %t", k, got, ok)
		}
	}
}
