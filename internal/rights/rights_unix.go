//go:build unix

package rights

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	root     = 0  // the ID of the user and of the group
	maxLinks = 40 // in a path, as Linux allows
)

// find returns the user with whose rights to work at a path: the last one other than root who owns a directory on the way
// there, or a link; nil if there is none. The last part of the path counts if it is a link, if every user can replace it, or
// if last is set.
func find(path string, last bool) (found *Owner, err error) {
	if os.Geteuid() != root || path == "" {
		return nil, nil
	}
	at, rest, links := "/", path, 0
	if !filepath.IsAbs(path) {
		dir, err := os.Getwd()
		if err != nil {
			return nil, err
		}
		rest = dir + "/" + path
	}
	for open := false; rest != ""; {
		var name string
		switch name, rest, _ = strings.Cut(rest, "/"); name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at) // which has no link, as no part of it has
			continue
		}
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		id, known := info.Sys().(*syscall.Stat_t)
		isLink := info.Mode()&fs.ModeSymlink != 0
		if !known || strings.Trim(rest, "/") == "" && !last && !isLink && !open {
			return found, nil
		}
		if id.Uid != root {
			found = newOwner(at, id)
		}
		switch {
		case isLink && found != nil: // wherever it leads
			return found, nil
		case isLink:
			links++
			if at, rest, err = follow(at, rest, links); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		case info.IsDir():
			if open, err = isOpen(at, info.Mode(), id); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// isOpen reports whether every user can make files in a directory, but replace none of others. If others than the owner can
// replace files, it returns an error: no user's rights would be few enough.
func isOpen(dir string, mode fs.FileMode, id *syscall.Stat_t) (bool, error) {
	switch sticky := mode&fs.ModeSticky != 0; {
	case mode&0o002 != 0 && !sticky:
		return false, fmt.Errorf("every user can replace files in %[1]s: run chmod o-w %[1]s", dir)
	case mode&0o020 != 0 && !sticky && id.Uid == root && id.Gid != root:
		return false, fmt.Errorf("the group %d can replace files in %[2]s: run chmod g-w %[2]s, or the command as the user of the server", id.Gid, dir)
	default:
		return mode&0o022 != 0, nil
	}
}

// follow replaces a link at the end of at by where it leads.
func follow(at, rest string, links int) (string, string, error) {
	if links > maxLinks {
		return "", "", syscall.ELOOP
	}
	target, err := os.Readlink(at)
	if filepath.IsAbs(target) {
		return "/", target + "/" + rest, err
	}
	return filepath.Dir(at), target + "/" + rest, err
}

// newOwner returns the owner of a file, with the group that the system names for that user. A user without a name, as in a
// container, has the group of the same number.
func newOwner(at string, id *syscall.Stat_t) *Owner {
	o := &Owner{At: at, uid: int(id.Uid), gid: int(id.Uid)}
	if u, err := user.LookupId(strconv.Itoa(o.uid)); err == nil {
		if gid, err := strconv.Atoi(u.Gid); err == nil {
			o.gid = gid
		}
	}
	if o.gid == root {
		o.gid = o.uid
	}
	return o
}

// groups returns all groups of the user.
func (o *Owner) groups() []int {
	all := []int{o.gid}
	u, err := user.LookupId(strconv.Itoa(o.uid))
	if err != nil {
		return all // a container may not name its users
	}
	ids, _ := u.GroupIds() // none, if there is no list of groups
	for _, id := range ids {
		if n, err := strconv.Atoi(id); err == nil && n != root && n != o.gid {
			all = append(all, n)
		}
	}
	return all
}

// become makes the system decide by the rights of a user what this process may do; nil: by those of root, from which the
// process began. After an error it has the rights of root, or fewer.
func become(o *Owner) error {
	if o == now {
		return nil
	}
	if now != nil {
		if err := errors.Join(setEffective(root, root), syscall.Setgroups(former)); err != nil {
			return fmt.Errorf("return to the rights of root: %w", err)
		}
		now = nil
	}
	if o == nil {
		return nil
	}
	var err error
	if former, err = syscall.Getgroups(); err != nil {
		return err
	}
	if err = syscall.Setgroups(o.groups()); err == nil {
		now, err = o, setEffective(o.uid, o.gid)
	}
	if err != nil {
		return fmt.Errorf("%s belongs to %s, and this process cannot work with the rights of that user (run the command as that user): %w", o.At, o, err)
	}
	return nil
}

// former has the groups of this process while now is not nil.
var former []int
