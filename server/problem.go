package server

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/limit"
	"pushbox/internal/openid"
	"pushbox/server/body"
	"pushbox/store"
	"pushbox/store/record"
)

// Errors that only a server has.
var (
	errUnauthorized = errors.New("this needs a valid API token")
	errOwnerOnly    = errors.New("only the owner may do this")
	errTokenMFA     = errors.New("the token's account needs a second factor")
	errCrossOrigin  = errors.New("the form is of another site")
	errNoV1         = errors.New("API version 1 is switched off")
	errHostUnknown  = errors.New("the request is for another host")
)

// A badRequest says what is wrong with a request. Clients may see its text.
type badRequest string

func (e badRequest) Error() string { return string(e) }

// A methodError refuses a request whose path has only other methods.
type methodError struct{ allow []string }

func (*methodError) Error() string { return "method not allowed" }

// A scopeError refuses an API token without the scope that a route needs.
type scopeError struct{ needs record.Scopes }

func (e *scopeError) Error() string {
	return "the API token does not have the scope " + e.needs.String()
}

// A problem is an error as a client sees it. An error becomes an answer in these steps:
//
//  1. Server.renderError takes the error of an action, or of the checks before it.
//  2. Server.errorReply redirects a browser that must sign in, or chooses step 4.
//  3. problemOf finds the status, the code and the sentence, mostly in the table problems.
//  4. problem.page makes a page for people, and problem.json makes JSON for programs.
type problem struct {
	err     error
	status  int
	code    string // a word that stays the same, for programs
	message string // a sentence, in the words of Password Pusher where it has some
	fixed   string // what Password Pusher says in place of the sentence, and its clients know
	name    string // of its page's texts, if they are not those of the code
	header  [][2]string
	retry   time.Duration // the Retry-After, unless the error has one

	invalid *record.InvalidError // of a 422: its fields are the JSON body
}

// problems is the one table that gives errors their statuses. An error that is not in
// it is a 500. Errors that carry values come through problemOf.
var problems = [...]problem{
	{err: errFirst, status: http.StatusNotFound, code: "not-found", name: "first", message: "There is nothing at this address."},
	{err: errLink, status: http.StatusNotFound, code: "not-found", name: "link", message: "There is nothing at this address."},
	{err: errRequestOver, status: http.StatusNotFound, code: "not-found", name: "request-over", message: "There is nothing at this address."},
	{err: record.ErrNotFound, status: http.StatusNotFound, code: "not-found", fixed: "not-found", message: "There is nothing at this address."},
	{err: errHostUnknown, status: http.StatusMisdirectedRequest, code: "host", message: "This server does not answer to this host name. Use the host name of its links, or have its administrator add this one to allowed_hosts."},
	{err: errNoV1, status: http.StatusNotFound, code: "not-found", message: "API version 1 is switched off on this server. Use version 2, at /api/v2."},
	{err: record.ErrPassphrase, status: http.StatusUnauthorized, code: "passphrase", fixed: "That passphrase is incorrect.", message: "This push needs a passphrase: send it as passphrase in the query or in the header X-Push-Passphrase."},
	{err: record.ErrLocked, status: http.StatusTooManyRequests, code: "too-many-requests", message: "Too many passphrase attempts. Please try again later."},
	{err: record.ErrFrozen, status: http.StatusForbidden, code: "frozen", name: "forbidden", message: "This push is frozen after too many wrong passphrases. Ask its sender to open it again."},
	{err: record.ErrQuota, status: http.StatusTooManyRequests, code: "too-many-requests", message: "You cannot send that many mails today, so nothing was done. Create the push without mail, or try again tomorrow."},
	{err: record.ErrUnconfirmed, status: http.StatusForbidden, code: "unconfirmed", name: "forbidden", message: "The e-mail address of your account is not confirmed, so it can neither send mail nor ask for secrets yet, and nothing was done. Sign in to this server and confirm it at " + addressPath + ", or create the push without mail."},
	{err: record.ErrToken, status: http.StatusUnauthorized, code: "unauthorized", message: "The API token is not valid."},
	{err: errUnauthorized, status: http.StatusUnauthorized, code: "unauthorized", message: "This needs an API token: send it as Authorization: Bearer TOKEN."},
	{err: errTokenMFA, status: http.StatusForbidden, code: "mfa-required", name: "forbidden", message: "Two-factor authentication is required. Please set it up to continue: sign in to this server as the token's owner and open " + mfaPath + ". The token then works again."},
	{err: record.ErrCredentials, status: http.StatusUnauthorized, code: "unauthorized", message: "The address or the password is wrong."},
	{err: record.ErrSession, status: http.StatusUnauthorized, code: "unauthorized", message: "The session has ended. Sign in again."},
	{err: record.ErrDenied, status: http.StatusForbidden, code: "forbidden", message: "That push doesn't belong to you."},
	{err: body.ErrMediaType, status: http.StatusUnsupportedMediaType, code: "unsupported-media-type", message: "Send the body as application/json, multipart/form-data or application/x-www-form-urlencoded, in UTF-8."},
	{err: body.ErrEncoding, status: http.StatusUnsupportedMediaType, code: "unsupported-media-type", message: "Send the body without a content encoding."},
	{err: errCrossOrigin, status: http.StatusForbidden, code: "forbidden", name: "cross-origin", message: "This was sent from a page of another site."},
	{err: errUnmeant, status: http.StatusForbidden, code: "forbidden", name: "cross-origin", message: "A browser asked for this push ahead of time or as a part of a page. No view was counted."},
	{err: errOwnerOnly, status: http.StatusUnauthorized, code: "unauthorized", message: "That push is not deletable by viewers. Send one of its owner's API tokens as Authorization: Bearer TOKEN."},
	{err: errNotDeletable, status: http.StatusUnauthorized, code: "unauthorized", message: "That push is not deletable by viewers."},
	{err: body.ErrTooLarge, status: http.StatusRequestEntityTooLarge, code: "payload-too-large", message: "The request body is larger than this server accepts."},
	{err: record.ErrFileSize, status: http.StatusRequestEntityTooLarge, code: "payload-too-large", message: "A file is larger than this server accepts."},
	{err: record.ErrFull, status: http.StatusInsufficientStorage, code: "insufficient-storage", message: "The server has no space left for this. Stored pushes are not affected."},
	{err: record.ErrRequests, status: http.StatusTooManyRequests, code: "too-many-requests", message: "The account has as many live requests for secrets as it may have. End some, or wait until they expire.", retry: roomRetry},
	{err: record.ErrNoAnswers, status: http.StatusServiceUnavailable, code: "unavailable", name: "no_answers", message: "This request takes no answers now. Try again later, or tell the person who asked.", retry: roomRetry},
	{err: record.ErrBusy, status: http.StatusServiceUnavailable, code: "unavailable", message: "Too many requests are waiting, such as for the check of a passphrase. Try again in a moment.", retry: time.Second},
	{err: limit.ErrBusy, status: http.StatusServiceUnavailable, code: "unavailable", message: "The server is busy with too many large requests. Try again in a moment.", retry: memoryWait},
	{err: record.ErrClock, status: http.StatusServiceUnavailable, code: "unavailable", message: "The server's clock jumped, and the server does not trust it yet. Try again later.", retry: time.Minute},
	{err: record.ErrStandby, status: http.StatusServiceUnavailable, code: "unavailable", message: "The database waits for a standby that is not there, so nothing can be created or viewed. Try again in a moment. Nothing that was acknowledged is lost.", retry: 2 * time.Second},
	{err: ErrAway, status: http.StatusServiceUnavailable, code: "unavailable", message: "The directory that checks passwords does not answer. Try again in a few minutes.", retry: time.Minute},
	{err: record.ErrUnavailable, status: http.StatusServiceUnavailable, code: "unavailable", message: "The database does not answer in time. Try again in a moment. Nothing that was acknowledged is lost.", retry: 2 * time.Second},
	{err: record.ErrStaleKeys, status: http.StatusServiceUnavailable, code: "unavailable", message: "The server takes new keys just now. Try again in a moment.", retry: time.Second},
	{err: record.ErrMoved, status: http.StatusServiceUnavailable, code: "unavailable", message: "The data of this server were moved to another place. Send requests there.", retry: 10 * time.Second},
	{err: openid.ErrDown, status: http.StatusServiceUnavailable, code: "unavailable", message: "The sign-in provider does not answer.", retry: 10 * time.Second},
	{err: record.ErrLost, status: http.StatusServiceUnavailable, code: "unavailable", message: "The server's database file was deleted. Send requests elsewhere; its administrator must make a backup before the server stops.", retry: time.Minute},
	{err: record.ErrFailed, status: http.StatusServiceUnavailable, code: "unavailable", message: "The store has failed, and an administrator must restart the server. Nothing that was acknowledged is lost.", retry: 10 * time.Second},
	{err: record.ErrLastAdmin, status: http.StatusConflict, code: "last-admin", name: "bad-request", message: "This is the last administrator, so nothing was done. Make another account an administrator first."},
	{err: record.ErrOwnAccount, status: http.StatusConflict, code: "own-account", name: "bad-request", message: "This is your own account. Change its password and its second factor on its own pages."},
	{err: errNoLink, status: http.StatusConflict, code: "disabled", name: "bad-request", message: "The account is disabled or being removed, so no link can set its password."},
	{err: errScrape, status: http.StatusUnauthorized, code: "unauthorized", message: scrapeMessage},
	{err: ErrStarting, status: http.StatusServiceUnavailable, code: "unavailable", message: "The server is starting.", retry: time.Second},
	{err: ErrStopping, status: http.StatusServiceUnavailable, code: "unavailable", message: "The server is stopping. Send requests elsewhere.", retry: 10 * time.Second},
	{err: record.ErrClosed, status: http.StatusServiceUnavailable, code: "unavailable", message: "The server is stopping.", retry: 10 * time.Second},
	{err: context.Canceled, status: http.StatusServiceUnavailable, code: "unavailable", message: "The request was cancelled.", retry: time.Second},
	{err: context.DeadlineExceeded, status: http.StatusServiceUnavailable, code: "unavailable", message: "The request took too long.", retry: time.Second},
	// No endpoint should return these. Their cause is for the log.
	{err: record.ErrExists, status: http.StatusInternalServerError, code: "internal"},
	{err: record.ErrRoom, status: http.StatusInternalServerError, code: "internal"},   // comes as a *record.RoomError
	{err: record.ErrTokens, status: http.StatusInternalServerError, code: "internal"}, // the page says it itself
	{err: record.ErrCode, status: http.StatusInternalServerError, code: "internal"},   // the page says it itself
	{err: record.ErrStale, status: http.StatusInternalServerError, code: "internal"},  // the page says it itself
	{err: record.ErrIdentityTaken, status: http.StatusInternalServerError, code: "internal"},
	{err: store.ErrEnded, status: http.StatusInternalServerError, code: "internal"},
	{err: record.ErrInUse, status: http.StatusInternalServerError, code: "internal"},
	{err: record.ErrNoKeys, status: http.StatusInternalServerError, code: "internal"},
	{err: record.ErrKey, status: http.StatusInternalServerError, code: "internal"},
	{err: record.ErrSchema, status: http.StatusInternalServerError, code: "internal"},
	{err: record.ErrCorrupt, status: http.StatusInternalServerError, code: "internal"},
}

// quotaOfAddressee is the message for an address that gets no more mail today. It does not
// tell how much others have sent there.
const quotaOfAddressee = "One of these addresses has received the most mails for today, so nothing was done. Create the push without mail to it, or try again tomorrow."

// roomRetry is the Retry-After of a sender without room: a push may end at any moment, or after weeks.
const roomRetry = time.Hour

// roomProblems are those of a sender who may have no more pushes live.
var roomProblems = map[record.RoomOf]problem{
	record.RoomOfClient:    {status: http.StatusTooManyRequests, code: "too-many-pushes", retry: roomRetry, message: "Your network address has as many live pushes without an account as it may have. Delete some, wait until they expire, or use an account."},
	record.RoomOfAccount:   {status: http.StatusTooManyRequests, code: "too-many-pushes", retry: roomRetry, message: "The account has as many live pushes as it may have, or they take as much space as they may. Delete some, or wait until they expire."},
	record.RoomOfAnonymous: {status: http.StatusInsufficientStorage, code: "insufficient-storage", message: "The space for pushes without an account is used up. Use an account, or try again later. Stored pushes are not affected."},
}

// An errorBody is the body of every error but 422. Clients of Password Pusher show
// people what error says, and nothing else.
type errorBody struct {
	Error   string `json:"error"`
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
}

// body returns the body of the problem's answer. Its sentence is the error, or the
// message beside an error that Password Pusher fixes.
func (p problem) body() errorBody {
	if p.fixed != "" {
		return errorBody{p.fixed, p.code, p.message}
	}
	return errorBody{Error: p.message, Code: p.code}
}

// errorReply turns an error into a reply: a page for people, and JSON for programs.
func (s *Server) errorReply(r *request, err error) reply {
	switch {
	case errors.Is(err, errSignIn), errors.Is(err, record.ErrSession):
		return goTo(signInPath).with(s.newWantedCookie(r))
	case errors.Is(err, errMFA):
		return goTo(mfaPath)
	case errors.Is(err, errHostUnknown) && r.forPeople(): // styles and scripts are at that host neither
		return reply{status: http.StatusMisdirectedRequest, text: &text{media: textType[0], body: []byte(r.locale.Text("problem_host_text") + "\n")}}
	case r.forPeople():
		return problemOf(r, err).page(r)
	default:
		return problemOf(r, err).json(r)
	}
}

// problemOf turns an error into a problem.
func problemOf(r *request, err error) problem {
	var (
		invalid *record.InvalidError
		bad     badRequest
		badBody body.Bad
		method  *methodError
		limited *limitError
		part    *rangeError
		locked  *record.LockedError
		quota   *record.QuotaError
		scope   *scopeError
		room    *record.RoomError
	)
	switch {
	case errors.As(err, &invalid): // pages with a form show themselves what is wrong
		return problem{status: http.StatusUnprocessableEntity, code: "bad-request", message: "Some fields of the form are not valid.", invalid: invalid}
	case errors.As(err, &bad), errors.As(err, &badBody):
		return problem{status: http.StatusBadRequest, code: "bad-request", message: string(bad) + string(badBody)}
	case errors.As(err, &room):
		return roomProblems[room.Of]
	case errors.As(err, &scope):
		return problem{
			status: http.StatusForbidden, code: "scope", name: "forbidden",
			message: "This API token does not have the scope " + scope.needs.String() + ", which this needs. Use a token with that scope, or with all.",
		}
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
	case errors.Is(err, record.ErrDenied) && r.actor.Account == 0 && !r.forPeople():
		err = errOwnerOnly
	}
	p := problem{status: http.StatusInternalServerError, code: "internal"}
	if i := slices.IndexFunc(problems[:], func(p problem) bool { return errors.Is(err, p.err) }); i >= 0 {
		p = problems[i]
	}
	if errors.As(err, &locked) {
		p.retry = locked.RetryAfter
	}
	if errors.As(err, &quota) {
		if p.retry = quota.RetryAfter; quota.Of == record.QuotaOfAddressee {
			p.message = quotaOfAddressee
		}
	}
	return p
}

// whatWentWrong is all that a client learns about a fault of the server.
func (r *request) whatWentWrong() string {
	return "Something went wrong on the server. Its log has the cause under request id " + r.id + "."
}

// json makes the reply for programs. Only the log has the cause of a 500.
func (p problem) json(r *request) reply {
	if p.invalid != nil {
		return reply{status: p.status, body: p.invalid.Fields}
	}
	if p.message == "" {
		p.message = r.whatWentWrong()
	}
	rep := reply{status: p.status, body: p.body(), header: p.headers()}
	if p.status == http.StatusUnauthorized {
		rep.header = append(rep.header, [2]string{"WWW-Authenticate", "Bearer"})
	}
	return rep
}

// page makes the reply for people.
func (p problem) page(r *request) reply {
	page := problemView{Key: "problem_" + strings.ReplaceAll(cmp.Or(p.name, p.code), "-", "_")}
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

// headers returns the headers of a problem, in addition to those of every answer.
func (p problem) headers() [][2]string {
	if p.status == http.StatusTooManyRequests || p.status == http.StatusServiceUnavailable {
		return append(p.header, [2]string{"Retry-After", strconv.Itoa(p.seconds())})
	}
	return p.header
}

// seconds is how long to wait before the next try.
func (p problem) seconds() int { return max(1, int(math.Ceil(p.retry.Seconds()))) }
