package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"pushbox/internal/durable"
	"pushbox/store"
)

// mostCopies is how many copies of a file of one schema are kept: one more for each
// time that somebody went back to the older version and forward again.
const mostCopies = 9

// An upgrade brings a file of an older schema to the present one. It holds the
// file's lock.
type upgrade struct {
	handle *handle
	path   string
	from   uint32
	free   freeSpace
	note   func(string)
}

func newUpgrade(db *DB, h *handle, from uint32, note func(string)) *upgrade {
	if note == nil {
		note = func(string) {}
	}
	return &upgrade{handle: h, path: db.path, from: from, free: freeBytes, note: note}
}

// run keeps a copy, then changes the file in one transaction. Whenever it is cut
// short, the file is of the one schema or of the other, whole.
func (u *upgrade) run() error {
	kept, err := u.keepCopy()
	if err == nil {
		err = u.handle.write(func(t *tx) error { return migrate(t.bolt, u.from) })
	}
	if err != nil {
		return fmt.Errorf("upgrade from schema %d to %d: %w", u.from, schemaNumber, explainRoom(err))
	}
	u.note(fmt.Sprintf("upgraded the database from schema %d to %d; as it was, it is kept in %s: remove that once you are sure not to go back",
		u.from, schemaNumber, kept))
	return nil
}

// keepCopy keeps the file as it is under another name beside it. A copy that is
// there already serves if it is the same; one that differs stays, too, though it may
// differ in no more than what a commit that was cut short wrote into free pages.
func (u *upgrade) keepCopy() (path string, err error) {
	for n := 1; n <= mostCopies; n++ {
		path = fmt.Sprintf("%s.schema%d", u.path, u.from)
		if n > 1 {
			path += fmt.Sprintf("-%d", n)
		}
		same, err := u.isCopy(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, u.copyTo(path)
		}
		if err != nil || same {
			return path, err
		}
	}
	return "", fmt.Errorf("%w: there are %d copies of earlier upgrades beside it already; remove those that are not needed", store.ErrFull, mostCopies)
}

// isCopy reports whether the file at path has the bytes of the database.
func (u *upgrade) isCopy(path string) (same bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	theirs, err := f.Stat()
	if err != nil {
		return false, err
	}
	ours, err := u.handle.file.Stat()
	if err != nil || ours.Size() != theirs.Size() {
		return false, err
	}
	return sameBytes(io.NewSectionReader(u.handle.file, 0, ours.Size()), f)
}

// copyTo keeps the file under a new name, for its owner alone.
func (u *upgrade) copyTo(path string) error {
	info, err := u.handle.file.Stat()
	if err == nil {
		err = u.wantRoom(info.Size())
	}
	if err != nil {
		return err
	}
	u.note(fmt.Sprintf("upgrading the database from schema %d to %d: first a copy of it is made, of %s", u.from, schemaNumber, mebibytes(info.Size())))
	temp, err := u.writeCopy(info.Size())
	if err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	published, err := durable.Publish(temp, path)
	if err == nil && !published {
		err = &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return err
}

// wantRoom refuses to begin if the copy would leave too little room for what
// follows it.
func (u *upgrade) wantRoom(size int64) error {
	dir := filepath.Dir(u.path)
	free, known, err := u.free(dir)
	if err != nil {
		return fmt.Errorf("free space of %s: %w", dir, err)
	}
	if need := size + copyReserve; known && free < need {
		return fmt.Errorf("%w: a copy of the database comes first, which needs %s free in %s, and %s are",
			store.ErrFull, mebibytes(need), dir, mebibytes(free))
	}
	return nil
}

// writeCopy writes a synced copy under a temporary name, which the next to open the
// database removes if it stays.
func (u *upgrade) writeCopy(size int64) (temp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(u.path), durable.TempPattern(u.path))
	if err != nil {
		return "", err
	}
	if err = inherit(f, u.handle.file); err == nil {
		err = f.Chmod(0o600)
	}
	if err == nil {
		_, err = io.Copy(f, io.NewSectionReader(u.handle.file, 0, size))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// explainRoom makes a lack of room the error that it is.
func explainRoom(err error) error {
	if noRoom(err) {
		return fmt.Errorf("%w: %w", store.ErrFull, err)
	}
	return err
}

// sameBytes reports whether two readers have the same to their ends.
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
