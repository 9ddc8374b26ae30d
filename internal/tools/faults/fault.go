package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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

// choose returns the faults with those names, or all if there are none, in the order of
// their names. If by is not empty, these are only the faults that name this harness, which
// alone must notice them then.
func choose(root string, names []string, by string) (chosen []fault, err error) {
	if len(names) == 0 {
		names, err = filepath.Glob(filepath.Join(root, patches, "*.patch"))
		if err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		f, err := load(root, strings.TrimSuffix(filepath.Base(name), ".patch"))
		if err != nil {
			return nil, err
		}
		if by != "" {
			f.by = slices.DeleteFunc(f.by, func(h harness) bool { return h.name != by })
		}
		if len(f.by) > 0 {
			chosen = append(chosen, f)
		}
	}
	if len(chosen) == 0 {
		return nil, tool.Usagef("none of these faults names the harness %q", by)
	}
	return chosen, nil
}

// The two lines of a fault's head begin with these.
const (
	wrongLine = "Wrong: "
	byLine    = "Caught by: "
)

func load(root, name string) (fault, error) {
	text, err := os.ReadFile(filepath.Join(root, patches, name+".patch"))
	if errors.Is(err, fs.ErrNotExist) {
		return fault{}, tool.Usagef("there is no fault %q; --list names them; write the two lines of a new one first: see %s", name, filepath.Dir(patches))
	} else if err != nil {
		return fault{}, err
	}
	f := fault{name: name}
	head, patch, _ := strings.Cut(string(text), "\n\n")
	f.patch = patch
	wrong, by, ok := strings.Cut(head, "\n"+byLine)
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

// seed returns the files that the patch changes, with the fault in them, by their paths. Each
// text that the patch replaces, with its context, must be in its file exactly once: git apply
// would take the nearest of several places.
func (f fault) seed(readFile func(path string) ([]byte, error)) (map[string]string, error) {
	changed := make(map[string]string)
	for path, hunks := range f.hunks() {
		b, err := readFile(path)
		if err != nil {
			return nil, err
		}
		text := "\n" + string(b)
		for _, h := range hunks {
			n := strings.Count(text, h.old)
			if n != 1 || !strings.Contains(text, "\n"+h.old) {
				return nil, fmt.Errorf("%s has these lines %d times, not once: %s", path, n, brief(h.old))
			}
			text = strings.Replace(text, h.old, h.new, 1)
		}
		changed[path] = text[1:]
	}
	return changed, nil
}

type hunk struct{ old, new string }

func (f fault) hunks() map[string][]hunk {
	hunks := make(map[string][]hunk)
	var path string
	for line := range strings.Lines(f.patch) {
		last := len(hunks[path]) - 1
		if name, found := strings.CutPrefix(line, "--- a/"); found {
			path = strings.TrimSpace(name)
		} else if strings.HasPrefix(line, "@@ ") {
			hunks[path] = append(hunks[path], hunk{})
		} else if last >= 0 && strings.ContainsAny(line[:1], " -+") {
			h := &hunks[path][last]
			if line[0] != '+' {
				h.old += line[1:]
			}
			if line[0] != '-' {
				h.new += line[1:]
			}
		}
	}
	return hunks
}

// brief puts a text into one line, and limits it to about two lines of a terminal.
func brief(text string) string {
	const most = 240
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + " ..."
	}
	return text
}
