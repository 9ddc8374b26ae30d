// Package rights lets root work in directories of other users with the rights of those.
//
// Such a user can replace each file there by a link at any moment, and could so lead root to any file of the machine. What
// root makes there would also be closed to the server. So the effective user of the process changes, while its real user
// stays root. That is a state of the whole process: these functions must not be called at the same time. For other users
// they change nothing.
package rights

import (
	"errors"
	"fmt"
	"os/user"
	"strconv"
)

// taken is the user as whom this process works since Take, and now that of this moment; nil: the caller.
var taken, now *Owner

// An Owner is a user of the machine who can replace files in a directory.
type Owner struct {
	At       string // what belongs to that user
	uid, gid int
}

// String returns the name of the user, for messages.
func (o *Owner) String() string {
	if u, err := user.LookupId(strconv.Itoa(o.uid)); err == nil {
		return "the user " + u.Username
	}
	return fmt.Sprintf("the user %d", o.uid)
}

// Of returns the user who can replace files in a directory, or lead its path elsewhere, if this process is root, and that is
// another user; otherwise nil. The directory need not exist. It returns an error where too many users can do that.
func Of(dir string) (*Owner, error) { return find(dir, true) }

// Take makes this process work with the rights of the user that Of returns, if there is one, from now on.
func Take(dir string) error {
	o, err := Of(dir)
	if err != nil || o == nil || taken != nil {
		return err
	}
	if err := become(o); err != nil {
		return errors.Join(err, become(nil))
	}
	taken = o
	return nil
}

// Taken returns the user with whose rights this process works since Take; nil: the caller.
func Taken() *Owner { return taken }

// AsCaller does something with the rights that this process was started with.
func AsCaller(do func() error) error { return Access{}.Do(do) }

// An Access is the user with whose rights files are read and written; the zero value is the caller.
type Access struct{ by *Owner }

// At returns the access to a file and others beside it: that of the user who can replace files there. The error is that of Of.
func At(path string) (a Access, err error) {
	err = AsCaller(func() (err error) { a.by, err = find(path, false); return err })
	return a, err
}

// Owner returns the user; nil: the caller.
func (a Access) Owner() *Owner { return a.by }

// Do does something with that access.
func (a Access) Do(do func() error) error {
	before := now
	err := become(a.by)
	if err == nil {
		err = do()
	}
	return errors.Join(err, become(before))
}

// Beside is At and Do.
func Beside(path string, do func() error) error {
	a, err := At(path)
	if err != nil {
		return err
	}
	return a.Do(do)
}

// Read is Beside for a function that returns a value.
func Read[T any](path string, do func() (T, error)) (v T, err error) {
	err = Beside(path, func() (err error) {
		v, err = do()
		return err
	})
	return v, err
}
