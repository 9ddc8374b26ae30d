package config_test

import (
	"slices"
	"strings"
	"testing"

	"pushbox/config"
)

func TestBackupsAreInTheDataDirectoryByDefault(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"":                   "data/backups",
		"data_dir: /srv/box": "/srv/box/backups",
		"{data_dir: /srv/box, backup: {dir: /mnt/b}}": "/mnt/b",
	} {
		if got := mustLoad(t, config.Source{File: writeFile(t, yaml+"\n")}).Config.BackupDir(); got != want {
			t.Errorf("%q: %s, want %s", yaml, got, want)
		}
	}
}

func TestRecipientsAreAListWithoutIdentities(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, config.Source{File: writeFile(t, "backup: {recipients: [age1abc, age1pq1def]}\n")})
	if want := []string{"age1abc", "age1pq1def"}; !slices.Equal(l.Config.Backup.Recipients, want) {
		t.Errorf("got %q", l.Config.Backup.Recipients)
	}
	const secret = "AGE-SECRET-KEY-1ABC"
	got := problems(t, config.Source{Environ: []string{"PUSHBOX_BACKUP_RECIPIENTS=age1abc," + secret}})
	if len(got) != 1 || !strings.Contains(got[0], "entry 2 must be an age recipient") || strings.Contains(got[0], secret) {
		t.Errorf("got %q", got)
	}
}

func TestACommandBeginsWithAnAbsolutePath(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"backup: {schedule: 24h, after: [restic, backup]}":    "must begin with the absolute path of a program",
		"backup: {schedule: 24h, after: /usr/bin/restic}":     "must be a list of a program and its arguments",
		"backup: {schedule: 24h, after: [/bin/a, \"b\\0c\"]}": "entry 2 must not contain control characters",
	} {
		got := problems(t, config.Source{File: writeFile(t, text)})
		if len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s: %q", text, got)
		}
	}
	l := mustLoad(t, config.Source{File: writeFile(t, `backup: {schedule: 24h, after: [/usr/bin/rclone, copy, "{}", "s3:box"]}`)})
	if got := l.Config.Backup.After; strings.Join(got, " ") != "/usr/bin/rclone copy {} s3:box" {
		t.Errorf("it is %q", got)
	}
	l = mustLoad(t, config.Source{Environ: []string{"PUSHBOX_BACKUP_SCHEDULE=24h", "PUSHBOX_BACKUP_AFTER=/bin/a,{}"}})
	if got := l.Config.Backup.After; len(got) != 2 || got[1] != "{}" {
		t.Errorf("from the environment it is %q", got)
	}
}
