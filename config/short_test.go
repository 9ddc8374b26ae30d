package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

func TestAShortExampleHasTheSettingsThatMostInstallationsChange(t *testing.T) {
	t.Parallel()
	all, err := os.ReadFile(exampleFile)
	env.OK(t, err)
	short := config.Short(string(all))
	file := filepath.Join(t.TempDir(), "pushbox.yaml")
	env.OK(t, os.WriteFile(file, []byte(short), 0o600))
	l, err := config.Load(config.Source{File: file})
	if err != nil {
		t.Fatalf("%v in\n%s", err, short)
	}
	said := 0
	for _, v := range l.Values {
		if v.Origin == "file "+file {
			said++
		}
	}
	if lines := strings.Count(short, "\n"); said != 25 || lines > 180 {
		t.Errorf("%d settings in %d lines", said, lines)
	}
	for _, line := range strings.Split(short, "\n")[1:] {
		if line != "" && !strings.Contains(string(all), line+"\n") {
			t.Errorf("%q is not in the whole file", line)
		}
	}
}
