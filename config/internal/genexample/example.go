package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"pushbox/config"
)

const head = `# Settings of pushbox, each at its default: keep what you change, drop the rest.
#
# pushbox reads this file when it is told to, by --config FILE or PUSHBOX_CONFIG.
# Each setting can be given in the environment too: PUSHBOX_ and its key in upper
# case, with _ between levels, such as PUSHBOX_LOG_LEVEL. Flags win over the
# environment, the environment over this file.
#
# Durations need a unit: 90d, 36h, 10m, 30s. Sizes may have one: 400MiB, 10MB.
`

// A writer writes the example from the structs of the package.
type writer struct {
	bytes.Buffer
	structs map[string]*ast.StructType
	keys    map[string]config.Setting
	told    map[*ast.Field]bool // its comment stands above already
}

// example returns the text of config.example.yaml, from the package in a directory.
func example(dir string) ([]byte, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	w := &writer{
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
	w.WriteString(head)
	all, ok := w.structs["Config"]
	if !ok {
		return nil, fmt.Errorf("no struct Config in %s", dir)
	}
	if err := w.fields(all, ""); err != nil {
		return nil, err
	}
	return w.Bytes(), nil
}

// read takes the structs of a file, unless it is a test.
func (w *writer) read(name string) error {
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
func (w *writer) fields(s *ast.StructType, prefix string) error {
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
			continue
		}
		fmt.Fprintf(w, "%s%s:\n", indent(prefix), key)
		if err := w.fields(section, prefix+key+"."); err != nil {
			return err
		}
	}
	return nil
}

// comment writes what a field means and accepts, unless a section of the same
// type has told it already.
func (w *writer) comment(f *ast.Field, key string) {
	if w.told[f] {
		return
	}
	w.told[f] = true
	if !bytes.HasSuffix(w.Bytes(), []byte(":\n")) { // not right under the name of a section
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
