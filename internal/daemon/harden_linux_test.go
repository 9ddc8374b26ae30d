package daemon

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"pushbox/internal/testkit/env"
)

const hardenedChild = "PUSHBOX_TEST_HARDENED"

// The child is this test again, in a process of its own: what a server does to its
// process holds for the whole process and cannot be undone.
func TestAServerCannotBeDumpedAndMakesNoFilesForOthers(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv(hardenedChild); dir != "" {
		tellHowHardened(t, dir)
		return
	}
	cmd := exec.CommandContext(soon(t), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), hardenedChild+"="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	before, after, _ := strings.Cut(string(out), "\n")
	if want := "dumpable: 1, umask: 022, core dumps: "; !strings.HasPrefix(before, want) {
		t.Errorf("before it was %q", before)
	}
	if want := "dumpable: 0, umask: 077, core dumps: 0 of 0 bytes\n"; !strings.HasPrefix(after, want) {
		t.Errorf("the server's process is %q", after)
	}
}

// tellHowHardened tells what the process is like before and after a server
// starts in it, which then ends at once.
func tellHowHardened(t *testing.T, dir string) {
	unix.Umask(0o022)
	env.OK(t, unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0))
	tell := func() {
		var core unix.Rlimit
		env.OK(t, unix.Getrlimit(unix.RLIMIT_CORE, &core))
		dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
		env.OK(t, err)
		mask := unix.Umask(0)
		unix.Umask(mask)
		fmt.Printf("dumpable: %d, umask: %03o, core dumps: %d of %d bytes\n", dumpable, mask, core.Cur, core.Max)
	}
	tell()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var stderr bytes.Buffer
	_ = Run(ctx, Options{Config: settingsFor(dir), Stderr: &stderr})
	if strings.Contains(stderr.String(), "core dump") {
		t.Error(stderr.String())
	}
	tell()
}
