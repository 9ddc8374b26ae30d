package lang_test

import (
	"testing"

	"pushbox/internal/lang"
)

func load(t *testing.T) *lang.Catalog {
	t.Helper()
	return lang.New()
}
