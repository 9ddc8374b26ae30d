package store

import (
	"context"
	"errors"
	"time"

	"pushbox/store/seal"
)

// A Status is what a store tells of itself to whoever looks after it.
type Status struct {
	Clock  time.Time // what the clock says
	Latest time.Time // the greatest time that the database has seen
	Doubt  bool      // the clock jumped under the open store, and is not believed yet: creates wait
	Away   bool      // it says that the store was closed for more than a day, and is not believed yet: nothing is destroyed
	Swept  time.Time // when the last sweep ended without an error; zero: none did since the store was opened
	Space  Space
}

// Status looks at the store.
func (s *Store) Status(ctx context.Context) (st Status, err error) {
	latest, timeErr := s.engine.LatestTime(ctx)
	space, spaceErr := s.engine.Space(ctx)
	if err := errors.Join(timeErr, spaceErr); err != nil {
		return st, err
	}
	at := s.time.read()
	st = Status{Clock: s.time.clock.Now().UTC(), Latest: latest, Space: space, Doubt: at.jumped, Away: !at.jumped && !at.denies.Equal(at.ends)}
	if ms := s.swept.Load(); ms != 0 {
		st.Swept = time.UnixMilli(ms).UTC()
	}
	return st, nil
}

// Fits returns nil if the store could be opened under that root key, else ErrKey.
func (s *Store) Fits(ctx context.Context, root seal.RootKey) error {
	sealed, err := s.engine.KeyRing(ctx)
	if err != nil {
		return err
	}
	if _, err := seal.OpenRing(root, sealed); err != nil {
		return ErrKey
	}
	return nil
}
