package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/internal/testkit/env"
)

// runPackaged runs a command where the settings file of a packaged service may be.
func runPackaged(t *testing.T, packaged string, environ []string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{stdout: &stdout, stderr: &stderr, environ: environ, console: newConsole(strings.NewReader(""), &stderr), packaged: packaged}
	code := a.run(t.Context(), args, strings.NewReader(""))
	return result{code, stdout.String(), stderr.String()}
}

// settingsFile makes a settings file for a data directory.
func settingsFile(t *testing.T, dataDir string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	env.OK(t, os.WriteFile(file, []byte("data_dir: "+dataDir+"\n"), 0o600))
	return file
}

func TestWhereNoPlaceIsNamedThePackagedServiceIsMeant(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	file := settingsFile(t, dir)
	const said = "using "
	r := runPackaged(t, file, nil, "user", "list").want(t, exitDone, said+file)
	if !strings.Contains(r.stdout, alice) {
		t.Errorf("the list is\n%s", r.stdout)
	}
	r = runPackaged(t, file, nil, "events").want(t, exitDone)
	if n := strings.Count(r.stderr, said); n != 1 {
		t.Errorf("it says it %d times:\n%s", n, r.stderr)
	}
	other := filepath.Join(t.TempDir(), "other")
	for name, r := range map[string]result{
		"--data-dir":       runPackaged(t, file, nil, "user", "list", "--data-dir", other),
		"--config":         runPackaged(t, file, nil, "user", "list", "--config", settingsFile(t, other)),
		"PUSHBOX_DATA_DIR": runPackaged(t, file, []string{"PUSHBOX_DATA_DIR=" + other}, "user", "list"),
		"PUSHBOX_CONFIG":   runPackaged(t, file, []string{"PUSHBOX_CONFIG=" + settingsFile(t, other)}, "user", "list"),
		"no such file":     runPackaged(t, file+"x", []string{"PUSHBOX_DATA_DIR=" + other}, "user", "list"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if r.want(t, exitFailed, "there is no database in "+other); strings.Contains(r.stderr, said) {
				t.Errorf("it says\n%s", r.stderr)
			}
		})
	}
}

// A file that cannot be read is the error, and not a reason to use another place.
func TestAPackagedFileThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	file := filepath.Join(settingsFile(t, t.TempDir()), "below")
	runPackaged(t, file, nil, "user", "list").want(t, exitUsage, file, "not a directory")
}
