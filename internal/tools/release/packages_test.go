package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestEveryFileOfAPackageExists also checks that only programs go into directories of
// programs, and that upgrades keep the settings that the administrator edited.
func TestEveryFileOfAPackageExists(t *testing.T) {
	t.Parallel()
	j, b, dir := job{source: tree(t)}, aBuild(t, targets(t, "linux/riscv64")[0]), t.TempDir()
	documents, err := j.documents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.files = append(documents, file{name: "THIRD-PARTY-LICENSES", content: []byte("their conditions"), mode: fileMode})
	if err := j.stage(dir, b); err != nil {
		t.Fatal(err)
	}
	var recipe struct {
		Contents  []struct{ Packager, Src, Dst, Type string }
		Overrides map[string]struct{ Scripts map[string]string }
	}
	if err := yaml.Unmarshal(read(t, filepath.Join(dir, "deploy/package/nfpm.yaml")), &recipe); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"deb", "rpm"} {
		seen := make(map[string]bool)
		for _, f := range recipe.Contents {
			if f.Packager != "" && f.Packager != kind {
				continue
			}
			if seen[f.Dst] {
				t.Errorf("%s: %s is there twice", kind, f.Dst)
			}
			seen[f.Dst] = true
			if documents, isTree := strings.CutSuffix(f.Src, "/**"); isTree {
				f.Src = documents + "/docs/install.md"
				if strings.HasSuffix(f.Dst, "/") {
					t.Errorf("%s: nfpm takes the directories out of what it puts into %s", kind, f.Dst)
				}
			}
			info, err := os.Stat(filepath.Join(dir, f.Src))
			if err != nil || info.Size() == 0 {
				t.Errorf("%s: %s has no content: %v", kind, f.Dst, err)
				continue
			}
			if program, settings := strings.HasPrefix(f.Dst, "/usr/bin/"), strings.HasPrefix(f.Dst, "/etc/"); program != (info.Mode() == programMode) || settings != (f.Type == "config|noreplace") {
				t.Errorf("%s: %s has mode %o and type %q", kind, f.Dst, info.Mode(), f.Type)
			}
		}
		settings := map[string]string{"deb": "/usr/share/pushbox/config.yaml", "rpm": "/etc/pushbox/config.yaml"}[kind]
		for _, must := range []string{"/usr/bin/pushbox", settings, "/usr/lib/systemd/system/pushbox.service"} {
			if !seen[must] {
				t.Errorf("%s: %s is missing", kind, must)
			}
		}
		for _, event := range []string{"postinstall", "preremove", "postremove"} {
			script := recipe.Overrides[kind].Scripts[event]
			if said, err := exec.CommandContext(t.Context(), "sh", "-n", filepath.Join(dir, script)).CombinedOutput(); script == "" || err != nil {
				t.Errorf("%s: %s %q: %v\n%s", kind, event, script, err, said)
			}
		}
	}
}

// TestTheDrillRunsTheCommandsOfTheManual: the drill runs each command that
// docs/install.md has for Debian, except those that fetch the package or show a log.
func TestTheDrillRunsTheCommandsOfTheManual(t *testing.T) {
	t.Parallel()
	drill := string(read(t, "testdata/drill.sh"))
	drill = strings.NewReplacer("$config", "/etc/pushbox/config.yaml", "echo 'at least ten characters' | ", "", " --password-stdin", "", " >/dev/null", "").Replace(drill)
	_, text, _ := strings.Cut(string(read(t, "../../../docs/install.md")), "\n## Debian")
	text, _, _ = strings.Cut(text, "\n## In a container")
	elsewhere := regexp.MustCompile(`^(apt-get install|dnf|systemctl enable|journalctl) `)
	ran := 0
	for _, block := range strings.Split(text, "```sh\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for line := range strings.Lines(block) {
			if elsewhere.MatchString(line) {
				continue
			}
			ran++
			if !strings.Contains(drill, "\n"+line) {
				t.Errorf("the drill does not do: %s", line)
			}
		}
	}
	if ran < 29 {
		t.Errorf("only %d lines were checked", ran)
	}
}
