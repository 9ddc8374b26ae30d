package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/config"
)

const source = "../.."

func TestTheExampleIsFresh(t *testing.T) {
	t.Parallel()
	have, err := os.ReadFile("../../../config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want, err := example(source)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("config.example.yaml is stale: run go generate ./config")
	}
}

func TestEverySettingIsExplainedInTheExample(t *testing.T) {
	t.Parallel()
	text, err := example(source)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range config.Keys() {
		name := k.Key[strings.LastIndex(k.Key, ".")+1:]
		before, _, ok := strings.Cut(string(text), "\n"+indent(k.Key)+name+": ")
		lines := strings.Split(before, "\n")
		if last := lines[len(lines)-1]; !ok || !strings.HasPrefix(last, indent(k.Key)+"# ") {
			t.Errorf("%s has no comment above it, but %q", k.Key, last)
		}
	}
}

func TestRunWritesTheExample(t *testing.T) {
	t.Parallel()
	output := filepath.Join(t.TempDir(), "example.yaml")
	if err := run(source, output); err != nil {
		t.Fatal(err)
	}
	l, err := config.Load(config.Source{File: output})
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Values) != len(config.Keys()) {
		t.Errorf("%d settings", len(l.Values))
	}
}

func TestFieldsWithoutACommentAreRefused(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"A int", "// Says something.\nA int", "A int `mapstructure:\"a\"`"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.go"), []byte("package config\ntype Config struct {\n"+field+"\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(dir, filepath.Join(dir, "out.yaml")); err == nil {
			t.Errorf("%q was taken", field)
		}
	}
	if err := run(t.TempDir(), ""); err == nil {
		t.Error("a directory without the settings was taken")
	}
}
