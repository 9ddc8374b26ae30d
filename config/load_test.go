package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

// writeFile returns the name of a file with that text.
func writeFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pushbox.yaml")
	env.OK(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func mustLoad(t *testing.T, src config.Source) *config.Loaded {
	t.Helper()
	l, err := config.Load(src)
	env.OK(t, err)
	return l
}

// problems returns the problems of a source, one a line, without the directory of the
// file.
func problems(t *testing.T, src config.Source) []string {
	t.Helper()
	l, err := config.Load(src)
	var all *config.ProblemsError
	if !errors.As(err, &all) || len(all.Problems) == 0 || l != nil {
		t.Fatalf("Load = %v, %v; want problems", l, err)
	}
	dir := ""
	if src.File != "" {
		dir = filepath.Dir(src.File) + string(filepath.Separator)
	}
	return strings.Split(strings.ReplaceAll(err.Error(), dir, ""), "\n")
}

func valueOf(t *testing.T, l *config.Loaded, key string) config.Value {
	t.Helper()
	for _, v := range l.Values {
		if v.Key == key {
			return v
		}
	}
	t.Fatalf("there is no value of %s", key)
	return config.Value{}
}

func TestWithoutSettingsTheDefaultsHold(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, config.Source{Environ: []string{"HOME=/root", "pushbox_listen=x", "BROKEN", "XPUSHBOX_A=1"}})
	if !reflect.DeepEqual(l.Config, config.Default()) {
		t.Errorf("got %+v", l.Config)
	}
	for _, v := range l.Values {
		if v.Origin != "default" {
			t.Errorf("%s comes from %s", v.Key, v.Origin)
		}
	}
}

func TestTheExampleHasTheDefaults(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, config.Source{File: "../config.example.yaml"})
	if !reflect.DeepEqual(l.Config, config.Default()) {
		t.Errorf("got %+v", l.Config)
	}
	for _, v := range l.Values {
		if v.Origin != "file ../config.example.yaml" {
			t.Errorf("%s is not in the example", v.Key)
		}
	}
}

func TestLaterSourcesOverrideEarlierOnes(t *testing.T) {
	t.Parallel()
	name := writeFile(t, "log:\n  level: warn\n")
	environ := []string{"PUSHBOX_LOG_LEVEL=error"}
	flags := map[string]config.Flag{"log.level": {Name: "--log-level", Value: "debug"}}
	for _, test := range []struct {
		name        string
		src         config.Source
		level, from string
	}{
		{"nothing", config.Source{}, "info", "default"},
		{"file", config.Source{File: name}, "warn", "file " + name},
		{"environment", config.Source{Environ: environ}, "error", "environment PUSHBOX_LOG_LEVEL"},
		{"flag", config.Source{Flags: flags}, "debug", "flag --log-level"},
		{"file, environment", config.Source{File: name, Environ: environ}, "error", "environment PUSHBOX_LOG_LEVEL"},
		{"file, flag", config.Source{File: name, Flags: flags}, "debug", "flag --log-level"},
		{"environment, flag", config.Source{Environ: environ, Flags: flags}, "debug", "flag --log-level"},
		{"all", config.Source{File: name, Environ: environ, Flags: flags}, "debug", "flag --log-level"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := mustLoad(t, test.src)
			if got := valueOf(t, l, "log.level"); l.Config.Log.Level != test.level || got.Value != test.level || got.Origin != test.from {
				t.Errorf("got %q and %+v, want %s from %s", l.Config.Log.Level, got, test.level, test.from)
			}
			if got := valueOf(t, l, "log.format"); got.Value != "auto" || got.Origin != "default" {
				t.Errorf("a neighbour changed: %+v", got)
			}
		})
	}
}

func TestAHigherSourceCanUnsetAValue(t *testing.T) {
	t.Parallel()
	name := writeFile(t, "base_url: https://a.example\ntrusted_proxies: [10.0.0.0/8]\nmaster_key_file: /k\nmaster_key: \"\"\n")
	l := mustLoad(t, config.Source{File: name, Environ: []string{
		"PUSHBOX_BASE_URL=", "PUSHBOX_TRUSTED_PROXIES=", "PUSHBOX_MASTER_KEY_FILE=", "PUSHBOX_MASTER_KEY=k",
	}})
	c := l.Config
	if c.BaseURL != "" || len(c.TrustedProxies) != 0 || c.MasterKeyFile != "" || c.MasterKey.Reveal() != "k" {
		t.Errorf("got %+v", c)
	}
}

func TestWhichFileIsRead(t *testing.T) {
	t.Parallel()
	one, two := writeFile(t, "listen: :1\n"), writeFile(t, "listen: :2\n")
	for _, test := range []struct {
		name   string
		src    config.Source
		listen string
	}{
		{"the flag's", config.Source{File: one}, ":1"},
		{"the environment's", config.Source{Environ: []string{"PUSHBOX_CONFIG=" + two}}, ":2"},
		{"the flag's before the environment's", config.Source{File: one, Environ: []string{"PUSHBOX_CONFIG=" + two}}, ":1"},
		{"the flag's before an unreadable one", config.Source{File: one, Environ: []string{"PUSHBOX_CONFIG=/nowhere/x"}}, ":1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := mustLoad(t, test.src).Config.Listen; got != test.listen {
				t.Errorf("listen is %s, want %s", got, test.listen)
			}
		})
	}
}

func TestNoFileIsReadUnlessItIsNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"pushbox.yaml", "config.yaml"} {
		env.OK(t, os.WriteFile(name, []byte("listen: :1\n"), 0o600))
	}
	t.Setenv("PUSHBOX_LISTEN", ":2") // only the caller's environment counts
	if got := mustLoad(t, config.Source{}).Config.Listen; got != config.Default().Listen {
		t.Errorf("listen is %s", got)
	}
}

func TestTheDataDirectoryIsKnownDespiteMistakesElsewhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want, wrong string
	}{
		{"", "./data", ""},
		{"data_dir: /srv/box\nlog: {level: loud}\nbox: 1\n", "/srv/box", ""},
		{"data_dir: \"\"\n", "", "data_dir"},
		{"data_dir: [a\n", "", "is not valid YAML"},
	} {
		got, err := config.DataDir(config.Source{File: writeFile(t, c.text)})
		if got != c.want || (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q: %q, %v", c.text, got, err)
		}
	}
	got, err := config.DataDir(config.Source{Environ: []string{"PUSHBOX_DATA_DIR=/env"}, Flags: map[string]config.Flag{"data_dir": {Name: "--data-dir", Value: "/flag"}}})
	if got != "/flag" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
