package postgres_test

import (
	"errors"
	"sync"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/pgtest"
	"pushbox/store"
	"pushbox/store/postgres"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// Servers that start at the same time over a new database make one key ring, and all of them
// open the store, some at the second try.
func TestFirstStartsMakeOneKeyRing(t *testing.T) {
	t.Parallel()
	const rounds, servers = 4, 6
	for range rounds {
		key, url := seal.NewRootKey(), pgtest.URL(t)
		var starts sync.WaitGroup
		for range servers {
			starts.Go(func() {
				err := startFirst(t, url, key)
				if errors.Is(err, record.ErrStaleKeys) {
					err = startFirst(t, url, key)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		starts.Wait()
	}
}

// startFirst opens a store and closes it.
func startFirst(t *testing.T, url secret.Text, key seal.RootKey) error {
	t.Helper()
	db, _, err := postgres.Open(t.Context(), unhurried(url))
	if err != nil {
		return err
	}
	s, err := store.Open(t.Context(), db, key, store.Options{})
	if err != nil {
		return errors.Join(err, db.Close())
	}
	return s.Close(t.Context())
}
