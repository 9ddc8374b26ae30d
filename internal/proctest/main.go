// Package proctest runs pushbox in processes of its own, for tests.
package proctest

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"pushbox/internal/cli"
)

// Main runs the tests of a package in the root of the module, with pushbox in the PATH:
// the test binary itself, which is the whole program when it is called by that name, but for
// the example that config init writes.
func Main(m testscript.TestingM) {
	testscript.Main(inRoot{m}, map[string]func(){"pushbox": func() { os.Exit(cli.Run("")) }})
}

// inRoot runs tests in the root of the module.
type inRoot struct{ m testscript.TestingM }

// Run runs the tests and returns the exit code.
func (r inRoot) Run() int {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	if err := os.Chdir(dir); err != nil {
		panic(err)
	}
	return r.m.Run()
}

// An Output keeps what a program writes. It may be read while the program runs.
type Output struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write keeps b.
func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.Write(b)
}

// String is all that was written so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.String()
}
