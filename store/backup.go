package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
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

// Backup makes a copy of the store, beside reads and writes. The copy is a file of mode 0600 beside
// path, or beside the database if path is empty. It has a temporary name, which
// durable.RemoveLeftovers finds. Backup checks every page and every promise of the copy, and that
// the store's key opens its key ring. It calls progress, from one goroutine, with bytes copied and
// bytes in all.
//
// ErrBusy if a compaction or another backup runs, or cannot keep up with writes;
// ErrFull if there is no room for the copy; ErrCorrupt if the check of the copy finds a
// problem; ErrDenied for a client. After an error there is no copy.
func (s *Store) Backup(ctx context.Context, by Actor, path string, progress func(done, total int64)) (Backup, error) {
	if err := s.as(by).may(0); err != nil {
		return Backup{}, err
	}
	if err := s.Reach(ctx); err != nil && !errors.Is(err, record.ErrLost) { // an old primary would give an outdated copy
		return Backup{}, err
	}
	at := s.time.Read()
	b, key := Backup{At: at.Now}, s.rootKey()
	if _, err := s.engine.KeepTime(ctx, at.Ends); err != nil { // so the copy has the time of its contents
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

// CheckDeep is Check, and then compares all payloads and chunks of files with their
// digests, beside reads and writes. It needs no link. It calls progress, from one
// goroutine, with bytes read and an estimate of all bytes.
func (s *Store) CheckDeep(ctx context.Context, progress func(done, total int64)) (problems []string, c record.Coverage, err error) {
	if problems, err = s.Check(ctx); err == nil {
		c, err = s.engine.CheckContents(ctx, collect(&problems), progress)
	}
	return problems, c, err
}

// collect returns a function that appends to problems, up to a limit.
func collect(problems *[]string) func(string) {
	const enough = 1000
	return func(p string) {
		if len(*problems) < enough {
			*problems = append(*problems, p)
		}
	}
}

// RemoveCopies removes the older databases that upgrades kept, CopiesStay after the upgrade. It
// returns how many files it removed, and how long to wait before the next call. A sweep does not do
// this, since overwriting a large file takes longer than an expired push may stay.
func (s *Store) RemoveCopies(ctx context.Context) (n int, wait time.Duration, err error) {
	if s.file != nil {
		n, err = s.file.RemoveCopies(ctx, s.time.Read().Ends.Add(-record.CopiesStay))
	}
	return n, tidyRest, err
}

// endOfTime is later than the time of any file.
func endOfTime() time.Time { return time.Unix(1<<50, 0) }

// SameRecords compares all records of two engines, one by one, and returns how many there
// are. It calls progress with the bytes that it compared. The error names the kind of the
// first record that differs.
func SameRecords(want, got record.Records, progress func(done int64)) (n int64, err error) {
	next, stop := iter.Pull2(got)
	defer stop()
	done := int64(0)
	for w, err := range want {
		if err != nil {
			return n, err
		}
		g, gotErr, ok := next()
		switch {
		case gotErr != nil:
			return n, gotErr
		case !ok || g.Kind != w.Kind || !bytes.Equal(g.Key, w.Key):
			return n, fmt.Errorf("%w: the copy lacks %s, or has a different one in its place", record.ErrCorrupt, w.Kind)
		case !bytes.Equal(g.Value, w.Value):
			return n, fmt.Errorf("%w: %s of the copy differs", record.ErrCorrupt, w.Kind)
		}
		n, done = n+1, done+int64(len(w.Key)+len(w.Value))
		progress(done)
	}
	if g, gotErr, ok := next(); ok {
		if gotErr != nil {
			return n, gotErr
		}
		return n, fmt.Errorf("%w: the copy has %s that should not exist", record.ErrCorrupt, g.Kind)
	}
	return n, nil
}

// Compact gives the unused space of the file back to the file system, and returns the
// size of the file before and right after, in bytes. It calls progress, from one goroutine,
// with bytes done and bytes in all. ErrBusy if a compaction or a backup runs; ErrFull
// if there is no room for the copy that it makes; ErrDenied for a client.
func (s *Store) Compact(ctx context.Context, by Actor, progress func(done, total int64)) (before, after int64, err error) {
	if err := s.as(by).may(0); err != nil {
		return 0, 0, err
	}
	was, err := s.engine.Stats(ctx)
	if err != nil {
		return 0, 0, err
	}
	if err := s.freeOrphans(ctx); err != nil { // or they would be copied, too
		return was.Size, 0, err
	}
	is, err := s.compact(ctx, by, was.Space, progress)
	return was.Size, is, err
}

// compact compacts the file, adds the event, and returns the size.
func (s *Store) compact(ctx context.Context, by Actor, was record.Space, progress func(done, total int64)) (int64, error) {
	if err := s.engine.Compact(ctx, progress); err != nil {
		return 0, err
	}
	is, err := s.engine.Stats(ctx)
	if err != nil {
		return 0, err
	}
	detail := humanize.Size(was.Size) + " before, " + humanize.Size(is.Size) + " after"
	return is.Size, s.as(by).note(ctx, record.AdminCompact, matter{detail: detail})
}

const (
	tidyRest = time.Minute // between two checks of how much is unused
	busyRest = 10 * time.Minute
	leastGap = 64 << 20 // bytes unused below which compacting is not worth it
)

// CompactIfNeeded compacts the file if at least half of it, and at least 64 MiB, is
// unused. It returns how long to wait before the next call.
func (s *Store) CompactIfNeeded(ctx context.Context) (wait time.Duration, err error) {
	stats, err := s.engine.Stats(ctx)
	space := stats.Space
	if err != nil || space.Unused < leastGap || space.Unused < space.Size/2 {
		return tidyRest, err
	}
	_, err = s.compact(ctx, Actor{Role: System}, space, func(int64, int64) {})
	if errors.Is(err, record.ErrBusy) { // another one runs, or it cannot keep up with writes
		return busyRest, nil
	}
	return tidyRest, err
}
