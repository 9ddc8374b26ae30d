package instance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"pushbox/config"
	"pushbox/internal/hint"
	"pushbox/internal/rights"
	"pushbox/internal/secret"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/postgres"
	"pushbox/store/record"
)

// DatabaseURL returns the address of the PostgreSQL database of a configuration, from its
// setting or from the file that a setting names. Zero: the database is a file.
func DatabaseURL(cfg config.Config) (url secret.Text, err error) {
	url, err = rights.Read(cfg.DatabaseURLFile, func() (secret.Text, error) { // systemd may pass it to the service from a place of root's
		return Secret(cfg.DatabaseURL, cfg.DatabaseURLFile, "the setting database_url_file")
	})
	if err == nil && url.IsZero() && cfg.DatabaseURLFile != "" {
		err = fmt.Errorf("the setting database_url_file: %s is empty", cfg.DatabaseURLFile)
	}
	return url, err
}

// HasDatabaseURL reports whether the database of a configuration is PostgreSQL.
func HasDatabaseURL(cfg config.Config) bool {
	return !cfg.DatabaseURL.IsZero() || cfg.DatabaseURLFile != ""
}

// NotWithPostgres returns an error for a command that works on the database file, if the
// database is PostgreSQL. instead says what to do.
func NotWithPostgres(cfg config.Config, command, instead string) error {
	if !HasDatabaseURL(cfg) {
		return nil
	}
	return hint.With(fmt.Errorf("pushbox %s works on a database file, and database_url names a PostgreSQL database", command), "%s", instead)
}

// openPostgres is Open for a PostgreSQL database.
func (o Options) openPostgres(ctx context.Context, url secret.Text) (s *store.Store, created bool, err error) {
	if _, err := os.Stat(o.Config.DataDir); o.Create || !errors.Is(err, fs.ErrNotExist) {
		if err := PrepareDir(o.Config.DataDir, o.Note); err != nil {
			return nil, false, err
		}
	}
	o.Note = onlyNews(o.Note)
	const tries = 3 // servers that start together over a new database make its key ring once
	for n := 1; ; n++ {
		s, created, err = o.tryPostgres(ctx, url)
		if n == tries || !errors.Is(err, record.ErrStaleKeys) {
			return s, created, err
		}
	}
}

// onlyNews returns note, but for messages that are the same as the one before.
func onlyNews(note func(string)) func(string) {
	var mu sync.Mutex
	last := ""
	return func(say string) {
		mu.Lock()
		defer mu.Unlock()
		if say != last {
			note(say)
		}
		last = say
	}
}

func (o Options) tryPostgres(ctx context.Context, url secret.Text) (s *store.Store, created bool, err error) {
	noteDurability := func(d postgres.Durability) {
		if o.Create { // a server, and no other command
			o.Note(d.String())
		}
	}
	engine, created, err := postgres.Open(ctx, postgres.Options{
		URL: url, Dir: o.Config.DataDir, MaxSize: int64(o.Config.MaxStoreSize), Room: roomLimits(o.Config),
		Trouble: o.Trouble, Durable: noteDurability,
	})
	if err != nil {
		return nil, false, err
	}
	s, created, err = o.openOn(ctx, engine, created)
	if errors.Is(err, record.ErrMoved) {
		err = hint.With(fmt.Errorf("%w: its records were moved into a file, or such a move was interrupted", err),
			"remove the setting database_url if that file is in the data directory here; else run `pushbox move --back` again, or `pushbox move --back --undo`")
	}
	if err != nil {
		err = errors.Join(err, engine.Close())
	}
	return s, created, err
}

func (o Options) openOn(ctx context.Context, engine *postgres.DB, created bool) (*store.Store, bool, error) {
	sealed, err := engine.KeyRing(ctx)
	if err == nil && sealed == nil {
		err = refuseFileBeside(o.Config)
	}
	switch {
	case err != nil:
		return nil, false, err
	case sealed == nil && !o.Create:
		return nil, false, hint.With(fmt.Errorf("%w of pushbox at database_url", ErrNoDatabase), "run `pushbox serve` once to create it")
	}
	key, madeKey, err := MasterKey(o.Config, sealed != nil)
	if err != nil {
		return nil, false, err
	}
	o.noteKey(madeKey)
	if madeKey != "" {
		o.Note("each further server over this database needs a copy of that key file")
	}
	if _, err := engine.Durability(ctx); err != nil {
		return nil, false, err
	}
	s, err := o.open(ctx, engine, nil, key)
	return s, created, err
}

// KeyRing returns the sealed key ring of the database; nil if it has none yet. It waits
// that long for another process to close the file, and changes nothing.
func KeyRing(ctx context.Context, cfg config.Config, wait time.Duration) (sealed []byte, err error) {
	url, err := DatabaseURL(cfg)
	if err != nil {
		return nil, err
	}
	if url.IsZero() {
		return bolt.ReadKeyRing(ctx, Database(cfg), wait)
	}
	engine, _, err := postgres.Open(ctx, postgres.Options{URL: url, Dir: cfg.DataDir})
	if err != nil {
		return nil, err
	}
	sealed, err = engine.KeyRing(ctx)
	return sealed, errors.Join(err, engine.Close())
}

const inspection = 5 * time.Second

// Inspect looks at the PostgreSQL database of a configuration.
func Inspect(ctx context.Context, cfg config.Config) (*postgres.Inspection, error) {
	ctx, cancel := context.WithTimeout(ctx, inspection)
	defer cancel()
	url, err := DatabaseURL(cfg)
	if err != nil {
		return nil, err
	}
	i, err := postgres.Inspect(ctx, postgres.Options{URL: url})
	if err != nil {
		return nil, err
	}
	return &i, nil
}
