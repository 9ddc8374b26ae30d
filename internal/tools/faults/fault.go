package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"pushbox/internal/tools/tool"
)

// A fault is a mistake in the code, and the harnesses that must notice it.
type fault struct {
	name  string // in lower case, with dashes
	wrong string // what is wrong with the code then, in a sentence
	by    []harness
	patch string
}

// patches is where the faults are, below the root of the source tree.
const patches = "internal/tools/faults/testdata"

//go:embed testdata/*.patch
var embedded embed.FS

// allFaults returns every fault, in the order of their names.
func allFaults() ([]fault, error) {
	files, err := embedded.ReadDir("testdata")
	if err != nil {
		return nil, err
	}
	var all []fault
	for _, file := range files {
		b, err := embedded.ReadFile("testdata/" + file.Name())
		if err != nil {
			return nil, err
		}
		f, err := parse(strings.TrimSuffix(file.Name(), ".patch"), string(b))
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// The two lines of a fault's head begin with these.
const (
	wrongLine = "Wrong: "
	byLine    = "Caught by: "
)

// parse reads a fault. One without a patch is not refused: record writes it.
func parse(name, text string) (fault, error) {
	f := fault{name: name}
	head, _, _ := strings.Cut(text, "\n\n")
	f.patch = strings.TrimPrefix(text[len(head):], "\n\n")
	wrong, by, ok := strings.Cut(strings.TrimSuffix(head, "\n"), "\n"+byLine)
	f.wrong, _ = strings.CutPrefix(wrong, wrongLine)
	if !ok || f.wrong == wrong || strings.ContainsAny(f.wrong+by, "\n|") {
		return fault{}, fmt.Errorf("%s.patch does not begin with the lines %q and %q, and an empty one", name, wrongLine, byLine)
	}
	for key := range strings.SplitSeq(by, ", ") {
		h, err := findHarness(key)
		if err != nil {
			return fault{}, fmt.Errorf("%s.patch: %w", name, err)
		}
		f.by = append(f.by, h)
	}
	return f, nil
}

// choose returns the faults with those names, or all if there are none.
func choose(all []fault, names []string) ([]fault, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []fault
	for _, name := range names {
		i := slices.IndexFunc(all, func(f fault) bool { return f.name == name })
		if i < 0 {
			return nil, tool.Usagef("there is no fault %q; --list names them", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// noticedBy returns the faults that name a harness, and has it alone notice them.
func noticedBy(faults []fault, name string) (some []fault, err error) {
	h, err := findHarness(name)
	if err != nil {
		return nil, tool.Usagef("%v", err)
	}
	for _, f := range faults {
		if slices.Contains(f.by, h) {
			f.by = []harness{h}
			some = append(some, f)
		}
	}
	return some, nil
}

// apply copies the files that the patch changes from root to dir, with the fault in
// them, and returns their paths below both. It fails if the patch does not fit, or
// fits in more than one place.
func (f fault) apply(ctx context.Context, root, dir string) ([]string, error) {
	if err := f.unique(func(path string) ([]byte, error) { return os.ReadFile(filepath.Join(root, path)) }); err != nil {
		return nil, err
	}
	var paths []string
	for path := range f.hunks() {
		b, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return nil, err
		}
		copied := filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(copied), openDir), os.WriteFile(copied, b, 0o600)); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	if paths == nil {
		return nil, nil
	}
	_, err := git(ctx, dir, f.patch, "apply")
	return paths, err
}

// unique fails where a text that the patch replaces, with its context, is not in its
// file exactly once: git apply would take the nearest of several places.
func (f fault) unique(readFile func(path string) ([]byte, error)) error {
	for path, hunks := range f.hunks() {
		text, err := readFile(path)
		if err != nil {
			return err
		}
		for _, old := range hunks {
			if n := bytes.Count(text, []byte(old)); n != 1 {
				return fmt.Errorf("%s has this text %d times, not once: %s", path, n, brief(old))
			}
		}
	}
	return nil
}

// hunks returns the texts that the patch replaces, with their context, by file.
func (f fault) hunks() map[string][]string {
	hunks := make(map[string][]string)
	var path string
	for line := range strings.Lines(f.patch) {
		last := len(hunks[path]) - 1
		if name, found := strings.CutPrefix(line, "--- a/"); found {
			path = strings.TrimSpace(name)
		} else if strings.HasPrefix(line, "@@ ") {
			hunks[path] = append(hunks[path], "")
		} else if last >= 0 && (line[0] == ' ' || line[0] == '-') {
			hunks[path][last] += line[1:]
		}
	}
	return hunks
}

// git runs git in dir, whose repository is not asked unless dir is its root.
func git(ctx context.Context, dir, in string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
	out, err := cmd.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		return "", fmt.Errorf("git %s: %s", args[0], brief(string(failed.Stderr)))
	}
	return string(out), err
}

// brief puts a text into one line.
func brief(text string) string {
	const most = 120
	text = strings.Join(strings.Fields(text), " ")
	return text[:min(len(text), most)]
}

// moduleRoot returns the root of the module that the working directory is in.
func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	mod := strings.TrimSpace(string(out))
	if filepath.Base(mod) != "go.mod" {
		return "", errors.New("this is not within a Go module; run it in pushbox's source tree")
	}
	return filepath.Dir(mod), nil
}
