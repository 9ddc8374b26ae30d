package lang_test

import (
	"testing"

	"pushbox/internal/lang"
)

func load(t *testing.T) *lang.Catalog {
	t.Helper()
	c, err := lang.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}
