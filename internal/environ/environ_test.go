package environ_test

import (
	"maps"
	"testing"

	"pushbox/internal/environ"
)

func TestVariablesAreFoundByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what    string
		environ []string
		want    map[string]string
	}{
		{"nothing", nil, map[string]string{}},
		{"a value with an equals sign", []string{"A=1=2"}, map[string]string{"A": "1=2"}},
		{"an empty value", []string{"A="}, map[string]string{"A": ""}},
		{"a name without a value", []string{"A"}, map[string]string{"A": ""}},
		{"a name twice", []string{"A=1", "B=2", "A=3"}, map[string]string{"A": "3", "B": "2"}},
		{"names that differ in case", []string{"a=1", "A=2"}, map[string]string{"a": "1", "A": "2"}},
	} {
		if got := environ.Map(c.environ); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", c.what, got, c.want)
		}
	}
}
