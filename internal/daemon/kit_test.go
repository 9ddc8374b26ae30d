package daemon

import (
	"context"
	"io"
	"testing"

	"pushbox/config"
	"pushbox/internal/instance"
	"pushbox/internal/testkit/env"
	"pushbox/store"
)

const (
	alice    = "alice@example.com"
	password = "correct horse battery"
)

// settingsFor are the defaults, on a directory, except that no request takes too long on a busy
// machine.
func settingsFor(dir string) config.Config {
	cfg := config.Default()
	cfg.DataDir, cfg.Listen = dir, "127.0.0.1:0"
	cfg.Limits.RequestTimeout, cfg.Limits.DrainTimeout = env.Patience, env.Patience
	return cfg
}

// optionsFor are options with a configuration.
func optionsFor(cfg config.Config) Options {
	return Options{Config: cfg, Stderr: io.Discard, Version: "3.0.0"}
}

// opened opens a store, which the test closes.
func opened(t *testing.T, cfg config.Config) *store.Store {
	t.Helper()
	s, _, err := instance.Open(t.Context(), instance.Options{Config: cfg, Create: true, Wait: env.Patience, Note: func(string) {}})
	env.OK(t, err)
	return s
}

func closed(t *testing.T, s *store.Store) {
	t.Helper()
	env.OK(t, instance.Close(t.Context(), s))
}

// soon is a context that ends long after a test should have.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), env.Patience)
	t.Cleanup(cancel)
	return ctx
}
