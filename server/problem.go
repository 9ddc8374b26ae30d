package server

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pushbox/store"
)

// Errors that only a server has.
var (
	errUnauthorized = errors.New("this needs a valid API token")
	errMediaType    = errors.New("unsupported media type")
	errTooLarge     = errors.New("the request body is too large")
	errCrowded      = errors.New("too many large requests")
	errOwnerOnly    = errors.New("only the owner may do this")
	errEncoding     = errors.New("unsupported content encoding")
	errCrossOrigin  = errors.New("a form of another site")
	errHostUnknown  = errors.New("the request is for another host")
)

// A badRequest is a request that makes no sense; its text may be shown.
type badRequest string

func (e badRequest) Error() string { return string(e) }

// A methodError is a request whose path has other methods.
type methodError struct{ allow []string }

func (*methodError) Error() string { return "method not allowed" }

// A limitError is a request too many.
type limitError struct {
	wait time.Duration
	name string // of the limit
}

func (*limitError) Error() string { return "too many requests" }

// A problem is how an error is told to a client.
type problem struct {
	err     error
	status  int
	code    string
	message string
	name    string // of its page's texts, where the code says too little
	header  [][2]string
	retry   time.Duration // a Retry-After, where the error does not know better
}

// problems is the one place that gives errors their statuses. What is not in
// it is a 500. Errors with a message of their own come through tell.
var problems = [...]problem{
	{err: store.ErrNotFound, status: http.StatusNotFound, code: "not-found", message: "There is nothing at this address."},
	{err: store.ErrPassphrase, status: http.StatusUnauthorized, code: "That passphrase is incorrect.", message: "This push opens with a passphrase: give it as passphrase in the query or in the header X-Push-Passphrase."},
	{err: store.ErrLocked, status: http.StatusTooManyRequests, code: "too-many-requests", message: "There were too many wrong passphrases for this push. Try again later."},
	{err: store.ErrQuota, status: http.StatusTooManyRequests, code: "too-many-requests", message: "So many mails cannot be sent today any more. Nothing was done; it can be done without mail, or tomorrow."},
	{err: store.ErrToken, status: http.StatusUnauthorized, code: "unauthorized", message: "The API token is not valid."},
	{err: errUnauthorized, status: http.StatusUnauthorized, code: "unauthorized", message: "This needs an API token: send it as Authorization: Bearer TOKEN."},
	{err: store.ErrCredentials, status: http.StatusUnauthorized, code: "unauthorized", message: "The address or the password is not right."},
	{err: store.ErrSession, status: http.StatusUnauthorized, code: "unauthorized", message: "The session has ended. Sign in again."},
	{err: store.ErrDenied, status: http.StatusForbidden, code: "forbidden", message: "Only the owner of this push may do this."},
	{err: errMediaType, status: http.StatusUnsupportedMediaType, code: "unsupported-media-type", message: "Send the body as application/json, multipart/form-data or application/x-www-form-urlencoded, in UTF-8."},
	{err: errEncoding, status: http.StatusUnsupportedMediaType, code: "unsupported-media-type", message: "Send the body without a content encoding."},
	{err: errCrossOrigin, status: http.StatusForbidden, code: "forbidden", name: "cross-origin", message: "This was sent from a page of another site."},
	{err: errOwnerOnly, status: http.StatusUnauthorized, code: "unauthorized", message: "Only the owner of this push may do this: send an API token of theirs as Authorization: Bearer TOKEN."},
	{err: errTooLarge, status: http.StatusRequestEntityTooLarge, code: "payload-too-large", message: "The request body is larger than this server takes."},
	{err: store.ErrFileSize, status: http.StatusRequestEntityTooLarge, code: "payload-too-large", message: "A file is larger than this server takes."},
	{err: store.ErrFull, status: http.StatusInsufficientStorage, code: "insufficient-storage", message: "The server has no room left for this. What it holds is not affected."},
	{err: store.ErrBusy, status: http.StatusServiceUnavailable, code: "unavailable", message: "Too much is waiting, such as passphrases to be checked. Try again in a moment.", retry: time.Second},
	{err: errCrowded, status: http.StatusServiceUnavailable, code: "unavailable", message: "Too many large requests are on their way. Try again in a moment.", retry: bodyWait},
	{err: store.ErrClock, status: http.StatusServiceUnavailable, code: "unavailable", message: "The server's clock jumped, and it is waiting whether that was right. Try again later.", retry: time.Minute},
	{err: store.ErrFailed, status: http.StatusServiceUnavailable, code: "unavailable", message: "The store has failed. Nothing was lost that was acknowledged; the server must be started again.", retry: 10 * time.Second},
	{err: errScrape, status: http.StatusUnauthorized, code: "unauthorized", message: "This needs the token that metrics.token_file has: send it as Authorization: Bearer TOKEN."},
	{err: ErrStarting, status: http.StatusServiceUnavailable, code: "unavailable", message: "The server is starting.", retry: time.Second},
	{err: ErrStopping, status: http.StatusServiceUnavailable, code: "unavailable", message: "The server is stopping: requests should go elsewhere.", retry: 10 * time.Second},
	{err: store.ErrClosed, status: http.StatusServiceUnavailable, code: "unavailable", message: "The server is stopping.", retry: 10 * time.Second},
	{err: context.Canceled, status: http.StatusServiceUnavailable, code: "unavailable", message: "The request was given up.", retry: time.Second},
	{err: context.DeadlineExceeded, status: http.StatusServiceUnavailable, code: "unavailable", message: "The request took too long.", retry: time.Second},
	// No endpoint should meet these; their cause is for the log.
	{err: store.ErrExists, status: http.StatusInternalServerError, code: "internal"},
	{err: store.ErrInUse, status: http.StatusInternalServerError, code: "internal"},
	{err: store.ErrKey, status: http.StatusInternalServerError, code: "internal"},
	{err: store.ErrSchema, status: http.StatusInternalServerError, code: "internal"},
	{err: store.ErrCorrupt, status: http.StatusInternalServerError, code: "internal"},
}

// An errorBody is the body of every error but 422.
type errorBody struct {
	Error   string `json:"error"`
	Message string `json:"message"`
}

// tell turns an error into a reply: a page where people are.
func (s *Server) tell(r *request, err error) reply {
	switch {
	case errors.Is(err, errSignIn), errors.Is(err, store.ErrSession):
		return goTo(signInPath)
	case errors.Is(err, errMFA):
		return goTo(mfaPath)
	case errors.Is(err, errHostUnknown): // whoever asks for another host learns nothing of this one
		return reply{status: http.StatusMisdirectedRequest}
	case r.forPeople():
		return problemOf(r, err).page(r)
	default:
		return tellJSON(r, err)
	}
}

// tellJSON turns an error into a reply for programs.
func tellJSON(r *request, err error) reply {
	var invalid *store.InvalidError
	if errors.As(err, &invalid) {
		return reply{status: http.StatusUnprocessableEntity, body: invalid.Fields}
	}
	return problemOf(r, err).reply(r)
}

// problemOf turns an error into a problem.
func problemOf(r *request, err error) problem {
	var (
		invalid *store.InvalidError
		bad     badRequest
		method  *methodError
		limited *limitError
		part    *rangeError
		locked  *store.LockedError
		quota   *store.QuotaError
	)
	switch {
	case errors.As(err, &invalid): // a page that asks for it tells what is wrong by itself
		return problem{status: http.StatusUnprocessableEntity, code: "bad-request", message: "The form is not filled in as it should be."}
	case errors.As(err, &bad):
		return problem{status: http.StatusBadRequest, code: "bad-request", message: string(bad)}
	case errors.As(err, &method):
		return problem{
			status: http.StatusMethodNotAllowed, code: "method-not-allowed", message: "This endpoint has other methods; see the header Allow.",
			header: [][2]string{{"Allow", strings.Join(method.allow, ", ")}},
		}
	case errors.As(err, &limited):
		return problem{status: http.StatusTooManyRequests, code: "too-many-requests", message: "There were too many requests. Try again later.", retry: limited.wait}
	case errors.As(err, &part):
		return problem{
			status: http.StatusRequestedRangeNotSatisfiable, code: "range-not-satisfiable", message: "The file has no such part.",
			header: [][2]string{{"Content-Range", "bytes */" + strconv.FormatInt(part.size, 10)}},
		}
	case errors.Is(err, store.ErrDenied) && r.actor.Account == 0 && !r.forPeople():
		err = errOwnerOnly
	}
	p := find(err)
	if errors.As(err, &locked) {
		p.retry = locked.RetryAfter
	}
	if errors.As(err, &quota) {
		p.retry = quota.RetryAfter
	}
	return p
}

// find returns the row of an error.
func find(err error) problem {
	for _, p := range problems {
		if errors.Is(err, p.err) {
			return p
		}
	}
	return problem{status: http.StatusInternalServerError, code: "internal"}
}

// whatWentWrong is all that is told of a fault of the server.
func (r *request) whatWentWrong() string {
	return "Something went wrong on the server. Its log has the cause under request id " + r.id + "."
}

// reply renders a problem for programs. The cause of a 500 is for the log alone.
func (p problem) reply(r *request) reply {
	if p.message == "" {
		p.message = r.whatWentWrong()
	}
	rep := reply{status: p.status, body: errorBody{Error: p.code, Message: p.message}, header: p.headers()}
	if p.status == http.StatusUnauthorized {
		rep.header = append(rep.header, [2]string{"WWW-Authenticate", "Bearer"})
	}
	return rep
}

// page renders a problem for people.
func (p problem) page(r *request) reply {
	page := problemPage{Key: "problem_" + strings.ReplaceAll(cmp.Or(p.name, p.code), "-", "_")}
	if p.message == "" {
		page.Request = r.id
	}
	if p.status == http.StatusTooManyRequests {
		page.Seconds = p.seconds()
	}
	rep := show(p.status, "problem", page)
	rep.header = p.headers()
	return rep
}

// headers are what a problem's answer has beside what every answer has.
func (p problem) headers() [][2]string {
	if p.status == http.StatusTooManyRequests || p.status == http.StatusServiceUnavailable {
		return append(p.header, [2]string{"Retry-After", strconv.Itoa(p.seconds())})
	}
	return p.header
}

// seconds is how long to wait before the next try.
func (p problem) seconds() int { return max(1, int(math.Ceil(p.retry.Seconds()))) }
