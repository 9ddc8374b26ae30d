package docs

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
)

// TestTheFlakeHasTheHashOfTheModules computes what buildGoModule compares: the hash of the modules that
// `go mod vendor` copies, as an archive of Nix (NAR).
func TestTheFlakeHasTheHashOfTheModules(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "vendor")
	cmd := exec.CommandContext(t.Context(), "go", "mod", "vendor", "-o", dir)
	cmd.Dir, cmd.Env = absolute(t, "."), append(proctest.Environ(), "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	sum := sha256.New()
	narText(sum, "nix-archive-1")
	narOf(t, sum, dir)
	flake := string(readFile(t, "deploy/nix/flake.nix"))
	env.Contains(t, "the flake", flake, `vendorHash = "sha256-`+base64.StdEncoding.EncodeToString(sum.Sum(nil))+`"`)
	version := regexp.MustCompile(`release = "([\d.]+)"`).FindSubmatch(readFile(t, "internal/cli/version.go"))
	env.Contains(t, "the flake", flake, fmt.Sprintf("version = %q", version[1]))
	nix := proctest.Installed(t, "nix-instantiate", "nix-bin")
	if out, err := exec.CommandContext(t.Context(), nix, "--parse", absolute(t, "deploy/nix/flake.nix")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// narOf writes a file or a directory as Nix archives it. Files of modules are never programs or links.
func narOf(t *testing.T, w io.Writer, path string) {
	t.Helper()
	narText(w, "(", "type")
	if info := env.Must(os.Lstat(path))(t); !info.IsDir() {
		narText(w, "regular", "contents", string(env.Read(t, path)), ")")
		return
	}
	narText(w, "directory")
	for _, e := range env.Must(os.ReadDir(path))(t) { // in the order of their names
		narText(w, "entry", "(", "name", e.Name(), "node")
		narOf(t, w, filepath.Join(path, e.Name()))
		narText(w, ")")
	}
	narText(w, ")")
}

// narText writes texts, each with its length and padded to 8 bytes.
func narText(w io.Writer, texts ...string) {
	for _, s := range texts {
		b := binary.LittleEndian.AppendUint64(nil, uint64(len(s)))
		b = append(b, s...)
		_, _ = w.Write(append(b, make([]byte, -len(s)&7)...)) // a hash takes everything
	}
}
