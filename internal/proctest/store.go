package proctest

import (
	"errors"
	"path/filepath"
	"testing"

	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/bolt"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// WantNoOrphans fails the test if chunks that belong to no push are left after a sweep.
func WantNoOrphans(t *testing.T, dir string) {
	t.Helper()
	WithStore(t, dir, func(s *store.Store, e record.Engine) error {
		_, err := s.Sweep(t.Context())
		ids, listErr := e.Orphans(t.Context(), record.ID{}, 100)
		if len(ids) > 0 {
			t.Errorf("%d uploads left chunks behind", len(ids))
		}
		return errors.Join(err, listErr)
	})
}

// Orphans counts the uploads that have left chunks in the file, up to 100.
func Orphans(t *testing.T, dir string) (n int) {
	t.Helper()
	WithStore(t, dir, func(_ *store.Store, e record.Engine) error {
		ids, err := e.Orphans(t.Context(), record.ID{}, 100)
		n = len(ids)
		return err
	})
	return n
}

// WithStore opens the store of the server in dir, which must not run, and calls use.
func WithStore(t *testing.T, dir string, use func(*store.Store, record.Engine) error) {
	t.Helper()
	data := filepath.Join(dir, "data")
	key, err := seal.LoadKeyFile(filepath.Join(data, "master.key"))
	env.OK(t, err)
	engine, _, err := bolt.Open(t.Context(), bolt.Options{Path: filepath.Join(data, "pushbox.db")})
	env.OK(t, err)
	s, err := store.Open(t.Context(), engine, key, store.Options{})
	env.OK(t, err)
	if err := errors.Join(use(s, engine), s.Close(t.Context())); err != nil {
		t.Error(err)
	}
}
