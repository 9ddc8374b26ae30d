package seal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"pushbox/internal/durable"
)

const (
	nextSuffix = ".next"
	oldSuffix  = ".old-"
	oldStamp   = "20060102T150405Z"
)

// A KeySlot is the place of a key file whose key is to be replaced. The next key
// waits beside it, under the same name with .next behind, from before something is
// sealed under it until it takes the place of the old one: so at each moment one of
// the two opens the key ring.
type KeySlot struct{ path string }

// NewKeySlot returns the slot of a key file that exists. A link to it stays one.
func NewKeySlot(path string) (KeySlot, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return KeySlot{}, err
	}
	if real, err = filepath.Abs(real); err != nil {
		return KeySlot{}, err
	}
	return KeySlot{real}, nil
}

// Path is where the key file is, links followed.
func (s KeySlot) Path() string { return s.path }

// NextPath is where the next key waits, if one does.
func (s KeySlot) NextPath() string { return s.path + nextSuffix }

// Key loads the key, as LoadKeyFile does.
func (s KeySlot) Key() (RootKey, error) { return LoadKeyFile(s.path) }

// Next loads the key that waits; fs.ErrNotExist if none does.
func (s KeySlot) Next() (RootKey, error) { return LoadKeyFile(s.NextPath()) }

// Stage has a key wait, in a file with the owner and the mode of the key file. It is
// durable when Stage returns nil. It refuses, with words, where it can tell that the
// key file could not be replaced; fs.ErrExist if a key waits already.
func (s KeySlot) Stage(k RootKey) error {
	if err := s.probe(); err != nil {
		return err
	}
	return s.publish(k.Text(), s.NextPath())
}

// probe finds out whether the key file can be replaced: a name that something is
// mounted on cannot, nor be given to the file a second time.
func (s KeySlot) probe() error {
	f, err := os.CreateTemp(filepath.Dir(s.path), durable.TempPattern(s.path))
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return err
	}
	err = os.Link(s.path, f.Name())
	switch {
	case err == nil:
		return os.Remove(f.Name())
	case errors.Is(err, syscall.EXDEV):
		return fmt.Errorf("%s is mounted there and cannot be replaced", s.path)
	}
	return nil // a file system without links
}

// Unstage forgets the key that waits, if one does.
func (s KeySlot) Unstage() error {
	err := os.Remove(s.NextPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, durable.SyncDir(filepath.Dir(s.path)))
}

// Adopt puts the key that waits in the place of the key file. Before that it keeps
// the old one beside it, under a name with the time, unless discard is set; it
// returns that name, empty for none. It may be done again after an error, or after
// a crash in the middle.
func (s KeySlot) Adopt(at time.Time, discard bool) (old string, err error) {
	if !discard {
		if old, err = s.keepOld(at); err != nil {
			return "", fmt.Errorf("keep the old key: %w", err)
		}
	}
	if _, err := durable.Replace(s.NextPath(), s.path); err != nil {
		return "", fmt.Errorf("replace the key file: %w", err)
	}
	return old, nil
}

// keepOld keeps the old key, unless that was done before.
func (s KeySlot) keepOld(at time.Time) (old string, err error) {
	text, err := readKeyFile(s.path)
	if err != nil {
		return "", err
	}
	kept, err := filepath.Glob(escapeGlob(s.path) + oldSuffix + "*")
	if err != nil {
		return "", err
	}
	for _, k := range kept {
		if same, err := readKeyFile(k); err == nil && bytes.Equal(same, text) {
			return k, nil
		}
	}
	name := s.path + oldSuffix + at.UTC().Format(oldStamp)
	old = name
	for n := 2; ; n++ {
		if err := s.publish(text, old); !errors.Is(err, fs.ErrExist) {
			return old, err
		}
		old = fmt.Sprintf("%s-%d", name, n) // there was another rotation in this second
	}
}

// publish writes a file with the owner and the mode of the key file.
func (s KeySlot) publish(text []byte, path string) error {
	temp, err := writeTemp(s.path, text)
	if err != nil {
		return err
	}
	if err := s.likeKeyFile(temp); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	published, err := durable.Publish(temp, path)
	if err == nil && !published {
		err = &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return err
}

// likeKeyFile gives a new file the owner and the mode of the key file: whoever could
// read that can read this.
func (s KeySlot) likeKeyFile(temp string) error {
	info, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	if err := chownLike(temp, info); err != nil {
		return err
	}
	return os.Chmod(temp, info.Mode().Perm())
}

// escapeGlob makes a path a pattern that matches it alone.
func escapeGlob(path string) string {
	var b []byte
	for i := range len(path) {
		if c := path[i]; c == '*' || c == '?' || c == '[' || c == '\\' && os.PathSeparator != '\\' {
			b = append(b, '\\')
		}
		b = append(b, path[i])
	}
	return string(b)
}
