package terminal_test

import (
	"os"
	"testing"

	"pushbox/internal/terminal"
	"pushbox/internal/testkit/env"
)

func TestAPseudoTerminalIsATerminal(t *testing.T) {
	t.Parallel()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminal can be opened here:", err)
	}
	if !terminal.Is(f) {
		t.Error("it does not count as one")
	}
	env.OK(t, f.Close())
	if terminal.Is(f) {
		t.Error("once it is closed it still counts as one")
	}
}
