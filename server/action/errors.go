package action

import (
	"errors"
	"fmt"
	"time"

	"pushbox/internal/limit"
	"pushbox/store/record"
)

// ErrNotDeletable is record.ErrDenied for a delete, with the message of version 1.
var ErrNotDeletable = errors.New("that push is not deletable by viewers")

// A RangeError refuses a request for a part that the file does not have.
type RangeError struct{ Size int64 }

func (*RangeError) Error() string { return "range not satisfiable" }

// ErrUnmeant refuses a retrieval that a browser made by itself.
var ErrUnmeant = errors.New("the retrieval was not intended")

// Two reasons for limit.ErrBusy beside the memory for bodies and answers.
var (
	// ErrUploads says that too many uploads are running.
	ErrUploads = fmt.Errorf("%w: uploads", limit.ErrBusy)
	// ErrDownloads says that too many downloads are running.
	ErrDownloads = fmt.Errorf("%w: downloads", limit.ErrBusy)
)

// A LimitError refuses a request beyond a limit.
type LimitError struct {
	Wait time.Duration
	Name string // name of the limit
}

func (*LimitError) Error() string { return "too many requests" }

// MemoryWait is how long a request waits for others to give memory back.
const MemoryWait = 5 * time.Second

// Reasons why a server is not ready.
var (
	// ErrStarting says that the server does not serve yet.
	ErrStarting = errors.New("the server is starting")
	// ErrStopping says that the server will soon stop serving.
	ErrStopping = errors.New("the server is stopping")
)

// ErrExpired is record.ErrNotFound for a push that exists and has expired.
var ErrExpired = fmt.Errorf("%w: it has expired", record.ErrNotFound)

// ErrRequestOver is ErrExpired for a request for secrets.
var ErrRequestOver = fmt.Errorf("%w: so has the request", ErrExpired)

// Errors that only a server has.
var (
	// ErrUnauthorized refuses a caller without credentials.
	ErrUnauthorized = errors.New("this needs a valid API token")
	// ErrOwnerOnly refuses a delete by a caller without an account.
	ErrOwnerOnly = errors.New("only the owner may do this")
	// ErrTokenMFA refuses a token of an account without a second factor.
	ErrTokenMFA = errors.New("the token's account needs a second factor")
	// ErrCrossOrigin refuses a form that a page of another site sent.
	ErrCrossOrigin = errors.New("the form comes from another site")
	// ErrNoV1 refuses a request of API version 1 where it is switched off.
	ErrNoV1 = errors.New("API version 1 is switched off")
	// ErrHostUnknown refuses a request for a host that is not the server's.
	ErrHostUnknown = errors.New("the request is for another host")
)

// A BadRequest says what is wrong with a request. Clients may see its text.
type BadRequest string

func (e BadRequest) Error() string { return string(e) }

// A MethodError refuses a request whose path has only other methods.
type MethodError struct{ Allow []string }

func (*MethodError) Error() string { return "method not allowed" }

// A ScopeError refuses an API token without the scope that a route needs.
type ScopeError struct{ Needs record.Scopes }

func (e *ScopeError) Error() string {
	return "the API token does not have the scope " + e.Needs.String()
}

// ErrScrape says that a request for metrics does not have the token for them.
var ErrScrape = errors.New("this needs the token of the metrics")

// ScrapeMessage says what a request for metrics lacks.
const ScrapeMessage = "This needs the token in metrics.token_file: send it as Authorization: Bearer TOKEN."

// ErrAway says that the directory does not answer.
var ErrAway = errors.New("the directory does not answer")

// ErrNoLink refuses a link for an account whose password it could not set.
var ErrNoLink = errors.New("the account is disabled")

// ErrFirst is record.ErrNotFound for the page of the first account.
var ErrFirst = fmt.Errorf("%w: it has no code for a first account", record.ErrNotFound)

// ErrLink is record.ErrNotFound for a link that sets a password and has been used or has expired.
var ErrLink = fmt.Errorf("%w: no such link sets a password", record.ErrNotFound)
