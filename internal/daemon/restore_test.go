package daemon_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pushbox/internal/backup"
	"pushbox/internal/cli"
	"pushbox/internal/daemon"
	"pushbox/internal/testkit/env"
)

// run runs a command on a data directory, which must succeed.
func run(t *testing.T, dir string, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	args = append(args, "--data-dir", dir)
	if code := cli.Main(t.Context(), args, strings.NewReader("correct horse battery\n"), &out, &said, nil); code != 0 {
		t.Fatalf("%q: exit code %d\n%s", args, code, &said)
	}
	return out.String(), said.String()
}

func TestTheServerMakesBackupsThatCanBeRestored(t *testing.T) {
	t.Parallel()
	dir := env.ShortDir(t)
	run(t, dir, "user", "add", "alice@example.com", "--password-stdin", "--init")
	cfg := daemon.SettingsFor(dir)
	cfg.Backup.Schedule = 24 * time.Hour
	s := daemon.Opened(t, cfg)
	defer daemon.Closed(t, s)
	var notes []string
	if err := daemon.PrepareBackups(cfg, func(n string) { notes = append(notes, n) }); err != nil || len(notes) != 1 {
		t.Fatal(err, notes)
	}
	if info, err := os.Stat(filepath.Join(dir, "backups")); err != nil || info.Mode() != os.ModeDir|0o700 {
		t.Errorf("the directory: %v, %v", info, err)
	}
	said := daemon.KeptFor(t, cfg, s)
	all, err := backup.List(cfg.BackupDir())
	if err != nil || len(all) != 1 || !strings.Contains(said, `"level":"info"`) || !strings.Contains(said, "made a backup") {
		t.Fatalf("there are %v, %v, and the log has %s", all, err, said)
	}
	fresh := env.ShortDir(t)
	key := env.Read(t, filepath.Join(dir, "master.key"))
	env.OK(t, os.WriteFile(filepath.Join(fresh, "master.key"), key, 0o600))
	if _, stderr := run(t, fresh, "restore", filepath.Join(cfg.BackupDir(), all[0].Name)); !strings.Contains(stderr, "restored 0 pushes") {
		t.Errorf("the restore said %s", stderr)
	}
	if stdout, _ := run(t, fresh, "user", "list"); !strings.Contains(stdout, "alice@example.com") {
		t.Errorf("it has %s", stdout)
	}
}
