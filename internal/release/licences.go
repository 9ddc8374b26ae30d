package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

// licenceName matches the files in which modules say under which conditions they may
// be copied.
var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|unlicense)([-.].*)?$`)

// licences are the conditions of everything that is compiled into the program: Go
// itself, and each module. Most ask that their text goes with it.
func (j job) licences(ctx context.Context, info *debug.BuildInfo) ([]byte, error) {
	root, err := run(ctx, j.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "pushbox %s contains what is listed here, under these conditions.\n", j.version)
	if err := addLicences(&out, "Go "+strings.TrimPrefix(info.GoVersion, "go"), root); err != nil {
		return nil, err
	}
	args := []string{"mod", "download", "-json"}
	for _, m := range info.Deps {
		args = append(args, used(m).Path+"@"+used(m).Version)
	}
	list, err := run(ctx, j.root, j.environ, "go", args...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(list)); ; {
		var m struct{ Path, Version, Dir string }
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return out.Bytes(), nil
		} else if err != nil {
			return nil, err
		}
		if err := addLicences(&out, m.Path+" "+m.Version, m.Dir); err != nil {
			return nil, err
		}
	}
}

// used is the module that is compiled in for m.
func used(m *debug.Module) *debug.Module {
	if m.Replace != nil {
		return m.Replace
	}
	return m
}

// addLicences writes the files of one directory. There must be one.
func addLicences(out *bytes.Buffer, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if !licenceName.MatchString(e.Name()) || e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s\n%s (%s)\n\n%s\n", strings.Repeat("=", 78), name, e.Name(), bytes.TrimSpace(text))
		found = true
	}
	if !found {
		return fmt.Errorf("%s has no licence in %s: it must not be published before it is known", name, dir)
	}
	return nil
}
