package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pushbox/config"
	"pushbox/internal/durable"
	"pushbox/internal/environ"
	"pushbox/internal/hint"
	"pushbox/internal/rights"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// MasterKey returns the master key. If there is neither a key nor a database, it makes a key
// file, and returns its path as made. It never makes a key for a database that exists, which
// only its own key can open.
func MasterKey(cfg config.Config, databaseExists bool) (key seal.RootKey, made string, err error) {
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
		return key, "", missingKey(cfg, path, originals())
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

// ReadKey returns the master key of a database, and makes none.
func ReadKey(cfg config.Config) (seal.RootKey, error) {
	key, _, err := MasterKey(cfg, true)
	if missing := (*MissingKeyError)(nil); !errors.As(err, &missing) {
		return key, err
	}
	if _, there := os.Lstat(Database(cfg)); errors.Is(there, fs.ErrNotExist) {
		return key, noDatabase(cfg)
	}
	return key, err
}

// originals are the files from which the unit of the packages takes the key: as it is, and
// encrypted.
func originals() [2]string {
	return [2]string{"/etc/credstore/pushbox.master.key", "/etc/credstore.encrypted/pushbox.master.key"}
}

// missingKey returns a hint for a key that is not in the place of the settings. It may be one of
// the originals, or in the default place.
func missingKey(cfg config.Config, path string, originals [2]string) error {
	err := &MissingKeyError{Path: path}
	const passed = "systemd passes the key to the service; "
	if isThere(originals[0]) {
		return hint.With(err, passed+"other commands must be told where it is: PUSHBOX_MASTER_KEY_FILE=%s pushbox ...", originals[0])
	}
	if isThere(originals[1]) {
		return hint.With(err, passed+"for other commands decrypt it to a file in memory (docs/install.md, The key apart from the data): %s", originals[1])
	}
	cfg.MasterKeyFile = ""
	if _, there := os.Stat(cfg.KeyFile()); there == nil && cfg.KeyFile() != path {
		return hint.With(err, "there is a key in %s: move it to %s, or run `pushbox key import %[1]s`, which copies it", cfg.KeyFile(), path)
	}
	return hint.With(err, "if systemd or a container passes the key, name its original: PUSHBOX_MASTER_KEY_FILE=FILE pushbox ...; if not, put your copy of the key back, with `pushbox key import` if it is on paper")
}

// isThere reports whether there is a file of root's.
func isThere(path string) bool {
	return rights.AsCaller(func() error { _, err := os.Stat(path); return err }) == nil
}

// loadKey reads the key file. If there is no database yet, it makes the file durable: the
// process that made it may have been killed before it did so, and a database must not
// outlive its key. In a directory without read permission, pushbox did not make the key.
func loadKey(path string, databaseExists bool) (seal.RootKey, error) {
	key, err := seal.LoadKeyFile(path)
	if err != nil || databaseExists {
		return key, err
	}
	if err := durable.SyncDir(filepath.Dir(path)); err != nil && !errors.Is(err, fs.ErrPermission) {
		return seal.RootKey{}, fmt.Errorf("make the key file %s durable: %w", path, err)
	}
	return key, nil
}

// removeKeyLeftovers removes temporary key files that a crash left: one may be a second name
// of the key. The caller holds the database, so no key is being made for it. A directory
// without permission to list or change it is no failure: it can still have a readable key.
func removeKeyLeftovers(cfg config.Config) error {
	if !cfg.MasterKey.IsZero() {
		return nil
	}
	err := rights.Beside(cfg.KeyFile(), func() error { return durable.RemoveLeftovers(cfg.KeyFile()) })
	if err != nil && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("remove leftovers of the key file: %w", err)
	}
	return nil
}

// A MissingKeyError says that there is a database and no key. It is a record.ErrKey.
type MissingKeyError struct{ Path string }

// Error names the key file.
func (e *MissingKeyError) Error() string {
	return fmt.Sprintf("there is a database, and its key file %s is missing", e.Path)
}

// Unwrap returns record.ErrKey.
func (*MissingKeyError) Unwrap() error { return record.ErrKey }

// credentialsVar names the directory of systemd's credentials.
const credentialsVar = "CREDENTIALS_DIRECTORY"

// RootKeeper returns where the master key is kept, and whether it can be replaced there: the
// file of systemd or a container is a copy that ends with the process, so a new key written
// there would be lost.
func RootKeeper(cfg config.Config, vars []string) store.RootKeeper {
	if !cfg.MasterKey.IsZero() {
		return store.RootKeeper{Fixed: "the setting master_key"}
	}
	path, err := filepath.Abs(cfg.KeyFile())
	if err != nil {
		path = cfg.KeyFile()
	}
	lenders := []string{"/run/credentials", "/run/secrets"}
	if dir := environ.Map(vars)[credentialsVar]; dir != "" {
		lenders = append(lenders, dir)
	}
	for _, dir := range lenders {
		if strings.HasPrefix(path, strings.TrimRight(dir, "/")+string(os.PathSeparator)) {
			return store.RootKeeper{Fixed: "a copy that systemd or a container passed, " + path}
		}
	}
	return store.RootKeeper{File: path}
}

// KeyPlace returns where the master key comes from, for messages.
func KeyPlace(cfg config.Config) string {
	if !cfg.MasterKey.IsZero() {
		return "none: the setting master_key"
	}
	return cfg.KeyFile()
}

// finishRotation ends an interrupted rotation of the master key, and returns the key that opens
// the database. If it cannot end the rotation, it notes why: the store still opens if a key
// fits.
func (o Options) finishRotation(ctx context.Context, e record.Engine, key seal.RootKey) seal.RootKey {
	keeper := RootKeeper(o.Config, o.Environ)
	if keeper.File == "" {
		return key
	}
	current, how, err := store.FinishRotation(ctx, e, keeper.File, time.Now())
	if err == nil { // the file may have been replaced while another process had the database
		key = current
	}
	switch how {
	case store.KeyTakenBack:
		o.Note("a rotation of the master key was interrupted before the new key was in use; the old key stays")
	case store.KeyAdopted:
		o.Note(fmt.Sprintf("finished an interrupted rotation of the master key: the new key (ID %s) is in %s, the old one beside it; keep a copy of the new one: pushbox key export",
			current.ID(), keeper.File))
	case store.KeyPending:
		key = current
	}
	if err != nil {
		o.Note(fmt.Sprintf("a rotation of the master key was interrupted, and cannot be finished: %v", err))
	}
	return key
}
