package cli

import (
	"strings"
	"testing"
)

func TestTheManualHasEveryCommandOnce(t *testing.T) {
	t.Parallel()
	seen := make(map[string]Page)
	for _, p := range Pages() {
		if _, again := seen[p.Path]; again || p.Short == "" || !strings.HasPrefix(p.Usage, p.Path) {
			t.Errorf("%q is there twice, or says nothing: %+v", p.Path, p)
		}
		seen[p.Path] = p
	}
	add := seen["pushbox user add"]
	if add.Example == "" || !strings.Contains(add.Usage, "EMAIL") || !strings.Contains(add.Flags, "--password-stdin") {
		t.Errorf("user add: %+v", add)
	}
	if global := "--data-dir"; strings.Contains(add.Flags, global) || !strings.Contains(seen["pushbox"].Flags, global) {
		t.Errorf("%s must be told once, of pushbox: %+v", global, seen["pushbox"])
	}
	for _, missing := range []string{"pushbox serve", "pushbox completion", "pushbox token"} {
		if _, ok := seen[missing]; !ok {
			t.Errorf("%s is not there", missing)
		}
	}
}
