package config_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

func TestProblemsInAFile(t *testing.T) {
	t.Parallel()
	const at = " (file pushbox.yaml, line 1): "
	for _, test := range []struct{ name, yaml, want string }{
		{"unknown key", "lisen: x", "lisen" + at + "is not a setting; did you mean listen?"},
		{"capital letters", "Listen: x", "Listen" + at + "is not a setting; did you mean listen?"},
		{"unknown, like nothing", "frobnicate: x", "frobnicate" + at + "is not a setting"},
		{"unknown section", "server: {port: 1}", "server" + at + "is not a setting"},
		{"unknown key of a section", "log: {levle: info}", "log.levle" + at + "is not a setting; did you mean log.level?"},
		{"section in capitals", "LOG: {level: info}", "LOG" + at + "is not a setting; did you mean log?"},
		{"dotted key", "log.level: info", "log.level" + at + "is not a setting: a section and its keys are written on lines of their own"},
		{"merge key", "<<: {listen: x}", "a key" + at + "is not a setting"},
		{"list as key", "[a]: x", "file pushbox.yaml, line 1: a key must be a word"},
		{"deletable url", "url: {enable_deletable_pushes: true}", "url.enable_deletable_pushes" + at + "is not a setting"},
		{"duplicate", "{listen: ':1', listen: ':1'}", "listen" + at + "was already set in line 1"},
		{"duplicate in a section", "log: {level: info, level: warn}", "log.level" + at + "was already set in line 1"},
		{"duplicate section", "{log: {level: info}, log: {format: json}}", "log" + at + "was already set in line 1"},
		{"empty", "listen:", "listen" + at + "is empty"},
		{"tilde", "listen: ~", "listen" + at + "is empty"},
		{"null", "limits: {clients: null}", "limits.clients" + at + "is empty"},
		{"empty section", "log:", "log" + at + "is empty"},
		{"scalar for a section", "log: debug", "log" + at + "must be a section with keys"},
		{"mapping for a setting", "listen: {a: b}", "listen" + at + "must be an address and a port, such as 127.0.0.1:5100, or unix:/PATH, or systemd:NAME"},
		{"list for a setting", "data_dir: [a]", "data_dir" + at + "must be a path"},
		{"number for text", "master_key_file: 5", "master_key_file" + at + "must be text"},
		{"date for text", "master_key_file: 2001-01-01", "master_key_file" + at + "must be text"},
		{"empty path", `data_dir: ""`, "data_dir" + at + "is empty"},
		{"control character", `data_dir: "a\0"`, "data_dir" + at + "must not contain control characters or bytes that are not UTF-8"},
		{"word for a boolean", "allow_anonymous: yes", "allow_anonymous" + at + "must be true or false"},
		{"quoted boolean", `allow_anonymous: "true"`, "allow_anonymous" + at + "must be true or false"},
		{"number for a boolean", "allow_anonymous: 1", "allow_anonymous" + at + "must be true or false"},
		{"false boolean tag", "allow_anonymous: !!bool 1", "allow_anonymous" + at + "must be true or false"},
		{"quoted number", `limits: {clients: "5"}`, "limits.clients" + at + "must be a whole number"},
		{"fraction", "limits: {clients: 5.0}", "limits.clients" + at + "must be a whole number"},
		{"octal number", "limits: {clients: 010}", "limits.clients" + at + "must be a whole number"},
		{"hexadecimal number", "limits: {clients: 0x10}", "limits.clients" + at + "must be a whole number"},
		{"number with underscores", "limits: {clients: 1_000}", "limits.clients" + at + "must be a whole number"},
		{"beyond 32 bits", "limits: {clients: 2147483648}", "limits.clients" + at + "is too large"},
		{"beyond 64 bits", "limits: {clients: 9223372036854775808}", "limits.clients" + at + "is too large"},
		{"duration without unit", "limits: {drain_timeout: 5}", "limits.drain_timeout" + at + "needs a unit, such as 10m"},
		{"quoted duration without unit", "limits: {drain_timeout: '5'}", "limits.drain_timeout" + at + "needs a unit, such as 10m"},
		{"fraction for a duration", "limits: {drain_timeout: 1.5}", "limits.drain_timeout" + at + "needs a unit, such as 10m"},
		{"boolean for a duration", "limits: {drain_timeout: true}", "limits.drain_timeout" + at + "must be a duration such as 10m, 36h or 90d"},
		{"size without a known unit", "limits: {max_body: 8M}", "limits.max_body" + at + "must be a size such as 400MiB, 10MB or 1000"},
		{"fraction for a size", "limits: {max_body: 1048576.0}", "limits.max_body" + at + "must be a size such as 400MiB, 10MB or 1000"},
		{"scalar for a list", "trusted_proxies: 10.0.0.1", "trusted_proxies" + at + "must be a list of addresses and networks"},
		{"number in a list", "trusted_proxies: [10]", "trusted_proxies" + at + "must be a list of addresses and networks"},
		{"nothing in a list", "trusted_proxies: [ , ]", "file pushbox.yaml: is not valid YAML: did not find expected node content"},
		{"null in a list", "trusted_proxies: [~]", "trusted_proxies" + at + "must be a list of addresses and networks"},
		{"blank in a list", "trusted_proxies: [' ']", "trusted_proxies" + at + "entry 1 must be an address or a network such as 10.0.0.0/8"},
		{"two in one text", "trusted_proxies: ['10.0.0.1,10.0.0.2']", "trusted_proxies" + at + "entry 1 must be an address or a network such as 10.0.0.0/8"},
		{"list in a list", "trusted_proxies: [[10.0.0.1]]", "trusted_proxies" + at + "must be a list of addresses and networks"},
		{"wrong address", "trusted_proxies: [10.0.0.1, nginx]", "trusted_proxies" + at + "entry 2 must be an address or a network such as 10.0.0.0/8"},
		{"list for the file", "[listen]", "file pushbox.yaml: must hold keys with values, such as allow_anonymous: true"},
		{"scalar for the file", "listen=:1", "file pushbox.yaml: must hold keys with values, such as allow_anonymous: true"},
		{"two documents", "listen: ':1'\n---\nlisten: ':2'", "file pushbox.yaml: must hold one YAML document"},
		{"tab", "\tlisten: x", "file pushbox.yaml: is not valid YAML: found character that cannot start any token"},
		{"not UTF-8", "data_dir: \xff", "file pushbox.yaml: is not valid YAML: invalid leading UTF-8 octet"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wantProblem(t, config.Source{File: writeFile(t, test.yaml)}, test.want)
		})
	}
}

func TestEmptyFiles(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "# nothing\n", "---\n", "---\n...\n", "~\n", "{}\n", "log: {}\n", "\ufeff# with a mark\n"} {
		l := mustLoad(t, config.Source{File: writeFile(t, text)})
		if !reflect.DeepEqual(l.Config, config.Default()) {
			t.Errorf("%q changed something: %+v", text, l.Config)
		}
	}
}

func TestUnreadableFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, test := range []struct{ name, file, want string }{
		{"missing", filepath.Join(dir, "x.yaml"), "file x.yaml: cannot be read: no such file or directory"},
		{"directory", dir, "file " + filepath.Base(dir) + ": cannot be read: is a directory"},
		{"NUL", dir + "/\x00", "file \"" + dir + `/\x00": cannot be read: invalid argument`},
		{"too large", writeFile(t, strings.Repeat("#", 256<<10+1)), "file pushbox.yaml: must not be larger than 256KiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := config.Load(config.Source{File: test.file})
			if got != nil || err == nil {
				t.Fatal("it was read")
			}
			short := err.Error()
			if test.name != "NUL" {
				short = strings.ReplaceAll(short, filepath.Dir(test.file)+"/", "")
			}
			env.Equal(t, "got", short, test.want)
		})
	}
}

func TestTheLargestFile(t *testing.T) {
	t.Parallel()
	const setting = "listen: ':1'\n"
	l := mustLoad(t, config.Source{File: writeFile(t, setting+strings.Repeat("#", 256<<10-len(setting)))})
	env.Equal(t, "listen is", l.Config.Listen, ":1")
}

func TestSectionsMayShareTheirSettings(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, config.Source{File: writeFile(t, "pw: &all\n  expire_after_days_default: 3\nqr: *all\n")})
	if l.Config.QR.ExpireAfterDaysDefault != 3 || l.Config.PW.ExpireAfterDaysDefault != 3 {
		t.Errorf("got %+v", l.Config.QR)
	}
	wantProblem(t, config.Source{File: writeFile(t, "pw: &all\n  log: *all\n")}, "pw.log (file pushbox.yaml, line 2): is not a setting")
}

func TestBackupsAreInTheDataDirectoryByDefault(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"":                   "data/backups",
		"data_dir: /srv/box": "/srv/box/backups",
		"{data_dir: /srv/box, backup: {dir: /mnt/b}}": "/mnt/b",
	} {
		env.Equal(t, yaml, mustLoad(t, config.Source{File: writeFile(t, yaml+"\n")}).Config.BackupDir(), want)
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
