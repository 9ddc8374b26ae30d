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
	f := env.Must(os.Create(filepath.Join(t.TempDir(), "stream")))(t)
	defer f.Close()
	info := env.Must(f.Stat())(t)
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
