package record

import (
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
)

// A dump and the head of a database may be from before a table was added.
func TestLastNumbersOfFewerTablesAreRead(t *testing.T) {
	t.Parallel()
	all := Numbered()
	first, last := all[0], all[len(all)-1]
	b := env.Must(LastNumbers{first: 3, last: 7}.AppendBinary(nil))(t)
	var n LastNumbers
	env.OK(t, n.UnmarshalBinary(b))
	env.Equal(t, "last number", n[last], 7)
	env.OK(t, n.UnmarshalBinary(b[:len(b)-8]))
	env.Equal(t, "first number of fewer", n[first], 3)
	env.Equal(t, "last number of fewer", n[last], 0)
	for _, bad := range [][]byte{b[:1], append(b, make([]byte, 8)...)} {
		env.Equal(t, "error", n.UnmarshalBinary(bad), ErrRecord)
	}
}

func TestEachTableHasAKindOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := make(map[RecordKind]string)
	for _, of := range Tables() {
		if other := seen[of.Dumped]; other != "" {
			t.Errorf("%s and %s are of kind %d in a dump", of.Name, other, of.Dumped)
		}
		seen[of.Dumped] = of.Name
		if TableOf(of.Dumped) != of || !strings.HasPrefix(of.Dumped.String(), "a") {
			t.Errorf("%s: its kind is %q", of.Name, of.Dumped)
		}
	}
}
