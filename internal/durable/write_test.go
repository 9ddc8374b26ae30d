package durable_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pushbox/internal/durable"
	"pushbox/internal/testkit/env"
)

func TestWhatIsWrittenReplacesWhatWasThereAndIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"first", "a second, longer one", ""} {
		env.OK(t, durable.WriteFile(path, []byte(text)))
		wantText(t, path, text)
	}
	info, err := os.Stat(path)
	env.OK(t, err)
	if mode := info.Mode().Perm(); mode != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("its mode is %04o", mode)
	}
	wantAlone(t, path)
}

func TestWhatCannotBeWrittenLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := durable.WriteFile(filepath.Join(dir, "none", "file"), nil); err == nil {
		t.Error("a directory that is not there took a file")
	}
	path := filepath.Join(dir, "file")
	env.OK(t, os.MkdirAll(filepath.Join(path, "inside"), 0o700))
	if err := durable.WriteFile(path, []byte("text")); err == nil {
		t.Error("a directory was replaced")
	}
	wantAlone(t, path)
}

// wantAlone fails the test if anything lies beside a file.
func wantAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	env.OK(t, err)
	if len(entries) != 1 {
		t.Errorf("there are %v", entries)
	}
}

func TestASmallFileIsReadWholeAndALargerOneNotAtAll(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, strings.Repeat("x", 1024))
	if b, err := durable.ReadBounded(path, 1024); err != nil || len(b) != 1024 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := durable.ReadBounded(path, 1023); err == nil || !strings.Contains(err.Error(), "is larger than 1023 B") {
		t.Errorf("it is read: %v", err)
	}
	if _, err := durable.ReadBounded(path+"x", 1); err == nil {
		t.Error("a file that is not there is read")
	}
}
