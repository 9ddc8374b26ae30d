package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"pushbox/internal/admin"
	"pushbox/internal/backup"
)

// deliver brings a copy that was made to where it is to be.
func (a *app) deliver(ctx context.Context, made admin.BackupResult, name string, w backup.Writer) error {
	from, err := takeCopy(made.Path)
	if err != nil {
		return err
	}
	p := a.progress("writing")
	w.Progress = p.set
	if name == standard {
		err = w.Stream(ctx, a.stdout, from, made.Size)
	} else {
		err = w.File(ctx, name, from, made.Size)
	}
	p.end()
	if errors.Is(err, fs.ErrExist) {
		err = existsAlready(name)
	}
	return errors.Join(err, from.Close())
}

// A taken copy is a file that has no name any more, so that nothing is left of it
// when the command ends, however that comes about. Where the system keeps the names
// of open files, it goes with Close.
type takenCopy struct {
	*os.File
	named bool
}

func takeCopy(path string) (takenCopy, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return takenCopy{}, withHint(errors.New("the copy was taken for a leftover by another start of pushbox"), "run the command again")
	}
	if err != nil {
		return takenCopy{}, err
	}
	return takenCopy{f, os.Remove(path) != nil}, nil
}

// Close closes the copy, after which it is gone.
func (c takenCopy) Close() error {
	err := c.File.Close()
	if c.named {
		err = errors.Join(err, os.Remove(c.Name()))
	}
	return err
}
