package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMinisignVerifiesTheSignature follows docs/install.md.
func TestMinisignVerifiesTheSignature(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("minisign"); err != nil {
		t.Skip("there is no minisign")
	}
	dir := t.TempDir()
	key, public, sums := filepath.Join(dir, "pushbox.key"), filepath.Join(dir, "minisign.pub"), filepath.Join(dir, sumsName)
	do(t, "minisign", "-G", "-W", "-s", key, "-p", public)
	if err := os.WriteFile(sums, []byte("the sums\n"), fileMode); err != nil {
		t.Fatal(err)
	}
	var notes strings.Builder
	name, err := sign(t.Context(), tree(t), options{dist: dir, sign: key}, strings.NewReader(""), &notes)
	if err != nil || name != "SHA256SUMS.minisig" {
		t.Fatalf("%q, %v", name, err)
	}
	if said := do(t, "minisign", "-V", "-p", public, "-m", sums); !strings.Contains(said, "pushbox 1.2.3, commit 0123456789abcdef") {
		t.Errorf("it says %s", said)
	}
	if err := os.WriteFile(sums, []byte("other sums\n"), fileMode); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), "minisign", "-V", "-p", public, "-m", sums).CombinedOutput(); err == nil {
		t.Errorf("other sums are accepted: %s", said)
	}
	if _, err := sign(t.Context(), tree(t), options{dist: dir, sign: key + "x"}, strings.NewReader(""), &notes); err == nil || !strings.Contains(err.Error(), "minisign") {
		t.Errorf("without a key: %v", err)
	}
}

// do runs a program that must not fail, and returns its output.
func do(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}
