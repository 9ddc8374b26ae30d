package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"pushbox/internal/testkit/env"
)

func TestAnArchiveHasItsFilesAndNoTraceOfTheBuild(t *testing.T) {
	t.Parallel()
	j, b := aJob(t), aBuild(t, "windows/amd64")
	for _, name := range []string{"deploy/package/nfpm.yaml", "deploy/pushbox.1", "pushbox.1"} { // the last one is filled in
		b.files[name] = document(nil)
	}
	env.OK(t, j.archive(b))
	z, err := gzip.NewReader(bytes.NewReader(read(t, j.dist, "pushbox-1.2.3-windows-amd64.tar.gz")))
	if err != nil || z.Name != "" || !z.ModTime.IsZero() {
		t.Fatalf("the gzip header has a time or a name: %+v, %v", z.Header, err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.ModTime.Unix() != 1_700_000_000 {
			t.Errorf("%s has an owner or a time: %+v", h.Name, h)
		}
		if program := strings.HasSuffix(h.Name, ".exe"); program != (h.Mode == programMode) {
			t.Errorf("%s: mode %o", h.Name, h.Mode)
		}
	}
	const stem = "pushbox-1.2.3-windows-amd64/"
	if want := []string{stem + "LICENSE", stem + "README.md", stem + "THIRD-PARTY-LICENSES", stem + "pushbox.1", stem + "pushbox.exe"}; !slices.Equal(names, want) {
		t.Errorf("%q, not %q", names, want)
	}
}

func TestSha256sumAcceptsTheSums(t *testing.T) {
	t.Parallel()
	j := aJob(t)
	write(t, "abc", j.dist, "b")
	write(t, "abc", j.dist, "a")
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got, err := j.sums(); err != nil || got != abc+"  a\n"+abc+"  b\n" || got != string(read(t, j.dist, sumsName)) {
		t.Errorf("%q, %v", got, err)
	}
	if program, err := exec.LookPath("sha256sum"); err == nil {
		cmd := exec.CommandContext(t.Context(), program, "--check", "--strict", sumsName)
		cmd.Dir = j.dist
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, said)
		}
	}
}

func TestTwoReleasesAreCompared(t *testing.T) {
	t.Parallel()
	const one, other = "1  same\n2  differs\n", "1  same\n3  differs\n4  more\n"
	if differ := difference(one, one); len(differ) > 0 {
		t.Errorf("%q", differ)
	}
	if differ := difference(one, other); !slices.Equal(differ, []string{"2  differs", "3  differs", "4  more"}) {
		t.Errorf("%q", differ)
	}
}

// TestEveryFileOfAPackageExists also checks that only programs go into directories of
// programs, and that upgrades keep the settings that the administrator edited.
func TestEveryFileOfAPackageExists(t *testing.T) {
	t.Parallel()
	j, b, dir := aJob(t), aBuild(t, "linux/riscv64"), t.TempDir()
	documents := env.Must(j.documents(t.Context()))(t)
	maps.Copy(b.files, documents)
	env.OK(t, j.staged(b).writeBelow(dir))
	var recipe struct {
		Contents  []struct{ Packager, Src, Dst, Type string }
		Overrides map[string]struct{ Scripts map[string]string }
	}
	env.OK(t, yaml.Unmarshal(read(t, dir, "rpm.yaml"), &recipe))
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
