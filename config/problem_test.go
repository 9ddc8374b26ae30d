package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

func TestAllProblemsAreReportedTogether(t *testing.T) {
	t.Parallel()
	src := config.Source{
		File: writeFile(t, `lisen: ":1"
allow_anonymous: yes
log:
  level: loud
  level: info
limits:
  drain_timeout: 5
  max_body: ~
pw:
  expire_after_days_min: 8
  expire_after_views_max: 0
`),
		Environ: []string{
			"PUSHBOX_LOG_LEVL=info",
			"PUSHBOX_LIMITS_CLIENTS=0",
			"PUSHBOX_MASTER_KEY=k",
			"PUSHBOX_MASTER_KEY_FILE=/k",
			"PUSHBOX_ENABLE_FILE_PUSHES=true",
		},
		Flags: map[string]config.Flag{
			"listen":     {Name: "--listen", Value: "5100"},
			"no_such":    {Name: "--no-such", Value: "1"},
			"master_key": {Name: "--master-key", Value: "hunter2"},
		},
	}
	want := []string{
		"lisen (file pushbox.yaml, line 1): is not a setting; did you mean listen?",
		"allow_anonymous (file pushbox.yaml, line 2): must be true or false",
		"log.level (file pushbox.yaml, line 4): must be debug, info, warn or error",
		"log.level (file pushbox.yaml, line 5): was already set in line 4",
		"limits.drain_timeout (file pushbox.yaml, line 7): needs a unit, such as 10m",
		"limits.max_body (file pushbox.yaml, line 8): is empty",
		"pw.expire_after_views_max (file pushbox.yaml, line 11): must be from 1 to 100000",
		"limits.clients (environment PUSHBOX_LIMITS_CLIENTS): must be from 1000 to 1000000",
		"environment PUSHBOX_LOG_LEVL: is not a setting; did you mean PUSHBOX_LOG_LEVEL?",
		"listen (flag --listen): must be an address and a port, such as 127.0.0.1:5100, or unix:/PATH, or systemd:NAME",
		"master_key (flag --master-key): is a secret, and other users can see arguments",
		"no_such (flag --no-such): is not a setting",
		"pw.expire_after_days_default (default): must not be less than pw.expire_after_days_min (file pushbox.yaml, line 10)",
	}
	got := problems(t, src)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAnUnreadableFileHidesNoOtherProblem(t *testing.T) {
	t.Parallel()
	for _, src := range []config.Source{
		{File: "/nowhere/x.yaml"},
		{Environ: []string{"PUSHBOX_CONFIG=/nowhere/x.yaml"}},
		{Environ: []string{"PUSHBOX_CONFIG="}},
		{File: writeFile(t, "a: b: c")},
		{File: writeFile(t, "text")},
	} {
		// The first is wrong whatever the file says, the second may not be.
		src.Environ = append(src.Environ, "PUSHBOX_LISTEN=5", "PUSHBOX_PW_EXPIRE_AFTER_DAYS_MAX=2")
		got := problems(t, src)
		if len(got) != 2 || !strings.HasPrefix(got[1], "listen (environment PUSHBOX_LISTEN): ") {
			t.Errorf("%+v: got %q", src, got)
		}
	}
}

func TestOverriddenValuesAreCheckedToo(t *testing.T) {
	t.Parallel()
	got := problems(t, config.Source{
		File:    writeFile(t, "listen: 5\n"),
		Environ: []string{"PUSHBOX_LISTEN=6"},
		Flags:   map[string]config.Flag{"listen": {Name: "--listen", Value: ":7"}},
	})
	if len(got) != 2 {
		t.Errorf("got %q", got)
	}
}

func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"PUSHBOX_LISTN":      "; did you mean PUSHBOX_LISTEN?",
		"PUSHBOX_CONFG":      "; did you mean PUSHBOX_CONFIG?",
		"PUSHBOX_log_level":  "; did you mean PUSHBOX_LOG_LEVEL?",
		"PUSHBOX_LOG.LEVEL":  "; did you mean PUSHBOX_LOG_LEVEL?",
		"PUSHBOX_":           "",
		"PUSHBOX_FROBNICATE": "",
	} {
		wantProblem(t, config.Source{Environ: []string{name + "=hunter2"}}, "environment "+name+": is not a setting"+want)
	}
	got := problems(t, config.Source{Environ: []string{"PUSHBOX_\n=x"}})
	if want := `environment "PUSHBOX_\n": is not a setting`; len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEmptyVariables(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"LISTEN", "DATA_DIR", "LOG_LEVEL", "SIGNUP_EMAIL_REGEXP"} {
		got := problems(t, config.Source{Environ: []string{"PUSHBOX_" + name + "="}})
		if len(got) != 1 || !strings.HasSuffix(got[0], "(environment PUSHBOX_"+name+"): is empty") {
			t.Errorf("got %q", got)
		}
	}
}

func TestAnEmptyNumberDurationOrSwitchIsNotSet(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ALLOW_ANONYMOUS", "PURGE_AFTER", "MAX_STORE_SIZE", "LIMITS_CLIENTS", "BACKUP_SCHEDULE"} {
		l := mustLoad(t, config.Source{Environ: []string{"PUSHBOX_" + name + "="}})
		for _, v := range l.Values {
			if v.Origin != "default" {
				t.Errorf("%s: %+v", name, v)
			}
		}
	}
	l := mustLoad(t, config.Source{File: writeFile(t, "purge_after: 7d"), Environ: []string{"PUSHBOX_PURGE_AFTER="}})
	if v := valueOf(t, l, "purge_after"); v.Value != "7d" {
		t.Errorf("it overrides the file: %+v", v)
	}
}

func TestSwitchesInTheEnvironmentHaveMoreWords(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"yes": "true", "YES": "true", "on": "true", "1": "true", "True": "true", "no": "false", "Off": "false", "0": "false", "false": "false",
	} {
		for _, key := range []string{"allow_anonymous", "enable_signups"} { // one is on by default, and one off
			l := mustLoad(t, config.Source{Environ: []string{"PUSHBOX_" + strings.ToUpper(key) + "=" + word}})
			if v := valueOf(t, l, key); v.Value != want {
				t.Errorf("%s=%s: %+v", key, word, v)
			}
		}
		if word == "True" || word == "false" {
			continue
		}
		if got := problems(t, config.Source{File: writeFile(t, "enable_signups: "+word)}); len(got) != 1 || !strings.Contains(got[0], "must be true or false") {
			t.Errorf("a file with %s: %q", word, got)
		}
	}
	for _, word := range []string{"2", "y", "enabled", "yes no"} {
		if got := problems(t, config.Source{Environ: []string{"PUSHBOX_ENABLE_SIGNUPS=" + word}}); len(got) != 1 || !strings.HasSuffix(got[0], "must be true or false") {
			t.Errorf("%s: %q", word, got)
		}
	}
}

// FuzzLoad checks that no file makes Load panic, that Load explains what it refuses,
// and that what it accepts prints as a file that loads to the same.
func FuzzLoad(f *testing.F) {
	example := env.Read(f, "../config.example.yaml")
	f.Add(example)
	for _, text := range []string{
		"", "~", "listen: ':1'\nlog: {level: debug}\n", "purge_after: 1d12h30m1.5s\nmax_store_size: 3GiB\n",
		"trusted_proxies: [10.0.0.1, 'fd00::/8']\nbase_url: HTTPS://h.example//\n",
		"master_key: |\n  one\n  two\n", "pw: &a {expire_after_days_max: 9}\nqr: *a\n", "a: &a [*a]\n",
		"data_dir: \"\\u00a0\\x85\\U0001F511\"\n", "limits: {drain_timeout: 5, clients: 0x1}\n", "? [a]\n: !!float b\n--- x",
	} {
		f.Add([]byte(text))
	}
	file := filepath.Join(f.TempDir(), "pushbox.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		env.OK(t, os.WriteFile(file, text, 0o600))
		l, err := config.Load(config.Source{File: file})
		if err == nil {
			wantSameAgain(t, l, file)
			return
		}
		var all *config.ProblemsError
		if !errors.As(err, &all) || len(all.Problems) == 0 {
			t.Fatalf("not an explanation: %v", err)
		}
		for _, p := range all.Problems {
			if p.Origin == "" || p.Text == "" {
				t.Errorf("an incomplete explanation: %+v", p)
			}
		}
	})
}
