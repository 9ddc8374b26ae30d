//go:build unix

package sdnotify_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pushbox/internal/sdnotify"
	"pushbox/internal/testkit/env"
)

func TestOnlyTheStreamOfTheJournalIsTheJournal(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "stream"))
	env.OK(t, err)
	defer f.Close()
	info, err := f.Stat()
	env.OK(t, err)
	s := info.Sys().(*syscall.Stat_t)
	right := fmt.Sprintf("JOURNAL_STREAM=%d:%d", s.Dev, s.Ino)
	for value, want := range map[string]bool{
		right: true, fmt.Sprintf("JOURNAL_STREAM=%d:%d", s.Dev, s.Ino+1): false, "JOURNAL_STREAM=": false, "OTHER=1": false,
	} {
		env.Equal(t, value, sdnotify.IsJournal(f, []string{value}), want)
	}
	if sdnotify.IsJournal(new(bytes.Buffer), []string{right}) {
		t.Error("a buffer is the journal")
	}
}
