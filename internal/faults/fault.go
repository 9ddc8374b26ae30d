package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pushbox/internal/tool"
)

// A fault is a mistake that somebody could make, and who must notice it.
type fault struct {
	name  string // in lower case, with dashes
	says  string // what is wrong with the code then, in a sentence
	edits []edit
	by    []harness // the first must notice it; another has its turn where chance kept that from it
}

// An edit is a text that stands in a file exactly once, and the one in its place.
type edit struct{ file, old, new string }

// allFaults are the faults that can be seeded.
func allFaults() []fault {
	return slices.Concat(ruleFaults(), commitFaults(), journalFaults(), diskFaults(), timeFaults(), fileFaults(), accessFaults(), keepFaults())
}

// choose returns the faults of those names, all where there are none.
func choose(all []fault, names []string) ([]fault, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []fault
	for _, name := range names {
		i := slices.IndexFunc(all, func(f fault) bool { return f.name == name })
		if i < 0 {
			return nil, tool.UsageError(fmt.Sprintf("there is no fault %q; --list has them", name))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// patched returns the files that the fault changes, by their path below root, as
// they are then. It fails where a text is not there, or more than once: then the
// code has changed, and the fault must follow it.
func (f fault) patched(root string) (map[string]string, error) {
	files := make(map[string]string)
	for _, e := range f.edits {
		text, read := files[e.file]
		if !read {
			b, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return nil, err
			}
			text = string(b)
		}
		if n := strings.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("%s has this text %d times, not once: %s", e.file, n, brief(e.old))
		}
		files[e.file] = strings.Replace(text, e.old, e.new, 1)
	}
	return files, nil
}

// brief is a text of code in one line.
func brief(text string) string {
	const most = 120
	text = strings.Join(strings.Fields(text), " ")
	return text[:min(len(text), most)]
}

// moduleRoot is the directory of the module that the working directory is in.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("this is not within a Go module; run it in pushbox's source tree")
		}
		dir = up
	}
}
