package admin

import (
	"context"
	"errors"

	"pushbox/store"
)

// Errors of the socket and of reaching a server.
var (
	// ErrNoServer says that nobody answers on the socket: no server runs.
	ErrNoServer = errors.New("no server is running")
	// ErrUnknown says that the server does not have the operation.
	ErrUnknown = errors.New("the running server is of another version and does not know this operation")
	// ErrSilent says that the server has not told for a while that it goes on
	// with the operation.
	ErrSilent = errors.New("the server says nothing any more")
	// ErrPathTooLong says that a path has more bytes than that of a Unix socket
	// may have on this platform.
	ErrPathTooLong = errors.New("the path of the socket is too long")
	// ErrNotSocket says that something else is where the socket is to be.
	ErrNotSocket = errors.New("something that is not a socket is in the way of the control socket")
)

// A code names an error in an answer.
type code struct {
	name string
	err  error
}

// codes is every error that the other side of the socket recognises.
func codes() []code {
	return []code{
		{"in-use", store.ErrInUse},
		{"key", store.ErrKey},
		{"schema", store.ErrSchema},
		{"corrupt", store.ErrCorrupt},
		{"not-found", store.ErrNotFound},
		{"exists", store.ErrExists},
		{"token", store.ErrToken},
		{"credentials", store.ErrCredentials},
		{"session", store.ErrSession},
		{"denied", store.ErrDenied},
		{"passphrase", store.ErrPassphrase},
		{"locked", store.ErrLocked},
		{"quota", store.ErrQuota},
		{"file-size", store.ErrFileSize},
		{"busy", store.ErrBusy},
		{"clock", store.ErrClock},
		{"full", store.ErrFull},
		{"failed", store.ErrFailed},
		{"closed", store.ErrClosed},
		{"unknown", ErrUnknown},
		{"stopping", context.Canceled},
	}
}

// A failure is an error as an answer carries it.
type failure struct {
	Code    string              // empty: an error of no special meaning
	Message string              // what the error says
	Fields  map[string][]string // of an InvalidError
}

func newFailure(err error) failure {
	f := failure{Message: err.Error()}
	if invalid := (*store.InvalidError)(nil); errors.As(err, &invalid) {
		f.Fields = invalid.Fields
	}
	for _, c := range codes() {
		if errors.Is(err, c.err) {
			f.Code = c.name
			break
		}
	}
	return f
}

// error is the error that the failure was made of, as far as it can tell.
func (f failure) error() error {
	if len(f.Fields) > 0 {
		return &store.InvalidError{Fields: f.Fields}
	}
	for _, c := range codes() {
		if f.Code == c.name {
			return &remoteError{f.Message, c.err}
		}
	}
	return errors.New(f.Message)
}

// A remoteError says what the server's error said, and is what it was.
type remoteError struct {
	message string
	kind    error
}

func (e *remoteError) Error() string { return e.message }
func (e *remoteError) Unwrap() error { return e.kind }
