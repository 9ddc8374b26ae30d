package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"pushbox/internal/cli"
)

// shells are those that the program has completions for, with the file extensions of
// the scripts.
var shells = [...]struct{ name, ending string }{{"bash", "bash"}, {"zsh", "zsh"}, {"fish", "fish"}, {"powershell", "ps1"}}

// forPackages reports whether a document is only material for packages: what they run when
// they are installed, and the manual page before it is filled in.
func forPackages(name string) bool {
	return strings.HasPrefix(name, "deploy/package/") || name == "deploy/pushbox.1"
}

// forReaders reports whether a document belongs to the documents of a package. The others have
// places of their own there.
func forReaders(name string) bool {
	other := strings.HasPrefix(name, "completions/") || strings.HasSuffix(name, "LICENSE") || strings.HasSuffix(name, "LICENSES") || name == "pushbox.1"
	return !other && !forPackages(name)
}

// documents returns the files from which archives and packages are made, beside the program.
func (j job) documents(ctx context.Context) (all []file, err error) {
	list, err := run(ctx, j.root, nil, "git", "ls-files", "-z", "-co", "--exclude-standard", "--", "docs", "deploy",
		"README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "config.example.yaml")
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		content, err := j.read(name)
		if err != nil {
			return nil, err
		}
		all = append(all, file{name: name, content: content, mode: fileMode})
	}
	page, err := manual(j.source)
	if err != nil {
		return nil, err
	}
	all = append(all, file{name: "pushbox.1", content: page, mode: fileMode})
	for _, shell := range shells {
		script, err := completion(ctx, shell.name)
		if err != nil {
			return nil, err
		}
		all = append(all, file{name: "completions/pushbox." + shell.ending, content: script, mode: fileMode})
	}
	return all, nil
}

// completion returns the script that `pushbox completion` prints for a shell.
func completion(ctx context.Context, shell string) ([]byte, error) {
	var out, said bytes.Buffer
	if code := cli.Main(ctx, []string{"completion", shell}, os.Stdin, &out, &said, nil); code != 0 {
		return nil, fmt.Errorf("pushbox completion %s ended with %d: %s", shell, code, &said)
	}
	return out.Bytes(), nil
}

// named returns the content of a document.
func (b build) named(name string) ([]byte, error) {
	for _, f := range b.files {
		if f.name == name {
			return f.content, nil
		}
	}
	return nil, fmt.Errorf("there is no %s", name)
}

// content makes the argument of writeFile from bytes.
func content(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}
