package store_test

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"pushbox/store/storetest"
)

// inBatches checks properties n times at least, in subtests of as many as
// -rapid.checks says: -rapid.seed and -run repeat one of them. Each gets its
// property from begin.
func inBatches(t *testing.T, n uint64, begin func(t *testing.T, batch int) (property func(*rapid.T))) {
	t.Helper()
	each := flag.Lookup("rapid.checks").Value.(flag.Getter).Get().(int)
	if testing.Short() {
		each /= 5 // as rapid does
	}
	for batch, done := 0, uint64(0); done < n; batch, done = batch+1, done+uint64(max(1, each)) {
		if !t.Run(strconv.Itoa(batch), func(t *testing.T) { rapid.Check(t, begin(t, batch)) }) {
			return
		}
	}
}

// A scene is a testing.TB for what lasts as long as one check of a property, so
// that a fixture of it fails the check and goes with it.
type scene struct {
	testing.TB
	check *rapid.T
	after []func()
}

func (s *scene) Helper()                           {}
func (s *scene) Errorf(format string, args ...any) { s.check.Errorf(format, args...) }
func (s *scene) Error(args ...any)                 { s.check.Error(args...) }
func (s *scene) Fatalf(format string, args ...any) { s.check.Fatalf(format, args...) }
func (s *scene) Fatal(args ...any)                 { s.check.Fatal(args...) }
func (s *scene) Failed() bool                      { return s.check.Failed() }
func (s *scene) Cleanup(f func())                  { s.after = append(s.after, f) }

// end is to be deferred.
func (s *scene) end() {
	for len(s.after) > 0 {
		last := s.after[len(s.after)-1]
		s.after = s.after[:len(s.after)-1]
		last()
	}
}

// onQuickDisk keeps a store in memory where the system has a file system for that:
// for tests of what it does, not of what survives a loss of power.
func onQuickDisk(t testing.TB) func(*storetest.Setup) {
	const memory = "/dev/shm"
	dir, err := os.MkdirTemp(memory, "pushbox-test-")
	if err != nil {
		return func(*storetest.Setup) {}
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return func(o *storetest.Setup) { o.Engine.Path = filepath.Join(dir, "pushbox.db") }
}
