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

// A Keeper makes scheduled backups in a directory, and removes the oldest. It recognises its
// backups by their names.
type Keeper struct {
	Dir    string
	Every  time.Duration // from one backup to the next
	Keep   int           // how many backups stay
	Writer Writer
	Now    func() time.Time
	// Make makes a verified copy in the directory of path, under a temporary name
	// that durable.RemoveLeftovers(path) finds.
	Make func(ctx context.Context, path string) (Copy, error)
}

// A Copy is a verified copy of a database.
type Copy struct {
	Path string
	Size int64  // in bytes
	Key  string // the ID of the key that opens it
}

const copies = "pushbox-copy"

// A Round is the result of a keeper's run.
type Round struct {
	Made string        // the path of the new backup; empty: none was due
	At   time.Time     // when it was begun
	Size int64         // of its database, in bytes
	Key  string        // the ID of the key that opens it
	Wait time.Duration // until the next is due
}

// Round makes a backup if one is due, and then removes the oldest beyond Keep. It also
// removes the files of a Round that was killed.
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
	path, made, err := k.make(ctx, now)
	if err != nil {
		return Round{}, err
	}
	return Round{Made: path, At: now, Size: made.Size, Key: made.Key, Wait: k.Every}, k.prune(past)
}

// Newest returns when the keeper's newest backup was begun; zero if there is none.
func (k *Keeper) Newest() (time.Time, error) {
	past, err := k.past(k.Now())
	if len(past) == 0 {
		return time.Time{}, err
	}
	return past[len(past)-1].At, err
}

// past lists the keeper's backups. It leaves out backups from after now, which were made
// with a wrong clock: they neither delay the next one nor count towards Keep.
func (k *Keeper) past(now time.Time) ([]File, error) {
	all, err := List(k.Dir)
	for n, f := range all {
		if f.At.After(now) {
			return all[:n], err
		}
	}
	return all, err
}

func (k *Keeper) make(ctx context.Context, now time.Time) (path string, made Copy, err error) {
	sealed := len(k.Writer.Recipients) > 0
	path = filepath.Join(k.Dir, Name(now, sealed))
	if made, err = k.Make(ctx, filepath.Join(k.Dir, copies)); err != nil {
		return "", made, err
	}
	if !sealed {
		return path, made, Writer{}.publish(made.Path, path)
	}
	f, err := os.Open(made.Path)
	if err == nil {
		err = errors.Join(k.Writer.File(ctx, path, f, made.Size), f.Close())
	}
	return path, made, errors.Join(err, durable.Scrub(made.Path))
}

// prune removes the oldest of the backups before the new one, which is durable by now.
func (k *Keeper) prune(past []File) error {
	for len(past) > k.Keep-1 {
		if err := discard(filepath.Join(k.Dir, past[0].Name), past[0].Encrypted()); err != nil {
			return fmt.Errorf("remove an old backup: %w", err)
		}
		past = past[1:]
	}
	return nil
}
