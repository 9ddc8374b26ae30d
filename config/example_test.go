package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/golden"
)

// exampleFile says what each setting means, and has its default.
const exampleFile = "../config.example.yaml"

func example(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheExampleIsFresh(t *testing.T) {
	t.Parallel()
	fresh, _ := refreshed(example(t))
	golden.File(t, exampleFile, fresh)
}

func TestTheExampleExplainsEverySettingInTheirOrder(t *testing.T) {
	t.Parallel()
	_, explained := refreshed(example(t))
	for _, k := range config.Keys() {
		if len(explained) == 0 || explained[0].key != k.Key {
			t.Fatalf("%s is missing, or not in its place: %+v", k.Key, explained[:min(1, len(explained))])
		}
		comment := explained[0].comment
		_, name, _ := strings.Cut(k.Key, ".")
		asUnderPW := slices.ContainsFunc(config.Keys(), func(other config.Setting) bool { return other.Key == "pw."+name && k.Key != other.Key })
		if explained = explained[1:]; comment == "" && !asUnderPW {
			t.Errorf("%s has no comment", k.Key)
		}
	}
	if len(explained) > 0 {
		t.Errorf("%s is not a setting", explained[0].key)
	}
}

func TestTheExampleHasTheKeysOfEntries(t *testing.T) {
	t.Parallel()
	text := example(t)
	for list, entry := range map[string]reflect.Type{"  oidc": reflect.TypeFor[config.OIDC](), "policies": reflect.TypeFor[config.NamedPolicy]()} {
		indent := list[:len(list)-len(strings.TrimLeft(list, " "))]
		_, rest, _ := strings.Cut(text, "\n"+list+": []\n"+indent+"# Its entries have these keys:\n")
		for i := range entry.NumField() {
			key, _, _ := strings.Cut(entry.Field(i).Tag.Get("mapstructure"), ",")
			if key == "" { // those of another section
				continue
			}
			comment, after, ok := strings.Cut(rest, "#   "+key+": …\n")
			if rest = after; !ok || !strings.HasPrefix(comment, indent+"#\n"+indent+"#   # ") {
				t.Errorf("%s: above %s is %q", list, key, comment)
			}
		}
	}
}

func TestTheExampleIsAConfigurationWithEverySetting(t *testing.T) {
	t.Parallel()
	l, err := config.Load(config.Source{File: exampleFile})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Values) != len(config.Keys()) {
		t.Errorf("%d settings", len(l.Values))
	}
}

// explained is a setting with its comment.
type explained struct{ key, comment string }

// refreshed returns the example with the defaults and bounds of the settings, and its settings.
func refreshed(text string) (fresh string, all []explained) {
	keys := make(map[string]config.Setting)
	for _, k := range config.Keys() {
		keys[k.Key] = k
	}
	var path []string // of the section
	comment := ""
	for line := range strings.Lines(text) {
		words := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(words)]
		switch {
		case strings.HasPrefix(words, "# Allowed: "), words == "# Needs a restart.\n":
			continue
		case strings.HasPrefix(words, "#"):
			comment += line
		case words == "\n":
			comment = ""
		default:
			name, _, _ := strings.Cut(words, ":")
			path = append(path[:len(indent)/2:len(indent)/2], name)
			key := strings.Join(path, ".")
			if k, leaf := keys[key]; leaf {
				line = fmt.Sprintf("%s%s: %s\n", indent, name, k.Default)
				fresh += marks(k, indent, comment)
			}
			if !strings.HasSuffix(line, ":\n") {
				all = append(all, explained{key, comment})
			}
			comment = ""
		}
		fresh += line
	}
	return fresh, all
}

// marks is what a comment says of the values of a setting, at its end.
func marks(k config.Setting, indent, comment string) (lines string) {
	if comment != "" && k.Accepts != "" {
		lines += indent + "# Allowed: " + k.Accepts + ".\n"
	}
	if comment != "" && !k.Reload {
		lines += indent + "# Needs a restart.\n"
	}
	return lines
}

func TestAShortExampleHasTheSettingsThatMostInstallationsChange(t *testing.T) {
	t.Parallel()
	all := env.Read(t, exampleFile)
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
