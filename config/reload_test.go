package config_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

func TestAReloadAppliesWhatItCanAndNamesTheRest(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "listen: 127.0.0.1:1\nallow_anonymous: true\npw: {expire_after_days_max: 30}\n")
	src := config.Source{File: file}
	running := mustLoad(t, src).Config
	text := "listen: 127.0.0.1:2\nallow_anonymous: false\npw: {expire_after_days_max: 40}\nlog: {level: debug, format: json}\nmaster_key: hunter2\n"
	env.OK(t, os.WriteFile(file, []byte(text), 0o600))
	got := env.Must(config.Reload(running, src))(t)
	if want := []string{"allow_anonymous", "log.level", "pw.expire_after_days_max"}; !slices.Equal(got.Changed, want) {
		t.Errorf("changed: %q, want %q", got.Changed, want)
	}
	if want := []string{"listen", "master_key", "log.format"}; !slices.Equal(got.Waiting, want) {
		t.Errorf("waiting: %q, want %q", got.Waiting, want)
	}
	c := got.Config
	if c.AllowAnonymous || c.PW.ExpireAfterDaysMax != 40 || c.Log.Level != "debug" {
		t.Errorf("not applied: %+v", c)
	}
	if c.Listen != "127.0.0.1:1" || c.Log.Format != "auto" || !c.MasterKey.IsZero() {
		t.Errorf("applied before a restart: %+v", c)
	}
	again, err := config.Reload(c, src)
	if err != nil || len(again.Changed) != 0 || len(again.Waiting) != 3 {
		t.Errorf("again: changed %q, waiting %q, %v", again.Changed, again.Waiting, err)
	}
}

func TestAWrongReloadReportsAllProblems(t *testing.T) {
	t.Parallel()
	running := mustLoad(t, config.Source{}).Config
	_, err := config.Reload(running, config.Source{File: writeFile(t, "alow_anonymous: false\nlog: {level: loud}\n")})
	var all *config.ProblemsError
	if !errors.As(err, &all) || len(all.Problems) != 2 {
		t.Errorf("got %v, want two problems", err)
	}
}

// TestAReloadRefusesSettingsThatAreValidOnlyAfterARestart loads a configuration that is
// valid as a whole. But the part of it that a reload applies contradicts settings that
// stay in force until a restart.
func TestAReloadRefusesSettingsThatAreValidOnlyAfterARestart(t *testing.T) {
	t.Parallel()
	running := mustLoad(t, config.Source{}).Config
	file := writeFile(t, "limits:\n  body_memory: 128MiB\n  max_body: 64MiB\n")
	if _, err := config.Reload(running, config.Source{File: file}); err != nil {
		t.Errorf("64MiB fit into the 64MiB in force: %v", err)
	}
	running.Limits.BodyMemory = 32 << 20
	_, err := config.Reload(running, config.Source{File: file})
	want := "limits.body_memory (as it is until a restart): must not be less than limits.max_body (file " + file + ", line 3)"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestSettingsFixedAtTheStartNeedARestart names settings that would do harm if they
// changed at run time.
func TestSettingsFixedAtTheStartNeedARestart(t *testing.T) {
	t.Parallel()
	fixed := []string{
		"listen", "data_dir", "database_url", "database_url_file", "master_key_file", "master_key", "log.format",
		"limits.body_memory", "limits.clients", "limits.request_timeout", "limits.drain_timeout",
	}
	live := 0
	for _, k := range config.Keys() {
		if slices.Contains(fixed, k.Key) && k.Reload {
			t.Errorf("a reload applies %s", k.Key)
		}
		if k.Reload {
			live++
		}
	}
	if live < 50 {
		t.Errorf("a reload applies %d settings only", live)
	}
}
