package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"pushbox/internal/durable"
	"pushbox/internal/humanize"
	"pushbox/store/record"
	"pushbox/store/seal"
)

// A Backup is a copy of a store as it was at one instant. It does not hold the root
// key.
type Backup struct {
	Path string    // of the copy, which the caller moves or removes
	Size int64     // bytes
	At   time.Time // it holds every change before this; its latest time, unless the clock is in doubt
	Key  string    // the ID of the root key that opens it
}

// Backup makes a copy of the store, beside reads and writes. The copy is a file of mode
// 0600 beside path, or beside the database if path is empty. It has a temporary name,
// which durable.RemoveLeftovers finds. Backup checks every page and every promise of
// the copy, and that its key ring opens with the key of the store. It calls progress,
// from one goroutine, with bytes copied and bytes in all.
//
// ErrBusy if a compaction or another backup runs, or cannot keep up with writes;
// ErrFull if there is no room for the copy; ErrCorrupt if the check of the copy finds a
// problem; ErrDenied for a client. After an error there is no copy.
func (s *Store) Backup(ctx context.Context, by Actor, path string, progress func(done, total int64)) (Backup, error) {
	if err := s.as(by).may(0); err != nil {
		return Backup{}, err
	}
	if err := s.Reach(ctx); err != nil && !errors.Is(err, record.ErrLost) { // an old primary would give a copy of what was
		return Backup{}, err
	}
	at := s.time.Read()
	b, key := Backup{At: at.Now}, s.rootKey()
	if err := s.engine.SetLatestTime(ctx, at.Ends); err != nil { // so the copy says as of when it is
		return Backup{}, err
	}
	if err := s.freeOrphans(ctx); err != nil { // or they would be copied, too
		return Backup{}, err
	}
	e, temp, err := s.engine.Backup(ctx, path, progress)
	if err != nil {
		return Backup{}, err
	}
	b.Path = temp
	ring, err := s.unlockCopy(ctx, e, key)
	if errors.Is(err, record.ErrKey) { // the key was replaced while the copy was made
		key = s.rootKey()
		ring, err = s.unlockCopy(ctx, e, key)
	}
	b.Key = key.ID()
	if err == nil {
		err = verify(ctx, e, ring)
	}
	err = errors.Join(err, e.Close())
	if err == nil {
		b.Size, err = sizeOf(temp)
	}
	if err == nil {
		err = s.as(by).note(ctx, record.AdminBackup, matter{detail: humanize.Size(b.Size) + ", key " + b.Key})
	}
	if err != nil {
		return Backup{}, errors.Join(fmt.Errorf("verify the backup: %w", err), durable.Scrub(temp))
	}
	return b, nil
}

func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// unlockCopy unlocks the engine of a copy, whose key ring must open with root, and returns
// that ring.
func (s *Store) unlockCopy(ctx context.Context, e record.Engine, root seal.RootKey) (*seal.Ring, error) {
	ring, have, err := unlock(ctx, e, root, s.options().Clock)
	if have == noRing {
		err = errors.Join(err, fmt.Errorf("%w: its key ring is missing", record.ErrCorrupt))
	}
	return ring, err
}

// verify checks an engine, and that its events open with ring.
func verify(ctx context.Context, e record.Engine, ring *seal.Ring) error {
	var problems []string
	if err := e.Check(ctx, collect(&problems)); err != nil {
		return err
	}
	if err := checkAdminEvents(ctx, e, func() *seal.Ring { return ring }, collect(&problems)); err != nil {
		return err
	}
	if len(problems) > 0 {
		return fmt.Errorf("%w: a check finds %s; the first is: %s", record.ErrCorrupt, humanize.Count(len(problems), "problem", "problems"), problems[0])
	}
	return nil
}
