package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryFileOfAPackageIsThere also holds that a directory for programs gets no
// other, and that what people change is theirs.
func TestEveryFileOfAPackageIsThere(t *testing.T) {
	t.Parallel()
	j, b := job{source: tree(t)}, aBuild(t, targets(t, "linux/riscv64")[0])
	for _, name := range []string{"pushbox.1", "completions/pushbox.bash", "completions/pushbox.fish", "completions/pushbox.zsh"} {
		b.files = append(b.files, file{name: name, content: []byte(name)})
	}
	for kind, files := range map[string][]installed{"deb": debianFiles(), "rpm": redHatFiles()} {
		seen := make(map[string]installed)
		for _, f := range files {
			if _, again := seen[f.path]; again {
				t.Errorf("%s: %s is there twice", kind, f.path)
			}
			seen[f.path] = f
			if content, err := f.content(j, b); err != nil || len(content) == 0 {
				t.Errorf("%s: %s: %d bytes, %v", kind, f.path, len(content), err)
			}
			if program, settings := strings.HasPrefix(f.path, "/usr/bin/"), strings.HasPrefix(f.path, "/etc/"); program != (f.mode == programMode) || settings != (f.kind == "config|noreplace") {
				t.Errorf("%s: %s has mode %o and kind %q", kind, f.path, f.mode, f.kind)
			}
		}
		for _, must := range []string{"/usr/bin/pushbox", "/etc/pushbox/config.yaml", "/usr/lib/systemd/system/pushbox.service"} {
			if _, ok := seen[must]; !ok {
				t.Errorf("%s: %s is missing", kind, must)
			}
		}
	}
	for _, r := range []recipe{j.debian(b), j.redHat(b)} {
		for _, script := range []string{r.Scripts.PostInstall, r.Scripts.PreRemove, r.Scripts.PostRemove} {
			if said, err := exec.CommandContext(t.Context(), "sh", "-n", script).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", filepath.Base(script), err, said)
			}
		}
	}
}

// TestTheDrillRunsWhatTheManualSays: each line that docs/install.md has for Debian
// is one of the drill, but for those that say where the package is or look at a log.
func TestTheDrillRunsWhatTheManualSays(t *testing.T) {
	t.Parallel()
	drill := string(read(t, "testdata/drill.sh"))
	drill = strings.NewReplacer("$config", "/etc/pushbox/config.yaml", "echo 'at least ten characters' | ", "", " --password-stdin", "", " >/dev/null", "").Replace(drill)
	_, text, _ := strings.Cut(string(read(t, "../../docs/install.md")), "\n## Debian")
	text, _, _ = strings.Cut(text, "\n## In a container")
	elsewhere := regexp.MustCompile(`^(apt-get install|dnf|systemctl enable|journalctl) |^rm /etc/credstore/`)
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
	if ran < 28 {
		t.Errorf("only %d lines were looked for", ran)
	}
}
