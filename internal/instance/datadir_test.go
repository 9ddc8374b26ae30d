package instance

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADirectoryIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	for mode, want := range map[fs.FileMode]string{
		0o700: "", 0o500: "",
		0o750: "warn", 0o710: "warn", 0o740: "warn", 0o705: "warn", 0o701: "warn", 0o755: "warn",
		0o770: "refuse", 0o720: "refuse", 0o702: "refuse", 0o777: "refuse",
	} {
		dir := t.TempDir()
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		warning, err := checkDir(dir)
		got := ""
		switch {
		case err != nil:
			got = "refuse"
		case warning != "":
			got = "warn"
		}
		if got != want {
			t.Errorf("%04o: %q instead of %q (%s, %v)", mode, got, want, warning, err)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFileIsNoDataDirectory(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := checkDir(name); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("a file: %v", err)
	}
	if _, err := MakeDir(filepath.Join(name, "below")); err == nil {
		t.Error("a directory was made below a file")
	}
}

func TestADirectoryIsMadeWithThoseAboveItAndOnlyOnce(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "a", "b", "c")
	for _, want := range []bool{true, false} {
		if made, err := MakeDir(dir); err != nil || made != want {
			t.Errorf("made: %v, %v", made, err)
		}
	}
	for ; dir != root; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("%s: %v, %v", dir, info.Mode(), err)
		}
	}
}
