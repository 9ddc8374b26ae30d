package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"pushbox/config"
	"pushbox/internal/durable"
	"pushbox/store"
	"pushbox/store/seal"
)

// masterKey returns the master key, and the path where it made one because
// there is neither a key nor a database. Over a database that exists it never
// makes one: the key that it was sealed under cannot be replaced.
func masterKey(cfg config.Config, databaseExists bool) (key seal.RootKey, made string, err error) {
	if !cfg.MasterKey.IsZero() {
		if key, err = seal.ParseRootKey([]byte(cfg.MasterKey.Reveal())); err != nil {
			err = fmt.Errorf("the setting master_key: %w", err)
		}
		return key, "", err
	}
	path := cfg.KeyFile()
	key, err = loadKey(path, databaseExists)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, "", err
	}
	if databaseExists {
		return key, "", withHint(&missingKeyError{path}, "put your copy of it back; without it nothing in the database can be read")
	}
	key, err = seal.CreateKeyFile(path)
	switch {
	case errors.Is(err, fs.ErrExist): // another process made one just now
		key, err = loadKey(path, databaseExists)
		return key, "", err
	case err != nil:
		return key, "", fmt.Errorf("make the key file %s: %w", path, err)
	}
	return key, path, nil
}

// loadKey reads the key file. Before there is a database, it makes sure that the
// key is not lost with the power: whoever made the file may have been cut short
// before that, and a database must not outlive its key. In a directory that may
// not be read, the key is not one that pushbox made.
func loadKey(path string, databaseExists bool) (seal.RootKey, error) {
	key, err := seal.LoadKeyFile(path)
	if err != nil || databaseExists {
		return key, err
	}
	if err := durable.SyncDir(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return seal.RootKey{}, fmt.Errorf("make the key file %s last: %w", path, err)
	}
	return key, nil
}

// removeKeyLeftovers removes what is left of the making of a key file that was
// cut short: it may be a second name of the key. The caller holds the database,
// so no key is being made for it. A directory that may not be listed or changed
// is no failure: a key file can be read there all the same.
func removeKeyLeftovers(cfg config.Config) error {
	if !cfg.MasterKey.IsZero() {
		return nil
	}
	if err := durable.RemoveLeftovers(cfg.KeyFile()); err != nil && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("remove what is left beside the key file: %w", err)
	}
	return nil
}

// A missingKeyError is a store.ErrKey: there is a database and no key.
type missingKeyError struct{ path string }

func (e *missingKeyError) Error() string {
	return fmt.Sprintf("there is a database, and its key file %s is missing", e.path)
}

func (*missingKeyError) Unwrap() error { return store.ErrKey }
