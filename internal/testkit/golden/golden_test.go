package golden

import (
	"os"
	"path/filepath"
	"testing"

	"pushbox/internal/testkit/env"
)

func TestUpdateWritesTheFileAndTheSection(t *testing.T) {
	name := filepath.Join(t.TempDir(), "manual.md")
	begin := func(text string) {
		t.Helper()
		env.OK(t, os.WriteFile(name, []byte(text), 0o600))
	}
	want := func(text string) {
		t.Helper()
		if have, err := os.ReadFile(name); err != nil || string(have) != text {
			t.Errorf("the file is %q, %v", have, err)
		}
	}
	*update = true
	defer func() { *update = false }()
	begin("head\nbegin\nold\nend\ntail\n")
	Section(t, name, "begin", "end", "new\n")
	want("head\nbegin\nnew\nend\ntail\n")
	File(t, name, "all new\n")
	want("all new\n")
	begin("")
	Digest(t, name, 1, "one")
	Digest(t, name, 2, "two")
	*update = false
	File(t, name, "1 7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed\n2 3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3\n")
	Digest(t, name, 2, "two")
}

func TestANumberKeepsItsDigest(t *testing.T) {
	name := filepath.Join(t.TempDir(), "formats.txt")
	env.OK(t, os.WriteFile(name, []byte("1 00\n"), 0o600))
	for _, updates := range []bool{false, true} {
		*update = updates
		var failed recorder
		Digest(&failed, name, 1, "one")
		if !failed.failed {
			t.Errorf("with -update %v, another digest is accepted", updates)
		}
	}
	*update = false
	var failed recorder
	if Digest(&failed, name, 2, "two"); !failed.failed {
		t.Error("a new number is accepted")
	}
}

func TestAStaleFileFailsTheTest(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "manual.md")
	env.OK(t, os.WriteFile(name, []byte("one\ntwo\n"), 0o600))
	var failed recorder
	File(&failed, name, "one\n2\n")
	if !failed.failed {
		t.Error("a stale file is accepted")
	}
	env.Equal(t, "it differs at line", firstDifference("one\ntwo\n", "one\n2\n"), 2)
}

// A recorder is a test that only records that it failed.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }
