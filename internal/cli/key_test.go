package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/unnamed"
	"pushbox/store/record"
)

func TestAKeyThatCannotBeComparedIsExportedWithAWord(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	env.OK(t, os.WriteFile(filepath.Join(dir, "pushbox.db"), []byte("damaged"), 0o600))
	r := run(t, dir, "", "key", "export").want(t, exitDone, "the key could not be compared with the database's", "the database is damaged")
	env.Contains(t, "it wrote", r.stdout, "\n4: ")
}

// What waits beside the key file stays if it is not a key, and the commands name it.
func TestWhatWaitsBesideTheKeyAndIsNoKeyStays(t *testing.T) {
	t.Parallel()
	dir := withAlice(t)
	next := filepath.Join(dir, "master.key.next")
	env.OK(t, os.WriteFile(next, []byte("?"), 0o600))
	run(t, dir, "", "user", "list").want(t, exitDone, "a rotation of the master key was interrupted, and cannot be finished", "master.key.next")
	run(t, dir, "", "key", "rotate").want(t, exitFailed, "master.key.next")
	if b, err := os.ReadFile(next); err != nil || string(b) != "?" {
		t.Errorf("it is %q now, %v", b, err)
	}
}

// A rotation that fails late has removed the databases that upgrades kept, since these may
// take the room that it lacks, and says that another rotation is needed.
func TestARotationThatFailsLateSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flags []string
		err   error
		want  string
	}{
		{nil, fmt.Errorf("%w: the copy needs 36 MiB", record.ErrFull), ", in /"},
		{nil, record.ErrFull, "then run `pushbox key rotate` again"},
		{[]string{"--discard-old"}, record.ErrFull, "then run `pushbox key rotate --discard-old` again"},
		{nil, record.ErrBusy, "hint: run `pushbox key rotate` again to continue with the new key, when there are fewer writes or the backup has ended"},
		{nil, context.Canceled, "hint: it was interrupted; the server finishes sealing with the new key, at its next start at the latest; run `pushbox key rotate` again"},
	} {
		dir := serveCompacting(t, func(context.Context, func(done, total int64)) error { return test.err })
		kept := filepath.Join(dir, "pushbox.db.schema5")
		env.OK(t, os.WriteFile(kept, []byte("old"), 0o600))
		r := run(t, dir, "", append([]string{"key", "rotate"}, test.flags...)...).want(t, exitFailed, test.err.Error(), test.want)
		if strings.Contains(r.stderr, "at most") {
			t.Errorf("it names another size than the error does: %s", r.stderr)
		}
		if _, err := os.Stat(kept); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: the old database: %v", test.err, err)
		}
	}
}

// A deep check lists what an ordinary one does not find.
func TestADeepCheckFindsAChangedChunk(t *testing.T) {
	t.Parallel()
	dir := env.ShortDir(t)
	const golden = "../../testdata/databases/schema-5/"
	for _, name := range []string{"pushbox.db", "master.key"} {
		b := env.Read(t, golden+name)
		if name == "pushbox.db" {
			b[largestRun(b)] ^= 1
		}
		env.OK(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	run(t, dir, "", "compact").want(t, exitDone, "upgraded the database")
	run(t, dir, "", "check").want(t, exitDone, "no problems found")
	r := run(t, dir, "", "check", "--deep").want(t, exitProblems, "1 problem found", "payloads and", "hint: ")
	if !strings.HasPrefix(r.stdout, "push ") || !strings.HasSuffix(r.stdout, ": chunk 0 of file 1 has changed since it was written\n") {
		t.Errorf("it lists %q", r.stdout)
	}
}

// largestRun returns the middle of the longest row of a file: bbolt keeps it in pages
// that follow each other, and the first says how many there are.
func largestRun(b []byte) (middle int) {
	const page = 4096
	longest := 0
	for at := 0; at+page <= len(b); at += page {
		number, more := int(b[at])|int(b[at+1])<<8, int(b[at+12])|int(b[at+13])<<8
		if number == at/page && b[at+2]|b[at+3]|b[at+4]|b[at+5]|b[at+6]|b[at+7] == 0 && more < 64 && more > longest {
			longest, middle = more, at+more*page/2
		}
	}
	return middle
}

// The copy has all pages of the database.
func TestTheCopyOfABackupHasNoNameAndIsOverwritten(t *testing.T) {
	t.Parallel()
	cfg := config.Config{DataDir: t.TempDir()}
	path := filepath.Join(cfg.DataDir, "pushbox.db.new-1")
	env.OK(t, os.WriteFile(path, []byte("pages"), 0o600))
	left := unnamed.Open(t, path)
	taken := env.Must(takeCopy(cfg, path))(t)
	if _, err := os.Lstat(path); err == nil {
		t.Error("it has its name")
	}
	if b, err := io.ReadAll(taken); err != nil || string(b) != "pages" {
		t.Errorf("it has %q, %v", b, err)
	}
	env.OK(t, taken.Close())
	left.Want(t, "the copy", "")
}

// What is read has no end; the file system has one.
func TestARestoreAsksForRoomAsItReads(t *testing.T) {
	t.Parallel()
	var last int64
	looks := 0
	room := func() error {
		if looks++; looks > 2 {
			return record.ErrFull
		}
		return nil
	}
	err := copyWatched(t.Context(), io.Discard, endless{}, room, func(done int64) { last = done })
	if !errors.Is(err, record.ErrFull) || last != 2*copyStep {
		t.Errorf("%d bytes, %v", last, err)
	}
}

// endless is a reader of zeros.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }
