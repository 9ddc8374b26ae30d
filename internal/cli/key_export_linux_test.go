package cli

import (
	"os"
	"strings"
	"testing"
)

func TestAKeyIsNotShownOnATerminalUnasked(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0) // the end that a terminal program holds is one, too
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = terminal.Close() }()
	var said strings.Builder
	export := func(more ...string) int {
		said.Reset()
		return Main(t.Context(), append([]string{"key", "export", "--data-dir", dir}, more...), strings.NewReader(""), terminal, &said, nil)
	}
	if code := export(); code != exitFailed || !strings.Contains(said.String(), "standard output is a terminal") || !strings.Contains(said.String(), "--force shows it here") {
		t.Errorf("the exit code is %d: %s", code, &said)
	}
	if code := export("--force"); code != exitDone || said.String() != "" {
		t.Errorf("with --force the exit code is %d: %s", code, &said)
	}
}
