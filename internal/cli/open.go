package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"pushbox/config"
	"pushbox/store"
	"pushbox/store/bolt"
)

const closeTimeout = 10 * time.Second

// An opening says how to open the store of a configuration.
type opening struct {
	cfg     config.Config
	environ []string         // of the process
	create  bool             // make the directory, the key and the database if there is no database
	wait    time.Duration    // for another process to let go of the database
	watch   *watch           // nil: nobody keeps one
	note    func(say string) // is told what was made or upgraded, and what is not as it should be
}

func databasePath(cfg config.Config) string { return filepath.Join(cfg.DataDir, "pushbox.db") }

// openStore opens the store. created reports whether there was none before. The
// error wraps errNoDatabase, an error of opening of package store, or
// seal.ErrKey.
func openStore(ctx context.Context, o opening) (s *store.Store, created bool, err error) {
	exists, err := o.prepare()
	if err != nil {
		return nil, false, err
	}
	key, madeKey, err := masterKey(o.cfg, exists)
	if err != nil {
		return nil, false, err
	}
	if madeKey != "" {
		o.note(fmt.Sprintf("made the key file %s: keep a copy of it apart from the database, and never lose it; without it nothing can be read", madeKey))
	}
	engine, created, err := bolt.Open(ctx, bolt.Options{
		Path:    databasePath(o.cfg),
		MaxSize: int64(o.cfg.MaxStoreSize),
		MinFree: int64(o.cfg.Limits.MinFreeSpace),
		Timeout: o.wait,
		Note:    o.note,

		Committed: o.watch.committed(),
	})
	if err != nil {
		return nil, false, err
	}
	if created {
		o.note("made the database " + databasePath(o.cfg))
	}
	err = removeKeyLeftovers(o.cfg)
	if err == nil {
		options := storeOptions(o.cfg)
		options.Root = rootKeeper(o.cfg, o.environ)
		s, err = store.Open(ctx, o.watch.observed(engine), o.settleKey(ctx, engine, key), options)
	}
	if err != nil {
		return nil, false, errors.Join(err, engine.Close())
	}
	return s, created, nil
}

// prepare looks after the data directory and tells whether it has a database.
func (o opening) prepare() (exists bool, err error) {
	_, err = os.Stat(databasePath(o.cfg))
	switch {
	case errors.Is(err, fs.ErrNotExist) && !o.create:
		return false, withHint(fmt.Errorf("%w in %s", errNoDatabase, o.cfg.DataDir),
			"start `pushbox serve` once, which makes it, or name the right directory with --data-dir")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	exists = err == nil
	made, err := makeDir(o.cfg.DataDir)
	if err != nil {
		return false, fmt.Errorf("make the data directory: %w", err)
	}
	if made {
		o.note("made the data directory " + o.cfg.DataDir)
	}
	warning, err := checkDir(o.cfg.DataDir)
	if warning != "" {
		o.note(warning)
	}
	return exists, err
}

var errNoDatabase = errors.New("there is no database")

// closeStore closes a store also where ctx has ended.
func closeStore(ctx context.Context, s *store.Store) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return s.Close(ctx)
}
