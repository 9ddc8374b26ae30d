package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"

	"pushbox/internal/cli"
)

// shells are those that the program has completions for, with the file extensions of
// the scripts.
var shells = map[string]string{"bash": "bash", "zsh": "zsh", "fish": "fish", "powershell": "ps1"}

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

func (j job) documents(ctx context.Context) (files, error) {
	all, err := j.read(ctx, "docs", "deploy", "config.example.yaml", "LICENSE",
		"README.md", "CHANGELOG.md", "SECURITY.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
	if err != nil {
		return nil, err
	}
	for name, f := range all {
		all[name] = document(f.content)
	}
	all["pushbox.1"] = document(j.manual(all))
	for shell, ending := range shells {
		var script, said bytes.Buffer
		if code := cli.Main(ctx, []string{"completion", shell}, os.Stdin, &script, &said, nil); code != 0 {
			return nil, fmt.Errorf("pushbox completion %s ended with %d: %s", shell, code, &said)
		}
		all["completions/pushbox."+ending] = document(script.Bytes())
	}
	return all, nil
}

// licences returns the licences of everything that is compiled into the program: Go, each
// module and the script. Most of them require that their text goes with the program.
func (j job) licences(ctx context.Context, info *debug.BuildInfo) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "pushbox %s contains the following, under these licences.\n", j.version)
	root, err := run(ctx, j.root, nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := addLicences(&out, "Go "+strings.TrimPrefix(info.GoVersion, "go"), root); err != nil {
		return nil, err
	}
	script, version, licence, err := j.script()
	if err != nil {
		return nil, err
	}
	addLicence(&out, script+" "+version, "npm", licence)
	args := []string{"mod", "download", "-json"}
	for _, m := range info.Deps {
		args = append(args, m.Path+"@"+m.Version)
	}
	list, err := run(ctx, j.root, j.environ, "go", args...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(strings.NewReader(list)); d.More(); {
		var m struct{ Path, Version, Dir string }
		if err := d.Decode(&m); err != nil {
			return nil, err
		}
		if err := addLicences(&out, m.Path+" "+m.Version, m.Dir); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// licenceName matches the names of licence files in modules.
var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|unlicense)([-.].*)?$`)

func addLicences(out *bytes.Buffer, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	before := out.Len()
	for _, e := range entries {
		if !licenceName.MatchString(e.Name()) || e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		addLicence(out, name, e.Name(), string(text))
	}
	if out.Len() == before {
		return fmt.Errorf("%s has no licence in %s: find out its licence before you publish it", name, dir)
	}
	return nil
}

func addLicence(out *bytes.Buffer, name, source, text string) {
	fmt.Fprintf(out, "\n%s\n%s (%s)\n\n%s\n", strings.Repeat("=", 78), name, source, strings.TrimSpace(text))
}

// scriptComment is the first comment of a script of the pages, with its name, version and licence.
var scriptComment = regexp.MustCompile(`(?s)^/\* (\w+) ([\d.]+): [^\n]*\n\n(.+?)\*/`)

func (s source) script() (name, version, licence string, err error) {
	const path = "server/web/static/uqr.js"
	text, err := os.ReadFile(filepath.Join(s.root, path))
	if err != nil {
		return "", "", "", err
	}
	m := scriptComment.FindStringSubmatch(string(text))
	if m == nil {
		return "", "", "", fmt.Errorf("%s does not begin with its name, version and licence", path)
	}
	return m[1], m[2], m[3], nil
}

func (s source) manual(documents files) []byte {
	places := strings.NewReplacer(
		"@VERSION@", s.version, "@DATE@", s.time.Format("2006-01-02"),
		"@COMMANDS@\n", commands(cli.Pages()), "@EXIT_CODES@\n", exitCodes(string(documents["docs/operating.md"].content)),
	)
	return []byte(places.Replace(string(documents["deploy/pushbox.1"].content)))
}

// commands returns the sections of all commands. The first page is that of pushbox
// itself; only its flags are used, since every command has them.
func commands(pages []cli.Page) string {
	var out strings.Builder
	fmt.Fprintf(&out, ".SS Flags of every command\n%s", strings.TrimPrefix(verbatim(pages[0].Flags), ".PP\n"))
	for _, p := range pages[1:] {
		fmt.Fprintf(&out, ".SS %s\n%s.\n", roff(strings.TrimPrefix(p.Path, "pushbox ")), roff(p.Short))
		fmt.Fprintf(&out, ".PP\n.B %s\n", roff(p.Usage))
		for paragraph := range strings.SplitSeq(p.Long, "\n\n") {
			if strings.HasPrefix(paragraph, " ") { // its lines stay as they are
				out.WriteString(verbatim(paragraph))
			} else if paragraph != "" {
				fmt.Fprintf(&out, ".PP\n%s\n", roff(paragraph))
			}
		}
		out.WriteString(verbatim(p.Flags) + verbatim(p.Example))
	}
	return out.String()
}

// verbatim formats text whose lines must neither be broken nor filled. Of the indentation
// that all lines have, two spaces are left.
func verbatim(text string) string {
	if text = strings.Trim(text, "\n"); text == "" {
		return ""
	}
	least := len(text)
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" {
			least = min(least, len(line)-len(strings.TrimLeft(line, " ")))
		}
	}
	text = strings.ReplaceAll("\n"+text, "\n"+strings.Repeat(" ", least), "\n  ")
	return ".PP\n.nf" + roff(text) + "\n.fi\n"
}

// roff escapes text for a formatter of manual pages.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'").Replace("\n" + text)
	return text[1:]
}

var exitCode = regexp.MustCompile(`(?m)^\| (\d+) \| (.+) \|$`)

// exitCodes returns the rows of the table in the section "Exit codes".
func exitCodes(operating string) string {
	_, section, _ := strings.Cut(operating, "\n## Exit codes\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var out strings.Builder
	for _, row := range exitCode.FindAllStringSubmatch(section, -1) {
		fmt.Fprintf(&out, ".TP\n.B %s\n%s\n", row[1], roff(strings.ReplaceAll(row[2], "`", "")))
	}
	return out.String()
}
