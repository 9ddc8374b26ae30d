package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

// In ExecReload= of a unit, systemd names a directory of credentials that cannot be read.
func TestWhoNeedsNoKeyDoesNotLookForItsFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	env.OK(t, os.WriteFile(file, nil, 0o600))
	src := config.Source{Environ: []string{"CREDENTIALS_DIRECTORY=" + filepath.Join(file, "below")}}
	if _, err := config.Load(src); err == nil {
		t.Error("a credential that cannot be read is no error")
	}
	src.NoKey = true
	if l, err := config.Load(src); err != nil || l.Config.MasterKeyFile != "" {
		t.Errorf("without a need for the key: %v", err)
	}
}
