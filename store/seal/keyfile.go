package seal

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"pushbox/internal/durable"
	"pushbox/internal/rights"
)

const (
	maxKeyFile = 4 << 10 // bytes
	others     = 0o007   // permissions of users that are neither owner nor group
)

// LoadKeyFile reads a key from a file. The error is ErrKey if the file is not a regular
// file of at most 4 KiB, does not hold a whole key, or is open to all users of the
// machine (not checked on Windows, whose modes do not say); fs.ErrNotExist if there is
// no file.
func LoadKeyFile(path string) (RootKey, error) {
	return rights.Read(path, func() (RootKey, error) { return loadKeyFile(path) })
}

func loadKeyFile(path string) (RootKey, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return RootKey{}, err
	}
	if info, err := os.Lstat(real); err != nil || !info.Mode().IsRegular() {
		return RootKey{}, cmp.Or(err, fmt.Errorf("%s: %w: it is not a plain file", path, ErrKey))
	}
	f, err := durable.OpenRegular(real, os.O_RDONLY)
	if err != nil {
		return RootKey{}, err
	}
	defer f.Close()
	if err := checkMode(path, f); err != nil {
		return RootKey{}, err
	}
	text, err := readKey(f)
	if err != nil {
		return RootKey{}, fmt.Errorf("%s: %w", path, err)
	}
	k, err := ParseRootKey(text)
	if err != nil {
		return RootKey{}, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
}

func checkMode(path string, f *os.File) error {
	info, err := f.Stat()
	if err == nil && info.Mode()&others != 0 && runtime.GOOS != "windows" {
		err = fmt.Errorf("%s: %w: every user of this machine may use it (mode %04o); run: chmod 600 %s", path, ErrKey, info.Mode().Perm(), path)
	}
	return err
}

func readKey(f *os.File) (text []byte, err error) {
	text, err = io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err == nil && len(text) > maxKeyFile {
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrKey, maxKeyFile)
	}
	return text, err
}

// CreateKeyFile makes a key and writes it to a new file that only its owner may read or
// write. The file is whole and durable when CreateKeyFile returns nil. After an error
// there is no file, or a whole one that a power cut may remove. If the file existed,
// the error is fs.ErrExist, and it stays as it is. durable.RemoveLeftovers removes the
// remains of a crash.
func CreateKeyFile(path string) (RootKey, error) {
	k := NewRootKey()
	if err := KeepKeyFile(path, k); err != nil {
		return RootKey{}, err
	}
	return k, nil
}

// KeepKeyFile writes an existing key to a new file, as CreateKeyFile does.
func KeepKeyFile(path string, k RootKey) error {
	return rights.Beside(path, func() error { return durable.NewFile(path, k.Text()) })
}
