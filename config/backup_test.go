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
