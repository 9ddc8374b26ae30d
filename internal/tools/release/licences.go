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

// licenceName matches the names of licence files in modules.
var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|unlicense)([-.].*)?$`)

// script is the library among the scripts of the pages. Its name and version and its licence
// are in its first comment.
const script = "server/web/static/uqr.js"

// licences returns the licences of everything that is compiled into the program: Go, each
// module and the script. Most of them require that their text goes with the program.
func (j job) licences(ctx context.Context, info *debug.BuildInfo) ([]byte, error) {
	root, err := run(ctx, j.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "pushbox %s contains the following, under these licences.\n", j.version)
	if err := addLicences(&out, "Go "+strings.TrimPrefix(info.GoVersion, "go"), root); err != nil {
		return nil, err
	}
	s, err := readScript(j.root)
	if err != nil {
		return nil, err
	}
	addLicence(&out, s.Name+" "+s.Version, "npm", s.licence)
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

// used is the module that is compiled in: m, or its replacement.
func used(m *debug.Module) *debug.Module {
	if m.Replace != nil {
		return m.Replace
	}
	return m
}

// addLicences writes the licence files of a directory. A directory without one is an
// error.
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
		addLicence(out, name, e.Name(), text)
		found = true
	}
	if !found {
		return fmt.Errorf("%s has no licence in %s: find out its licence before you publish it", name, dir)
	}
	return nil
}

func addLicence(out *bytes.Buffer, name, source string, text []byte) {
	fmt.Fprintf(out, "\n%s\n%s (%s)\n\n%s\n", strings.Repeat("=", 78), name, source, bytes.TrimSpace(text))
}

// A scriptLibrary is a package of npm that the pages use.
type scriptLibrary struct {
	Name, Version string
	licence       []byte
}

var scriptComment = regexp.MustCompile(`(?s)^/\* (\w+) ([\d.]+): [^\n]*\n\n(.+?)\*/`)

// readScript reads the comment of the script in the tree of a source.
func readScript(root string) (scriptLibrary, error) {
	text, err := os.ReadFile(filepath.Join(root, script))
	if err != nil {
		return scriptLibrary{}, err
	}
	m := scriptComment.FindSubmatch(text)
	if m == nil {
		return scriptLibrary{}, fmt.Errorf("%s does not begin with its name, version and licence", script)
	}
	return scriptLibrary{string(m[1]), string(m[2]), m[3]}, nil
}
