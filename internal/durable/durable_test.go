package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pushbox/internal/durable"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/unnamed"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	env.OK(t, os.WriteFile(path, []byte(text), 0o600))
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v", filepath.Base(path), got, err)
	}
}

func wantNothing(t *testing.T, path string) {
	t.Helper()
	_, err := os.Stat(path)
	env.ErrorIs(t, filepath.Base(path), err, fs.ErrNotExist)
}

func TestAPublishedFileHasItsNameAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	temp, path := filepath.Join(dir, "temp"), filepath.Join(dir, "file")
	write(t, temp, "new")
	if published, err := durable.Publish(temp, path); !published || err != nil {
		t.Fatalf("%v, %v", published, err)
	}
	wantText(t, path, "new")
	wantNothing(t, temp)
}

func TestAFileThatIsThereKeepsItsName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	temp, path := filepath.Join(dir, "temp"), filepath.Join(dir, "file")
	write(t, temp, "new")
	write(t, path, "old")
	if published, err := durable.Publish(temp, path); published || err != nil {
		t.Fatalf("%v, %v", published, err)
	}
	wantText(t, path, "old")
	wantNothing(t, temp)
}

func TestOnlyOneOfManyIsPublished(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var published atomic.Int32
	var all sync.WaitGroup
	for i := range 16 {
		temp := filepath.Join(dir, string(rune('a'+i)))
		write(t, temp, "x")
		all.Go(func() {
			done, err := durable.Publish(temp, filepath.Join(dir, "file"))
			if err != nil {
				t.Error(err)
			}
			if done {
				published.Add(1)
			}
		})
	}
	all.Wait()
	env.Equal(t, "were published", published.Load(), 1)
}

func TestWhatIsMissingIsAnError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if published, err := durable.Publish(filepath.Join(dir, "temp"), filepath.Join(dir, "file")); published || err == nil {
		t.Errorf("%v, %v", published, err)
	}
	env.ErrorIs(t, "it", durable.SyncDir(filepath.Join(dir, "nothing")), fs.ErrNotExist)
}

func TestLeftoversAreRemovedAndNothingElse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	left := env.Must(os.CreateTemp(filepath.Dir(path), durable.TempPattern(path)))(t)
	_ = left.Close()
	its := []string{left.Name() + ".new-7", left.Name() + ".schema4"}
	for _, name := range its {
		write(t, name, "x")
	}
	others := []string{path, path + ".new", path + ".new-", path + ".new-backup", path + ".new-2a", path + ".new-a.2", path + ".bak", filepath.Join(filepath.Dir(path), "other.new-1")}
	for _, other := range others {
		write(t, other, "x")
	}
	env.OK(t, durable.RemoveLeftovers(path))
	wantNothing(t, left.Name())
	for _, name := range its {
		wantNothing(t, name)
	}
	for _, other := range others {
		wantText(t, other, "x")
	}
}

func TestAFileIsReplacedInOneStep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	temp, path := filepath.Join(dir, "temp"), filepath.Join(dir, "file")
	write(t, path, "old")
	write(t, temp, "new")
	if replaced, err := durable.Replace(temp, path); !replaced || err != nil {
		t.Fatalf("%v, %v", replaced, err)
	}
	wantText(t, path, "new")
	wantNothing(t, temp)
}

func TestAFileThatCannotBeReplacedStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	temp, path := filepath.Join(dir, "temp"), filepath.Join(dir, "file")
	write(t, path, "old")
	if replaced, err := durable.Replace(temp, path); replaced || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("by nothing: %v, %v", replaced, err)
	}
	wantText(t, path, "old")
	write(t, temp, "new")
	env.OK(t, os.Mkdir(filepath.Join(dir, "directory"), 0o700))
	if replaced, err := durable.Replace(temp, filepath.Join(dir, "directory")); replaced || err == nil {
		t.Errorf("a directory: %v, %v", replaced, err)
	}
	wantText(t, temp, "new")
}

func TestWhatIsScrubbedHoldsNothing(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 1<<20 - 1, 1 << 20, 9<<20 + 5} {
		path := filepath.Join(t.TempDir(), "file")
		write(t, path, strings.Repeat("x", size))
		f := unnamed.Open(t, path)
		env.OK(t, durable.Scrub(path))
		wantNothing(t, path)
		f.Want(t, "scrubbed", "")
		if info, err := f.Stat(); err != nil || info.Size() != int64(size) {
			t.Errorf("%v, %v", info, err)
		}
	}
}

// The temporary name of a file that was published a moment before a crash is a second
// name of the file itself.
func TestAFileWithAnotherNameIsNotOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "live")
	for name, make := range map[string]func(string, string) error{"a link": os.Link, "a symbolic link": os.Symlink} {
		second := path + ".new-1"
		env.OK(t, make(path, second))
		f := unnamed.Open(t, path)
		env.OK(t, durable.RemoveLeftovers(path))
		wantNothing(t, second)
		f.Want(t, name, "live")
	}
	wantText(t, path, "live")
}

func TestLeftoversAndWhatIsReplacedAreOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "old")
	write(t, path+".new-12", "left over")
	old, left := unnamed.Open(t, path), unnamed.Open(t, path+".new-12")
	env.OK(t, errors.Join(durable.RemoveLeftovers(path), durable.WriteFile(path, []byte("new"))))
	old.Want(t, "the old content", "")
	left.Want(t, "the leftover", "")
	wantText(t, path, "new")
}

func TestWhatCannotBeOpenedIsOnlyRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env.OK(t, durable.Scrub(filepath.Join(dir, "not there")))
	empty := filepath.Join(dir, "directory")
	env.OK(t, os.Mkdir(empty, 0o700))
	env.OK(t, durable.Scrub(empty))
	wantNothing(t, empty)
}

// What cannot get its name is not needed, and may hold secrets.
func TestWhatIsNotPublishedIsOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, "old")
	write(t, path+".new-1", "new")
	f := unnamed.Open(t, path+".new-1")
	if published, err := durable.Publish(path+".new-1", path); published || err != nil {
		t.Errorf("%t, %v", published, err)
	}
	f.Want(t, "not published", "")
	wantText(t, path, "old")
}

func TestWhatIsWrittenReplacesWhatWasThereAndIsForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"first", "a second, longer one", ""} {
		env.OK(t, durable.WriteFile(path, []byte(text)))
		wantText(t, path, text)
	}
	info := env.Must(os.Stat(path))(t)
	if mode := info.Mode().Perm(); mode != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("its mode is %04o", mode)
	}
	wantAlone(t, path)
}

func TestWhatCannotBeWrittenLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := durable.WriteFile(filepath.Join(dir, "none", "file"), nil); err == nil {
		t.Error("a directory that is not there took a file")
	}
	path := filepath.Join(dir, "file")
	env.OK(t, os.MkdirAll(filepath.Join(path, "inside"), 0o700))
	if err := durable.WriteFile(path, []byte("text")); err == nil {
		t.Error("a directory was replaced")
	}
	wantAlone(t, path)
}

// wantAlone fails the test if anything lies beside a file.
func wantAlone(t *testing.T, path string) {
	t.Helper()
	entries := env.Must(os.ReadDir(filepath.Dir(path)))(t)
	if len(entries) != 1 {
		t.Errorf("there are %v", entries)
	}
}

func TestASmallFileIsReadWholeAndALargerOneNotAtAll(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, strings.Repeat("x", 1024))
	if b, err := durable.ReadBounded(path, 1024); err != nil || len(b) != 1024 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if _, err := durable.ReadBounded(path, 1023); err == nil || !strings.Contains(err.Error(), "is larger than 1023 B") {
		t.Errorf("it is read: %v", err)
	}
	if _, err := durable.ReadBounded(path+"x", 1); err == nil {
		t.Error("a file that is not there is read")
	}
}
