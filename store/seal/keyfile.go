package seal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

const (
	keyFileMode = 0o600
	maxKeyFile  = 4 << 10 // bytes
	others      = 0o007   // permissions of users that are neither owner nor group
)

// LoadKeyFile reads a key from a file. ErrKey if that is not a plain file of at
// most 4 KiB, does not hold a whole key, or is open to all users of the
// machine (not asked on Windows, where the mode does not tell); fs.ErrNotExist
// if there is none.
func LoadKeyFile(path string) (RootKey, error) {
	info, err := os.Stat(path) // before opening, which would wait for the writer of a pipe
	if err != nil {
		return RootKey{}, err
	}
	if err := checkKeyFile(path, info); err != nil {
		return RootKey{}, err
	}
	text, err := readKeyFile(path)
	if err != nil {
		return RootKey{}, err
	}
	k, err := ParseRootKey(text)
	if err != nil {
		return RootKey{}, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
}

func checkKeyFile(path string, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w: it is not a plain file", path, ErrKey)
	case info.Mode()&others != 0 && runtime.GOOS != "windows":
		return fmt.Errorf("%s: %w: every user of this machine may use it (mode %04o); run: chmod 600 %s",
			path, ErrKey, info.Mode().Perm(), path)
	}
	return nil
}

func readKeyFile(path string) (text []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err = io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err == nil && len(text) > maxKeyFile {
		return nil, fmt.Errorf("%s: %w: it is longer than %d bytes", path, ErrKey, maxKeyFile)
	}
	return text, err
}

// CreateKeyFile makes a key and keeps it in a new file that only its owner may
// read or write. It is whole and durable when CreateKeyFile returns nil. After
// an error there is no file, or, if only the directory could not be synced, a
// whole one that a power cut may take away. fs.ErrExist if the file existed;
// it stays as it is. The file system must have hard links.
func CreateKeyFile(path string) (RootKey, error) {
	k := NewRootKey()
	temp := path + "." + rand.Text() + ".tmp"
	if err := writeKeyFile(temp, k.Text()); err != nil {
		return RootKey{}, err
	}
	err := os.Link(temp, path) // unlike a rename it never replaces a file
	if err = errors.Join(err, os.Remove(temp)); err != nil {
		return RootKey{}, err
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return RootKey{}, err
	}
	return k, nil
}

func writeKeyFile(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, keyFileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// syncDir makes the names in a directory durable. Windows has no such call.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
