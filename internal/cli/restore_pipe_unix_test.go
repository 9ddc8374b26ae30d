//go:build unix

package cli

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
)

// A pipe without a writer must not block a restore: no signal would end the wait.
func TestARestoreFromANamedPipeIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	fresh, _ := drillFor(t, withAlice(t))
	pipe := filepath.Join(t.TempDir(), "pipe")
	env.OK(t, syscall.Mkfifo(pipe, 0o600))
	ended := make(chan result, 1)
	go func() { ended <- run(t, fresh, "", "restore", pipe) }()
	select {
	case r := <-ended:
		r.want(t, exitUsage, "is not a plain file")
	case <-time.After(env.Patience):
		t.Fatal("it waits for a writer")
	}
	wantOnlyKey(t, fresh)
}
