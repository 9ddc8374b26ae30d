package store

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Errors of opening a store.
var (
	ErrInUse   = errors.New("the database is in use by another process")
	ErrKey     = errors.New("the master key does not fit this database")
	ErrSchema  = errors.New("the database was written by another version of pushbox")
	ErrCorrupt = errors.New("the database is damaged")
)

// Errors of finding things.
var (
	// ErrNotFound is the one answer for what is unknown, malformed or purged.
	ErrNotFound = errors.New("not found")
	// ErrExists says that there is one of that name already.
	ErrExists = errors.New("exists already")
)

// Errors of permission.
var (
	// ErrToken says that an API token is unknown, expired, or of a disabled account.
	ErrToken = errors.New("the API token is not valid")
	// ErrCredentials says that the address or the password is wrong, or the code
	// of the second factor; it does not say which.
	ErrCredentials = errors.New("the address or the password is not right")
	// ErrSession says that a session is unknown or over.
	ErrSession = errors.New("the session has ended")
	// ErrDenied says that the actor is not allowed to do this.
	ErrDenied = errors.New("not allowed")
	// ErrPassphrase says that the passphrase is missing or wrong; it comes as a *PassphraseError.
	ErrPassphrase = errors.New("the passphrase is incorrect")
	// ErrQuota says that as much was done on this day as may be; it comes as a *QuotaError.
	ErrQuota = errors.New("as much was sent today as may be")
	// ErrLocked says that there were too many wrong passphrases, passwords or
	// codes, or too many sign-ins of a client; it comes as a *LockedError.
	ErrLocked = errors.New("too many tries")
)

// ErrFileSize says that a file is larger than files may be.
var ErrFileSize = errors.New("the file is too large")

// Errors of the store's state.
var (
	// ErrBusy says that more waits than is sensible: passphrases to be checked,
	// or pushes to be ended; or that a compaction runs, or cannot keep up.
	ErrBusy = errors.New("too much is waiting")
	// ErrClock says that the system clock jumped, and that it is not yet known
	// whether to believe it.
	ErrClock = errors.New("the system clock jumped")
	// ErrFull says that there is no room for another push.
	ErrFull = errors.New("the store is full")
	// ErrFailed says that a commit ended in an unknown state: nothing more is
	// read or written until the file is opened again.
	ErrFailed = errors.New("the store has failed")
	// ErrClosed says that the store was closed.
	ErrClosed = errors.New("the store is closed")
)

// instead returns err, or other where err is what it stands in for.
func instead(err, is, other error) error {
	if errors.Is(err, is) {
		return other
	}
	return err
}

// A LockedError is an ErrLocked that knows when to try again.
type LockedError struct {
	RetryAfter time.Duration
	Limit      string // which one: passphrases_per_client, passphrases_per_push, sign_ins_per_client or sign_ins_per_account
}

func (*LockedError) Error() string { return ErrLocked.Error() }

// Unwrap returns ErrLocked.
func (*LockedError) Unwrap() error { return ErrLocked }

// A PassphraseError is an ErrPassphrase that knows how many more wrong ones may
// come from the same client before it is ErrLocked.
type PassphraseError struct {
	Left       int           // 0: none now; math.MaxInt: any number
	RetryAfter time.Duration // how long none may; 0 unless Left is
}

func (*PassphraseError) Error() string { return ErrPassphrase.Error() }

// Unwrap returns ErrPassphrase.
func (*PassphraseError) Unwrap() error { return ErrPassphrase }

// A QuotaError is an ErrQuota that knows whose limit it is, and when to try again.
type QuotaError struct {
	Whole      bool          // it is that of the whole instance, not of an account
	RetryAfter time.Duration // until the next day begins
}

func (*QuotaError) Error() string { return ErrQuota.Error() }

// Unwrap returns ErrQuota.
func (*QuotaError) Unwrap() error { return ErrQuota }

// An InvalidError tells what is wrong with an input, field by field. It never
// holds the input itself.
type InvalidError struct{ Fields map[string][]string }

// Add notes a problem of a field.
func (e *InvalidError) Add(field, message string) {
	if e.Fields == nil {
		e.Fields = make(map[string][]string)
	}
	e.Fields[field] = append(e.Fields[field], message)
}

// Err returns e as an error, or nil if nothing was added.
func (e *InvalidError) Err() error {
	if len(e.Fields) == 0 {
		return nil
	}
	return e
}

func (e *InvalidError) Error() string {
	var parts []string
	for field, messages := range e.Fields {
		parts = append(parts, field+" "+strings.Join(messages, ", "))
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}
