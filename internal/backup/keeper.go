package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"pushbox/internal/durable"
)

// A Keeper makes backups in a directory, one each time that the newest there is old
// enough, and keeps some of them. It knows its own by their names.
type Keeper struct {
	Dir    string
	Every  time.Duration // from one to the next
	Keep   int           // how many stay
	Writer Writer
	Now    func() time.Time
	// Make makes a verified copy in the directory of path, under a temporary name
	// that durable.RemoveLeftovers(path) finds.
	Make func(ctx context.Context, path string) (temp string, size int64, err error)
}

// copies is what copies of the database are named after while they are made.
const copies = "pushbox-copy"

// A Round tells what a keeper did.
type Round struct {
	Made string        // the path of the new backup; empty: none was due
	Size int64         // of its database, in bytes
	Wait time.Duration // until the next is due
}

// Round makes a backup if one is due, and then removes those that are too many. What
// it leaves when it is killed, the next one removes.
func (k *Keeper) Round(ctx context.Context) (Round, error) {
	now := k.Now()
	if err := errors.Join(durable.RemoveLeftovers(filepath.Join(k.Dir, copies)), removeStale(k.Dir, now)); err != nil {
		return Round{}, err
	}
	past, err := k.past(now)
	if err != nil {
		return Round{}, err
	}
	if n := len(past); n > 0 {
		if wait := past[n-1].At.Add(k.Every).Sub(now); wait > 0 {
			return Round{Wait: wait}, nil
		}
	}
	path, size, err := k.make(ctx, now)
	if err != nil {
		return Round{}, err
	}
	return Round{Made: path, Size: size, Wait: k.Every}, k.prune(past)
}

// past lists the keeper's backups. One that is of later than now was made when the
// clock was wrong: it neither puts the next off nor counts among those to keep.
func (k *Keeper) past(now time.Time) ([]File, error) {
	all, err := List(k.Dir)
	for n, f := range all {
		if f.At.After(now) {
			return all[:n], err
		}
	}
	return all, err
}

func (k *Keeper) make(ctx context.Context, now time.Time) (path string, size int64, err error) {
	sealed := len(k.Writer.Recipients) > 0
	path = filepath.Join(k.Dir, Name(now, sealed))
	temp, size, err := k.Make(ctx, filepath.Join(k.Dir, copies))
	if err != nil {
		return "", 0, err
	}
	if !sealed {
		return path, size, Writer{}.publish(temp, path)
	}
	f, err := os.Open(temp)
	if err == nil {
		err = errors.Join(k.Writer.File(ctx, path, f, size), f.Close())
	}
	return path, size, errors.Join(err, removed(temp))
}

// prune removes the oldest of what was there before a new backup was durable.
func (k *Keeper) prune(past []File) error {
	for len(past) > k.Keep-1 {
		if err := removed(filepath.Join(k.Dir, past[0].Name)); err != nil {
			return fmt.Errorf("remove an old backup: %w", err)
		}
		past = past[1:]
	}
	return nil
}
