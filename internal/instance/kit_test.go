package instance

import (
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/store"
)

// settingsFor are the defaults, on a directory.
func settingsFor(dir string) config.Config {
	cfg := config.Default()
	cfg.DataDir = dir
	return cfg
}

// opened opens a store, which the test closes.
func opened(t *testing.T, cfg config.Config) *store.Store {
	t.Helper()
	s, _, err := Open(t.Context(), Options{Config: cfg, Create: true, Wait: env.Patience, Note: func(string) {}})
	env.OK(t, err)
	return s
}

func closed(t *testing.T, s *store.Store) {
	t.Helper()
	env.OK(t, Close(t.Context(), s))
}
