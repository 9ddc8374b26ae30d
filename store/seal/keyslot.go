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
	"pushbox/internal/rights"
)

const (
	nextSuffix = ".next"
	oldSuffix  = ".old-"
	oldStamp   = "20060102T150405Z"
	maxOld     = 20 // kept keys of one second
)

// A KeySlot is the place of a key file whose key will be replaced. The next key waits
// beside it, under the same name with .next added, from before anything is sealed under
// it until it replaces the old one. So at each moment one of the two opens the key
// ring.
type KeySlot struct {
	path   string
	access rights.Access
}

// NewKeySlot returns the slot of a key file that exists. It follows a link and keeps
// it.
func NewKeySlot(path string) (s KeySlot, err error) {
	if s.access, err = rights.At(path); err != nil {
		return s, err
	}
	err = s.access.Do(func() (err error) {
		if s.path, err = filepath.EvalSymlinks(path); err == nil {
			s.path, err = filepath.Abs(s.path)
		}
		return err
	})
	return s, err
}

// Path is the path of the key file, after links.
func (s KeySlot) Path() string { return s.path }

// NextPath is the path of the next key, if there is one.
func (s KeySlot) NextPath() string { return s.path + nextSuffix }

// Key loads the key, as LoadKeyFile does.
func (s KeySlot) Key() (RootKey, error) { return s.load(s.path) }

// Next loads the next key. The error is fs.ErrNotExist if there is none.
func (s KeySlot) Next() (RootKey, error) { return s.load(s.NextPath()) }

func (s KeySlot) load(path string) (k RootKey, err error) {
	err = s.access.Do(func() (err error) { k, err = loadKeyFile(path); return err })
	return k, err
}

// Stage writes the next key to a file with the owner and the mode of the key file. It is durable
// when Stage returns nil. The error is fs.ErrExist if there is a next key already, and an
// explanatory one if it can be foreseen that the key file cannot be replaced.
func (s KeySlot) Stage(k RootKey) error {
	return s.access.Do(func() error { return s.stage(k) })
}

func (s KeySlot) stage(k RootKey) error {
	if err := s.probe(); err != nil {
		return err
	}
	key, err := s.open(os.O_RDONLY)
	if err != nil {
		return err
	}
	defer key.Close()
	return s.publish(k.Text(), s.NextPath(), key)
}

func (s KeySlot) open(flag int) (*os.File, error) { return durable.OpenRegular(s.path, flag) }

// probe finds out whether the key file can be replaced. A file that is a mount point
// cannot be replaced, and cannot be linked to another name.
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
		return os.Remove(f.Name()) // the key stays under its own name
	case errors.Is(err, syscall.EXDEV):
		return fmt.Errorf("%s is mounted there and cannot be replaced", s.path)
	}
	return nil // a file system without links
}

// Unstage removes the next key, if there is one, and overwrites it.
func (s KeySlot) Unstage() error { return s.access.Do(s.unstage) }

func (s KeySlot) unstage() error {
	if _, err := os.Lstat(s.NextPath()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(durable.Scrub(s.NextPath()), durable.SyncDir(filepath.Dir(s.path)))
}

// Adopt replaces the key file with the next key. Unless discard is set, it first keeps the old key
// beside it, under a name with the time, and returns that name. It overwrites the replaced file if
// that has no other name. After an error or a crash the caller may call it again.
func (s KeySlot) Adopt(at time.Time, discard bool) (old string, err error) {
	err = s.access.Do(func() (err error) { old, err = s.adopt(at, discard); return err })
	return old, err
}

func (s KeySlot) adopt(at time.Time, discard bool) (old string, err error) {
	if !discard {
		if old, err = s.keepOld(at); err != nil {
			return "", fmt.Errorf("keep the old key: %w", err)
		}
	}
	was, openErr := s.open(os.O_RDWR)
	if openErr == nil {
		defer was.Close()
	}
	if _, err := durable.Replace(s.NextPath(), s.path); err != nil {
		return "", fmt.Errorf("replace the key file: %w", err)
	}
	if openErr == nil { // best effort: the key is replaced even if its blocks are not overwritten
		_ = durable.Overwrite(was)
	}
	return old, nil
}

// keepOld keeps the old key, unless that was done before. It keeps nothing but a key, and opens it once: the owner of the
// directory, who can read what is kept, may meanwhile give the name to another file.
func (s KeySlot) keepOld(at time.Time) (old string, err error) {
	key, err := s.open(os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer key.Close()
	text, err := readKey(key)
	if err == nil {
		_, err = ParseRootKey(text)
	}
	if err != nil {
		return "", err
	}
	kept, err := filepath.Glob(escapeGlob(s.path) + oldSuffix + "*")
	if err != nil {
		return "", err
	}
	for _, k := range kept {
		if holds(k, text) {
			return k, nil
		}
	}
	name := s.path + oldSuffix + at.UTC().Format(oldStamp)
	old = name
	for n := 2; ; n++ {
		if err := s.publish(text, old, key); !errors.Is(err, fs.ErrExist) || n > maxOld {
			return old, err
		}
		old = fmt.Sprintf("%s-%d", name, n) // another rotation ran in this second
	}
}

// holds reports whether a file has that text.
func holds(path string, text []byte) bool {
	f, err := durable.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	same, err := readKey(f)
	return err == nil && bytes.Equal(same, text)
}

// publish writes a file with the owner and the mode of the key file.
func (s KeySlot) publish(text []byte, path string, key *os.File) error {
	temp, err := durable.WriteTemp(s.path, text, func(temp *os.File) error { return durable.Inherit(temp, key) })
	if err != nil {
		return err
	}
	return durable.PublishNew(temp, path)
}

// escapeGlob turns a path into a pattern that matches only that path.
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
