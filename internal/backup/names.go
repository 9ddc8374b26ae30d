package backup

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

const (
	prefix    = "pushbox-"
	stamp     = "20060102T150405Z"
	plain     = ".db"
	encrypted = ".db.age"
)

// Name returns the file name of a backup that was begun at t.
func Name(t time.Time, isEncrypted bool) string {
	name := prefix + t.UTC().Format(stamp)
	if isEncrypted {
		return name + encrypted
	}
	return name + plain
}

// A File is a backup in a directory.
type File struct {
	Name string
	At   time.Time // when it was begun, as its name says
}

// Encrypted reports whether the backup is encrypted, as its name says.
func (f File) Encrypted() bool { return strings.HasSuffix(f.Name, encrypted) }

// List returns the backups in a directory, oldest first: files with names of Name. A missing
// directory has none.
func List(dir string) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []File
	for _, e := range entries {
		if at, ok := parseName(e.Name()); ok && e.Type().IsRegular() {
			all = append(all, File{e.Name(), at})
		}
	}
	slices.SortFunc(all, func(a, b File) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Name, b.Name))
	})
	return all, nil
}

func parseName(name string) (at time.Time, ok bool) {
	rest, ours := strings.CutPrefix(name, prefix)
	text, isEncrypted := strings.CutSuffix(rest, encrypted)
	if !isEncrypted {
		text = strings.TrimSuffix(rest, plain)
	}
	at, err := time.Parse(stamp, text)
	return at, ours && err == nil && name == Name(at, isEncrypted)
}
