package admin

import (
	"context"
	"errors"

	"pushbox/store"
)

// Errors of the socket and of reaching a server.
var (
	// ErrNoServer says that no server listens on the socket.
	ErrNoServer = errors.New("no server is running")
	// ErrUnknown says that the server does not have the operation.
	ErrUnknown = errors.New("the running server has another version and does not know this operation")
	// ErrSilent says that a long operation has reported no progress for a while.
	ErrSilent = errors.New("the server stopped reporting progress")
	// ErrPathTooLong says that a path is longer than this platform allows for a Unix
	// socket.
	ErrPathTooLong = errors.New("the path of the socket is too long")
	// ErrNotSocket says that the path of a socket is taken by something else.
	ErrNotSocket = errors.New("the path of the socket is taken by something that is not a socket")
)

// A code names an error in an answer.
type code struct {
	name string
	err  error
}

// codes lists the errors that errors.Is still matches on the caller's side of the socket.
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
		{"no-keys", store.ErrNoKeys},
		{"denied", store.ErrDenied},
		{"passphrase", store.ErrPassphrase},
		{"locked", store.ErrLocked},
		{"frozen", store.ErrFrozen},
		{"quota", store.ErrQuota},
		{"unconfirmed", store.ErrUnconfirmed},
		{"code", store.ErrCode},
		{"identity-taken", store.ErrIdentityTaken},
		{"stale", store.ErrStale},
		{"tokens", store.ErrTokens},
		{"last-admin", store.ErrLastAdmin},
		{"own-account", store.ErrOwnAccount},
		{"room", store.ErrRoom},
		{"requests", store.ErrRequests},
		{"no-answers", store.ErrNoAnswers},
		{"file-size", store.ErrFileSize},
		{"busy", store.ErrBusy},
		{"clock", store.ErrClock},
		{"lost", store.ErrLost},
		{"full", store.ErrFull},
		{"standby", store.ErrStandby},
		{"unavailable", store.ErrUnavailable},
		{"stale-keys", store.ErrStaleKeys},
		{"moved", store.ErrMoved},
		{"failed", store.ErrFailed},
		{"closed", store.ErrClosed},
		{"unknown", ErrUnknown},
		{"stopping", context.Canceled},
	}
}

// A failure is an error in an answer.
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

// error returns the error that the failure stands for. An error without a code keeps only
// its message.
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

// A remoteError has the message of the server's error, and wraps the error of its code.
type remoteError struct {
	message string
	kind    error
}

func (e *remoteError) Error() string { return e.message }
func (e *remoteError) Unwrap() error { return e.kind }
