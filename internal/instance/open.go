// Package instance opens a data directory: its database and its master key, with the options
// that the configuration gives the store.
package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"pushbox/config"
	"pushbox/internal/hint"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
)

const closeTimeout = 10 * time.Second

// Options say how to open the store of a configuration.
type Options struct {
	Config  config.Config
	Environ []string         // of the process
	Create  bool             // make the directory, the key and the database if there is no database
	Wait    time.Duration    // for another process to close the database
	Note    func(say string) // receives messages for the administrator about files that were made or upgraded, and warnings

	Wrap func(record.Engine) record.Engine // wraps the engine; nil: it is not wrapped
	// Trouble is called when a database of several servers cannot be used, with the reason, and
	// with nil when it can be again. It may be nil.
	Trouble   func(why error, lasted time.Duration)
	Committed func(record.Commit) // called after each commit; may be nil
}

// Database returns the path of the database.
func Database(cfg config.Config) string { return filepath.Join(cfg.DataDir, "pushbox.db") }

// Open opens the store. created reports whether it made the database. The error wraps
// ErrNoDatabase, seal.ErrKey, or an error of package store for opening.
func Open(ctx context.Context, o Options) (s *store.Store, created bool, err error) {
	url, err := DatabaseURL(o.Config)
	if err != nil {
		return nil, false, err
	}
	if !url.IsZero() {
		return o.openPostgres(ctx, url)
	}
	exists, err := o.prepare()
	if err != nil {
		return nil, false, err
	}
	key, madeKey, err := MasterKey(o.Config, exists)
	if err != nil {
		return nil, false, err
	}
	o.noteKey(madeKey)
	if madeKey != "" && filepath.Dir(madeKey) == filepath.Clean(o.Config.DataDir) {
		o.Note("the key file is beside the database, so a copy of that directory has both: name another place with master_key_file, or move the file there, as docs/install.md says")
	}
	engine, created, err := bolt.Open(ctx, bolt.Options{
		Path:    Database(o.Config),
		MaxSize: int64(o.Config.MaxStoreSize),
		MinFree: int64(o.Config.Limits.MinFreeSpace),
		Room:    roomLimits(o.Config),
		Clients: o.Config.Limits.Clients,
		Timeout: o.Wait,
		Note:    o.Note,

		Committed: o.Committed,
	})
	if err != nil {
		return nil, false, err
	}
	if created {
		o.Note("made the database " + Database(o.Config))
	}
	if s, err = o.open(ctx, engine, engine, key); err != nil {
		return nil, false, errors.Join(err, engine.Close())
	}
	return s, created, nil
}

func (o Options) noteKey(made string) {
	if made == "" {
		return
	}
	o.Note(fmt.Sprintf("made the key file %s: keep a copy of it apart from the database, and never lose it; without it nothing can be read", made))
}

func (o Options) open(ctx context.Context, engine record.Engine, file record.FileUpkeep, key seal.RootKey) (*store.Store, error) {
	if err := removeKeyLeftovers(o.Config); err != nil {
		return nil, err
	}
	key = o.finishRotation(ctx, engine, key)
	if o.Wrap != nil {
		engine = o.Wrap(engine)
	}
	options := StoreOptions(o.Config)
	options.Root, options.File = RootKeeper(o.Config, o.Environ), file
	return store.Open(ctx, engine, key, options)
}

// prepare prepares the data directory, and reports whether it has a database.
func (o Options) prepare() (exists bool, err error) {
	_, err = os.Stat(Database(o.Config))
	if errors.Is(err, fs.ErrNotExist) {
		if err := refuseMoved(o.Config); err != nil {
			return false, err
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && !o.Create:
		return false, noDatabase(o.Config)
	case errors.Is(err, fs.ErrPermission):
		return false, hint.With(err, "run the command as root or as the owner of %[1]s; if a server should use a directory that was mounted into its container, on the host: chown %[2]d DIRECTORY", o.Config.DataDir, os.Getuid())
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	return err == nil, PrepareDir(o.Config.DataDir, o.Note)
}

// PrepareDir makes a data directory if it is missing, and refuses one in which other users could
// replace files. note receives messages about new directories, and warnings.
func PrepareDir(dir string, note func(string)) error {
	made, err := MakeDir(dir)
	if err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	if made {
		note("made the data directory " + dir)
	}
	warning, err := checkDir(dir)
	if warning != "" {
		note(warning)
	}
	return err
}

func noDatabase(cfg config.Config) error {
	return hint.With(fmt.Errorf("%w in %s", ErrNoDatabase, cfg.DataDir),
		"run `pushbox serve` once to create it; or name the settings file with --config, or the directory with --data-dir")
}

// ErrNoDatabase says that a data directory has no database, and Create is not set.
var ErrNoDatabase = errors.New("there is no database")

// Close closes a store, even if ctx has ended.
func Close(ctx context.Context, s *store.Store) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return s.Close(ctx)
}
