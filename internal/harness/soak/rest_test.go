package soak

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/internal/admin"
	"pushbox/internal/proctest"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
)

const (
	moreStacks    = 2       // goroutines more than in an idle server: a sweep may run
	emptyFile     = 1 << 20 // bytes; more than an empty file takes
	bytesOfRecord = 3 << 10 // bytes that the record and the audit log of an expired push take
	exitOfSIGQUIT = 2
)

// String is what the load did.
func (s *soak) String() string {
	return fmt.Sprintf("%d pushes (%d more left out), %d views, %d downloads, %d pages, %d expired by time",
		s.made.Load(), s.late, s.views.Load(), s.downloads.Load(), s.pages.Load(), s.expired.Load())
}

// idleStacks are the goroutines of a server that has only answered that it is ready:
// all of them have begun then.
func idleStacks(t *testing.T) []string {
	t.Helper()
	server := proctest.StartServer(t, t.TempDir())
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: proctest.Patience}
	res := env.Must(c.Get(server.URL + "/healthz"))(t)
	env.Must(io.Copy(io.Discard, res.Body))(t)
	env.OK(t, res.Body.Close())
	return stacksOf(t, server)
}

// stacksOf ends a server with SIGQUIT, which prints its goroutines, and returns the
// start function of each, except those of Go's runtime.
func stacksOf(t *testing.T, v *proctest.Server) (names []string) {
	t.Helper()
	if wrong := v.Errors(); len(wrong) > 0 {
		t.Errorf("in its log: %q", wrong)
	}
	code, err := v.Signal("QUIT")
	if err != nil || code != exitOfSIGQUIT {
		t.Fatalf("%v, exit code %d", err, code)
	}
	_, dump, _ := strings.Cut(v.Log(), "SIGQUIT: quit")
	begins := regexp.MustCompile(`(?m)^goroutine [1-9][0-9]* .*:$`)
	for _, at := range begins.FindAllStringIndex(dump, -1) {
		stack, _, _ := strings.Cut(dump[at[0]:], "\n\n")
		if name := startedAs(stack); !strings.HasPrefix(name, "runtime.") { // those come and go with garbage collection
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Error("no goroutine was printed")
	}
	slices.Sort(names)
	return names
}

// startedAs is the function that started the goroutine of a stack, or its outermost
// function.
func startedAs(stack string) string {
	lines := strings.Split(strings.TrimSpace(stack), "\n")
	for _, line := range lines {
		if by, ok := strings.CutPrefix(line, "created by "); ok {
			by, _, _ = strings.Cut(by, " in goroutine")
			return by
		}
	}
	name, _, _ := strings.Cut(lines[max(0, len(lines)-2)], "(")
	return name
}

// verifyStacks ends the server, and fails the test if it had more goroutines than an
// idle server.
func (s *soak) verifyStacks() {
	s.t.Helper()
	now := stacksOf(s.t, s.server)
	s.t.Logf("%d goroutines, %d in an idle server: %v", len(now), len(s.idle), count(now))
	if len(now) > len(s.idle)+moreStacks {
		s.t.Errorf("P12: goroutines are left: %v, instead of %v", count(now), count(s.idle))
	}
}

func count(names []string) map[string]int {
	n := make(map[string]int)
	for _, name := range names {
		n[name]++
	}
	return n
}

// compact lets the server compact its file, which it would not do by itself for so
// little.
func (s *soak) compact() {
	s.t.Helper()
	client, err := admin.NewClient(admin.SocketPath(filepath.Join(s.dir, "data")))
	if err == nil {
		_, err = admin.Compact.Call(s.t.Context(), client, admin.None{})
	}
	if err != nil {
		s.t.Error(err)
	}
}

// verifyFile checks the file on the disk: it is sound, and has only the records of
// pushes that have ended and files that still have a grant.
func (s *soak) verifyFile(w *monitor) {
	s.t.Helper()
	proctest.CheckFile(s.t, s.dir)
	records, stored := int64(0), int64(0)
	proctest.WithStore(s.t, s.dir, func(st *store.Store, e record.Engine) error {
		ids, err := e.Orphans(s.t.Context(), record.ID{}, 1)
		if len(ids) > 0 {
			s.t.Error("P9: chunks are left")
		}
		for last := (record.ID{}); err == nil; {
			var ps []record.Push
			if ps, err = e.Scan(s.t.Context(), last, 1000); len(ps) == 0 {
				break
			}
			for _, p := range ps {
				if p.Live() {
					s.t.Error("P1, P12: a push that should have ended is live")
				}
				stored += p.Stored
			}
			records, last = records+int64(len(ps)), ps[len(ps)-1].ID
		}
		return err
	})
	s.t.Logf("after a compaction: %d records, and %d KiB of files, in %d KiB", records, stored>>10, w.last.file>>10)
	if most := emptyFile + records*bytesOfRecord + stored*9/8; w.last.file > most {
		s.t.Errorf("P12: the file has %d bytes for %d records and %d bytes of files", w.last.file, records, stored)
	}
	s.verifyFiles()
}

// verifyFiles checks that no other files are left in the directories.
func (s *soak) verifyFiles() {
	s.t.Helper()
	in, err := os.ReadDir(filepath.Join(s.dir, "data"))
	temp, tempErr := os.ReadDir(s.temp())
	err = errors.Join(err, tempErr)
	env.OK(s.t, err)
	names := make(map[string]bool)
	for _, f := range append(in, temp...) {
		names[f.Name()] = true
	}
	delete(names, "control.sock") // of a server that was killed
	if want := map[string]bool{"master.key": true, "pushbox.db": true}; !maps.Equal(names, want) {
		s.t.Errorf("P8, P12: there are %v", slices.Sorted(maps.Keys(names)))
	}
}
