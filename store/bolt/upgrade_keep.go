package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"pushbox/internal/durable"
	"pushbox/store/record"
)

// maxCopies is how many old files of one schema are kept: each return to the older version,
// followed by an upgrade, makes one.
const maxCopies = 9

// nameOld returns the name for the old file, and whether it exists already: an earlier upgrade gave
// the name to it, or to a file with the same bytes. Other files stay, even if they differ only in
// free pages. So does a file that cannot be dated, because RemoveCopies might remove it too early.
func (u *upgrade) nameOld() (path string, there bool, err error) {
	for n := 1; n <= maxCopies; n++ {
		path = fmt.Sprintf("%s.schema%d", u.path, u.schema)
		if n > 1 {
			path += fmt.Sprintf("-%d", n)
		}
		same, err := u.isOld(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, false, nil
		}
		if err == nil && same {
			if u.date(path) != nil {
				continue
			}
			err = durable.SyncDir(filepath.Dir(path)) // an earlier upgrade may have crashed before that
		}
		if err != nil || same {
			return path, same, err
		}
	}
	return "", false, fmt.Errorf("%w: there are already %d copies from earlier upgrades; remove those that you do not need", record.ErrFull, maxCopies)
}

// isOld reports whether path names the old file, or one with the same bytes.
func (u *upgrade) isOld(path string) (same bool, err error) {
	if named, err := u.from.isNamed(path); err != nil || named {
		return named, err
	}
	f, err := durable.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	theirs, err := f.Stat()
	if err != nil {
		return false, err
	}
	ours, err := u.from.file.Stat()
	if err != nil || ours.Size() != theirs.Size() {
		return false, err
	}
	return sameBytes(io.NewSectionReader(u.from.file, 0, ours.Size()), f)
}

// keepOld gives the old file a second name, which is durable when it returns. A link needs neither
// time nor space, and the first name stays until the copy takes it. If the file system has no
// links, or the file cannot be dated, keepOld copies it.
func (u *upgrade) keepOld(path string) error {
	err := u.date(u.path) // a link has the time of its file
	if err == nil {
		err = u.link(u.path, path)
	}
	if err == nil {
		return durable.SyncDir(filepath.Dir(path))
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	return u.copyOld(path)
}

// date sets the time of the old file to that of the upgrade, which RemoveCopies uses. If the
// upgrade fails before its last step, the file is still the database; that does no harm, and the
// next upgrade dates it again. If the clock is behind the last change, the clock is wrong and the
// time stays.
func (u *upgrade) date(path string) error {
	info, err := u.from.file.Stat()
	if err != nil {
		return err
	}
	at := time.Now()
	if info.ModTime().After(at) {
		at = info.ModTime()
	}
	if err := u.setTime(path, time.Time{}, at); err != nil {
		return err
	}
	if named, err := u.from.isNamed(path); err != nil || named {
		return errors.Join(err, u.from.file.Sync()) // to open and close the file again could release its lock
	}
	return syncPath(path)
}

// copyOld copies the old file to a new name, for its owner alone.
func (u *upgrade) copyOld(path string) error {
	info, err := u.from.file.Stat()
	if err == nil {
		err = u.wantFree(info.Size())
	}
	if err != nil {
		return err
	}
	temp, err := u.writeOld(info.Size())
	if err != nil {
		return fmt.Errorf("copy the old database: %w", err)
	}
	published, err := durable.Publish(temp, path)
	if err == nil && !published {
		err = &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return err
}

// writeOld writes a synced copy under a temporary name. If the copy is left over, the next process
// that opens the database removes it.
func (u *upgrade) writeOld(size int64) (temp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(u.path), durable.TempPattern(u.path))
	if err != nil {
		return "", err
	}
	if err = durable.Inherit(f, u.from.file); err == nil {
		err = f.Chmod(0o600)
	}
	if err == nil {
		_, err = io.Copy(f, io.NewSectionReader(u.from.file, 0, size))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, durable.Scrub(f.Name()))
	}
	_ = u.date(f.Name()) // otherwise it has the time of writing, which works as well
	return f.Name(), nil
}

// sameBytes reports whether two readers have the same content.
func sameBytes(a, b io.Reader) (bool, error) {
	var x, y [64 << 10]byte
	for {
		n, errA := io.ReadFull(a, x[:])
		m, errB := io.ReadFull(b, y[:])
		switch {
		case !bytes.Equal(x[:n], y[:m]):
			return false, nil
		case ended(errA) && ended(errB):
			return true, nil
		case errA != nil || errB != nil:
			return false, errors.Join(errA, errB)
		}
	}
}

func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// RemoveCopies removes the files that upgrades before that time have kept beside the
// file of the DB, and overwrites them. It returns how many there were. The time of such
// a file is that of its upgrade (see upgrade.date).
func (db *DB) RemoveCopies(ctx context.Context, before time.Time) (n int, err error) {
	if err := db.admit(ctx); err != nil {
		return 0, err
	}
	dir, name := filepath.Split(db.path)
	entries, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return 0, err
	}
	kept := regexp.MustCompile("^" + regexp.QuoteMeta(name) + `\.schema[0-9]+(-[0-9]+)?$`)
	for _, e := range entries {
		if !kept.MatchString(e.Name()) {
			continue
		}
		info, infoErr := e.Info()
		switch {
		case errors.Is(infoErr, fs.ErrNotExist): // another process removed it
		case infoErr != nil:
			err = errors.Join(err, infoErr)
		case info.ModTime().Before(before):
			err = errors.Join(err, durable.Scrub(filepath.Join(dir, e.Name())))
			n++
		}
	}
	if n > 0 {
		err = errors.Join(err, durable.SyncDir(filepath.Clean(dir)))
	}
	return n, err
}
