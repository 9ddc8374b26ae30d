package config_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/golden"
)

// exampleFile has every setting with its default, below the comment of its field in the
// source.
const exampleFile = "../config.example.yaml"

func TestTheExampleIsFresh(t *testing.T) {
	t.Parallel()
	text, err := example(".")
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, exampleFile, string(text))
}

func TestEverySettingIsExplainedInTheExample(t *testing.T) {
	t.Parallel()
	text, err := example(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range config.Keys() {
		name := k.Key[strings.LastIndex(k.Key, ".")+1:]
		before, _, ok := strings.Cut(string(text), "\n"+indent(k.Key)+name+": ")
		lines := strings.Split(before, "\n")
		if last := lines[len(lines)-1]; !ok || !strings.HasPrefix(last, indent(k.Key)+"# ") {
			t.Errorf("above %s is no comment, but %q", k.Key, last)
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

func TestFieldsWithoutACommentAreRefused(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"A int", "// Says something.\nA int", "A int `mapstructure:\"a\"`"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.go"), []byte("package config\ntype Config struct {\n"+field+"\n}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := example(dir); err == nil {
			t.Errorf("%q was accepted", field)
		}
	}
	if _, err := example(t.TempDir()); err == nil {
		t.Error("a directory without the settings was accepted")
	}
}

const exampleHead = `# All settings of pushbox with their defaults. Keep those that you change.
#
# pushbox reads this file if --config FILE or PUSHBOX_CONFIG names it, or if it is
# /etc/pushbox/config.yaml and no other place is named. The environment overrides the
# file, and flags override both. In the environment a setting is
# PUSHBOX_ and its key in upper case, with _ between levels, such as
# PUSHBOX_LOG_LEVEL for log.level.
#
# Durations need a unit: 90d, 36h, 10m, 30s. Sizes may have one: 400MiB, 10MB.
`

// An exampleWriter writes the example from the structs of the package.
type exampleWriter struct {
	bytes.Buffer
	structs map[string]*ast.StructType
	keys    map[string]config.Setting
	told    map[*ast.Field]bool // its comment was written before
}

// example returns the text of config.example.yaml, from the package in a directory.
func example(dir string) ([]byte, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	w := &exampleWriter{
		structs: make(map[string]*ast.StructType),
		keys:    make(map[string]config.Setting),
		told:    make(map[*ast.Field]bool),
	}
	for _, name := range names {
		if err := w.read(name); err != nil {
			return nil, err
		}
	}
	for _, k := range config.Keys() {
		w.keys[k.Key] = k
	}
	w.WriteString(exampleHead)
	all, ok := w.structs["Config"]
	if !ok {
		return nil, fmt.Errorf("no struct Config in %s", dir)
	}
	if err := w.fields(all, ""); err != nil {
		return nil, err
	}
	return w.Bytes(), nil
}

// read collects the structs of a file, unless it is a test.
func (w *exampleWriter) read(name string) error {
	if strings.HasSuffix(name, "_test.go") {
		return nil
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if t, ok := n.(*ast.TypeSpec); ok {
			if s, ok := t.Type.(*ast.StructType); ok {
				w.structs[t.Name.Name] = s
			}
		}
		return true
	})
	return nil
}

// fields writes the settings of a struct, whose keys begin with prefix.
func (w *exampleWriter) fields(s *ast.StructType, prefix string) error {
	for _, f := range s.Fields.List {
		section := w.structs[fmt.Sprint(f.Type)] // nil for other types
		if len(f.Names) == 0 {
			if err := w.fields(section, prefix); err != nil {
				return err
			}
			continue
		}
		key, err := keyOf(f)
		if err != nil {
			return err
		}
		w.comment(f, prefix+key)
		if section == nil {
			fmt.Fprintf(w, "%s%s: %s\n", indent(prefix), key, w.keys[prefix+key].Default)
			if list, ok := f.Type.(*ast.ArrayType); ok {
				w.entries(w.structs[fmt.Sprint(list.Elt)], prefix)
			}
			continue
		}
		fmt.Fprintf(w, "%s%s:\n", indent(prefix), key)
		if err := w.fields(section, prefix+key+"."); err != nil {
			return err
		}
	}
	return nil
}

// entries writes, as a comment, the keys of an entry of a list; s is nil for a list of values.
func (w *exampleWriter) entries(s *ast.StructType, prefix string) {
	if s == nil || s.Fields.List[0].Tag == nil {
		return
	}
	w.WriteString(indent(prefix) + "# Its entries have these keys:\n")
	for _, f := range s.Fields.List {
		key, _ := keyOf(f)
		fmt.Fprintf(w, "%s#\n", indent(prefix))
		for line := range strings.Lines(f.Doc.Text()) {
			w.WriteString(indent(prefix) + "#   # " + line)
		}
		if len(f.Names) == 0 { // the keys of a section that the file has elsewhere
			continue
		}
		fmt.Fprintf(w, "%s#   %s: …\n", indent(prefix), key)
	}
}

// comment writes the meaning and the values of a field, unless a section of the same
// type has them already.
func (w *exampleWriter) comment(f *ast.Field, key string) {
	if w.told[f] {
		return
	}
	w.told[f] = true
	if !bytes.HasSuffix(w.Bytes(), []byte(":\n")) { // not directly under the name of a section
		w.WriteString("\n")
	}
	for line := range strings.Lines(f.Doc.Text()) {
		w.WriteString(indent(key) + "# " + line)
	}
	if a := w.keys[key].Accepts; a != "" {
		w.WriteString(indent(key) + "# Allowed: " + a + ".\n")
	}
	if k, leaf := w.keys[key]; leaf && !k.Reload {
		w.WriteString(indent(key) + "# Needs a restart.\n")
	}
}

func keyOf(f *ast.Field) (string, error) {
	if f.Tag == nil || f.Doc.Text() == "" {
		return "", fmt.Errorf("field %s has no tag or no comment", f.Names[0])
	}
	tag, err := strconv.Unquote(f.Tag.Value)
	return reflect.StructTag(tag).Get("mapstructure"), err
}

func indent(key string) string {
	return strings.Repeat("  ", strings.Count(key, "."))
}
