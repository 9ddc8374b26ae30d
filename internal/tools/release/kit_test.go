package main

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// tree is the source tree of these tests.
func tree(t *testing.T) source {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return source{root: root, version: "1.2.3", commit: "0123456789abcdef", time: time.Unix(1_700_000_000, 0).UTC()}
}

// aBuild returns a build for a target. Its build information is that of the test's own
// binary.
func aBuild(t *testing.T, of target) build {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), of.program())
	if err := os.WriteFile(path, []byte("the program for "+of.String()), programMode); err != nil {
		t.Fatal(err)
	}
	return build{target: of, path: path, info: info, files: []file{
		{name: "LICENSE", content: []byte("own conditions"), mode: fileMode},
		{name: "README.md", content: []byte("read me"), mode: fileMode},
		{name: "THIRD-PARTY-LICENSES", content: []byte("their conditions"), mode: fileMode},
	}}
}

// targets returns the targets with these names.
func targets(t *testing.T, names ...string) []target {
	t.Helper()
	var o options
	for _, name := range names {
		if err := o.addTarget(name); err != nil {
			t.Fatal(err)
		}
	}
	return o.targets
}
