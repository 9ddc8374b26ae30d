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

func TestArgumentsOfACommandStayAsTheyAre(t *testing.T) {
	t.Parallel()
	want := []string{"/bin/a", "--tag=x,y", " b ", "", `c"d\e`, "[f]", "<é>"}
	fromFile := mustLoad(t, config.Source{File: writeFile(t, `backup: {schedule: 24h, after: [/bin/a, "--tag=x,y", " b ", "", 'c"d\e', "[f]", "<é>"]}`)})
	fromEnvironment := mustLoad(t, config.Source{Environ: []string{
		"PUSHBOX_BACKUP_SCHEDULE=24h", `PUSHBOX_BACKUP_AFTER=["/bin/a", "--tag=x,y", " b ", "", "c\"d\\e", "[f]", "<é>"]`,
	}})
	for name, l := range map[string]*config.Loaded{"the file": fromFile, "the environment": fromEnvironment} {
		if got := l.Config.Backup.After; !slices.Equal(got, want) {
			t.Errorf("from %s it is %q", name, got)
		}
	}
	printed := mustLoad(t, config.Source{File: writeFile(t, "backup: {schedule: 24h, after: "+valueOf(t, fromFile, "backup.after").Value+"}")})
	if got := printed.Config.Backup.After; !slices.Equal(got, want) {
		t.Errorf("once printed and read again, it is %q", got)
	}
	for _, text := range []string{`["/bin/a"`, `["/bin/a", 1]`, `["/bin/a"] b`, "[\"/bin/\xff\"]"} {
		got := problems(t, config.Source{Environ: []string{"PUSHBOX_BACKUP_SCHEDULE=24h", "PUSHBOX_BACKUP_AFTER=" + text}})
		if len(got) != 1 || !strings.Contains(got[0], "must be a list of texts in JSON") {
			t.Errorf("%s: %q", text, got)
		}
	}
	if l := mustLoad(t, config.Source{Environ: []string{"PUSHBOX_BACKUP_AFTER=[]"}}); len(l.Config.Backup.After) != 0 {
		t.Errorf("the empty list is %q", l.Config.Backup.After)
	}
}
