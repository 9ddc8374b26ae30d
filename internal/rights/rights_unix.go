//go:build unix

// Package rights lets a command of root work with the rights of the user who owns a server's data.
//
// That user can replace each file in its directory by a link at any moment, and could so lead root to any file of the
// machine. What root makes there would also be closed to the server. So the effective user of the process changes; its
// real user stays root, to whom it returns for files that the caller named. All of that is a state of the process: its
// functions must not be called at the same time.
package rights

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

const root = 0 // the ID of the user and of the group

// taken is the owner whose rights Take took; nil: none.
var taken *Owner

// An Owner is the user to whom the files of a server belong.
type Owner struct {
	Dir      string // that belongs to it
	uid, gid int
	former   []int // the groups of this process before
}

// String returns the name of the user, for messages.
func (o *Owner) String() string {
	id := strconv.Itoa(o.uid)
	if u, err := user.LookupId(id); err == nil {
		return "the user " + u.Username
	}
	return "the user " + id
}

// Foreign returns the owner of the first of the directories that exists, if this process is root and the owner is
// another user; otherwise nil.
func Foreign(dirs ...string) (*Owner, error) {
	if os.Geteuid() != root {
		return nil, nil
	}
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		id, known := info.Sys().(*syscall.Stat_t)
		if !known || id.Uid == root {
			return nil, nil
		}
		return &Owner{Dir: dir, uid: int(id.Uid), gid: int(id.Gid)}, nil
	}
	return nil, nil
}

// Take makes this process work with the rights of the owner that Foreign returns, if there is one. After an error it has
// the rights of the caller, or fewer.
func Take(dirs ...string) error {
	if taken != nil {
		return nil
	}
	o, err := Foreign(dirs...)
	if err != nil || o == nil {
		return err
	}
	if err := o.act(); err != nil {
		return err
	}
	taken = o
	return nil
}

// Taken returns the owner with whose rights this process works; nil: with those of the caller.
func Taken() *Owner { return taken }

// AsCaller does something with the rights that this process was started with: reading and writing files that the caller
// named.
func AsCaller(do func() error) error {
	if taken == nil || os.Geteuid() == root {
		return do()
	}
	err := stop(taken.former)
	if err == nil {
		err = do()
	}
	return errors.Join(err, taken.act())
}

// Beside does something with a file and others in its directory: with the rights of the caller, if only root can replace
// files there.
func Beside(path string, do func() error) error {
	if taken == nil || os.Geteuid() == root {
		return do()
	}
	of := false
	err := AsCaller(func() (err error) {
		if of, err = ofRootAlone(path); of {
			err = do()
		}
		return err
	})
	if err != nil || of {
		return err
	}
	return do()
}

const othersWrite = 0o022

// ofRootAlone reports whether no other user than root can change where a path leads.
func ofRootAlone(path string) (bool, error) {
	at, err := filepath.Abs(path)
	if err != nil {
		return false, err
	}
	if info, err := os.Lstat(at); err == nil && !info.Mode().IsRegular() {
		return false, nil
	}
	dir := filepath.Dir(at)
	for at = dir; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return false, nil // it has no file to work with
		}
		id, known := info.Sys().(*syscall.Stat_t)
		shared := info.Mode()&othersWrite != 0 && (at == dir || info.Mode()&fs.ModeSticky == 0)
		if !known || id.Uid != root || !info.IsDir() || shared {
			return false, nil
		}
		if at == filepath.Dir(at) {
			return true, nil
		}
	}
}

// act makes the system decide by the rights of the owner what this process may do.
func (o *Owner) act() (err error) {
	if o.former, err = syscall.Getgroups(); err != nil {
		return err
	}
	groups := []int{o.gid}
	if u, err := user.LookupId(strconv.Itoa(o.uid)); err == nil { // a container may not name its users
		ids, _ := u.GroupIds() // none, if there is no list of groups
		for _, id := range ids {
			if n, err := strconv.Atoi(id); err == nil {
				groups = append(groups, n)
			}
		}
	}
	if err = syscall.Setgroups(groups); err == nil {
		err = syscall.Setregid(-1, o.gid)
	}
	if err == nil {
		err = syscall.Setreuid(-1, o.uid)
	}
	if err != nil {
		return fmt.Errorf("%s belongs to %s, and this process cannot work with the rights of that user: %w", o.Dir, o, err)
	}
	return nil
}

// stop gives this process the rights of root back.
func stop(groups []int) error {
	err := syscall.Setreuid(-1, root)
	if err == nil {
		err = errors.Join(syscall.Setregid(-1, root), syscall.Setgroups(groups))
	}
	return err
}
