package admin

import (
	"context"
	"errors"

	"pushbox/store/record"
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
	// ErrNotSocket says that the path of a socket exists, but is not a socket.
	ErrNotSocket = errors.New("the path of the socket exists, but is not a socket")
)

type code struct {
	name string
	err  error
}

// codes lists the errors that errors.Is still matches on the caller's side of the socket.
func codes() []code {
	return []code{
		{"in-use", record.ErrInUse},
		{"key", record.ErrKey},
		{"schema", record.ErrSchema},
		{"corrupt", record.ErrCorrupt},
		{"not-found", record.ErrNotFound},
		{"exists", record.ErrExists},
		{"token", record.ErrToken},
		{"credentials", record.ErrCredentials},
		{"session", record.ErrSession},
		{"no-keys", record.ErrNoKeys},
		{"denied", record.ErrDenied},
		{"passphrase", record.ErrPassphrase},
		{"locked", record.ErrLocked},
		{"frozen", record.ErrFrozen},
		{"early", record.ErrEarly},
		{"network", record.ErrNetwork},
		{"recipient", record.ErrRecipient},
		{"live", record.ErrLive},
		{"quota", record.ErrQuota},
		{"unconfirmed", record.ErrUnconfirmed},
		{"code", record.ErrCode},
		{"identity-taken", record.ErrIdentityTaken},
		{"stale", record.ErrStale},
		{"tokens", record.ErrTokens},
		{"last-admin", record.ErrLastAdmin},
		{"own-account", record.ErrOwnAccount},
		{"room", record.ErrRoom},
		{"requests", record.ErrRequests},
		{"no-answers", record.ErrNoAnswers},
		{"file-size", record.ErrFileSize},
		{"busy", record.ErrBusy},
		{"clock", record.ErrClock},
		{"lost", record.ErrLost},
		{"full", record.ErrFull},
		{"standby", record.ErrStandby},
		{"unavailable", record.ErrUnavailable},
		{"stale-keys", record.ErrStaleKeys},
		{"moved", record.ErrMoved},
		{"failed", record.ErrFailed},
		{"closed", record.ErrClosed},
		{"unknown", ErrUnknown},
		{"stopping", context.Canceled},
	}
}

type failure struct {
	Code    string              // empty: an error of no special meaning
	Message string              // text of the error
	Fields  map[string][]string // of an InvalidError
}

func newFailure(err error) failure {
	f := failure{Message: err.Error()}
	if invalid := (*record.InvalidError)(nil); errors.As(err, &invalid) {
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

func (f failure) error() error {
	if len(f.Fields) > 0 {
		return &record.InvalidError{Fields: f.Fields}
	}
	for _, c := range codes() {
		if f.Code == c.name {
			return &remoteError{f.Message, c.err}
		}
	}
	return errors.New(f.Message)
}

type remoteError struct {
	message string
	kind    error
}

func (e *remoteError) Error() string { return e.message }
func (e *remoteError) Unwrap() error { return e.kind }
