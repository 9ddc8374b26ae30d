package storetest

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// CheckInBatches checks properties at least n times, in numbered subtests of
// -rapid.checks checks each, so that -rapid.seed and -run can repeat one of them.
// begin makes the property of a subtest. A package that calls it has SmallBatches in its
// TestMain.
func CheckInBatches(t *testing.T, n uint64, begin func(t *testing.T, batch int) (property func(*rapid.T))) {
	t.Helper()
	each := flag.Lookup("rapid.checks").Value.(flag.Getter).Get().(int)
	for batch, done := 0, uint64(0); done < n; batch, done = batch+1, done+uint64(max(1, each)) {
		if !t.Run(strconv.Itoa(batch), func(t *testing.T) { rapid.Check(t, begin(t, batch)) }) {
			return
		}
	}
}

// SmallBatches has rapid make ten checks at a time, unless its flag says otherwise, so that a few
// more checks do not become a hundred.
func SmallBatches() error { return flag.Set("rapid.checks", "10") }

// A Property is a testing.TB that lasts for one check of a property: a fixture that is
// made with it fails that check and is closed when the check ends.
type Property struct {
	testing.TB
	check *rapid.T
	after []func()
}

// NewProperty is the testing.TB of one check within t. The caller defers End.
func NewProperty(t testing.TB, check *rapid.T) *Property { return &Property{TB: t, check: check} }

func (p *Property) Helper()                           {}
func (p *Property) Errorf(format string, args ...any) { p.check.Errorf(format, args...) }
func (p *Property) Error(args ...any)                 { p.check.Error(args...) }
func (p *Property) Fatalf(format string, args ...any) { p.check.Fatalf(format, args...) }
func (p *Property) Fatal(args ...any)                 { p.check.Fatal(args...) }
func (p *Property) Failed() bool                      { return p.check.Failed() }
func (p *Property) Cleanup(f func())                  { p.after = append(p.after, f) }

// End runs what Cleanup registered, last first.
func (p *Property) End() {
	for len(p.after) > 0 {
		last := p.after[len(p.after)-1]
		p.after = p.after[:len(p.after)-1]
		last()
	}
}

// InMemory puts the database on a file system in memory where the system has one: for
// tests of what a store does, not of what survives a loss of power.
func InMemory(t testing.TB) func(*Setup) {
	dir, err := os.MkdirTemp("/dev/shm", "pushbox-test-")
	if err != nil {
		return func(*Setup) {}
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return func(o *Setup) { o.Engine.Path = filepath.Join(dir, "pushbox.db") }
}
