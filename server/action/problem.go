package action

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/limit"
	"pushbox/internal/openid"
	"pushbox/server/body"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

// problemView has the content of an error page.
type problemView struct {
	Key     string // key of its messages, without _title and _text
	Request string // the request's ID; empty: the log has no further details
	Seconds int    // to wait before the next try; 0: not known
	Again   bool   // it can be tried again
	Back    bool   // by the form before this page, not by the same address
	Step    string // the page of the push whose form it was: without scripts it leads on; empty: of none
}

// A Problem is an error as a client sees it. An error becomes an answer in these steps:
//
//  1. Server.renderError takes the error of an action, or of the checks before it.
//  2. Server.errorReply redirects a browser that must sign in, or chooses step 4.
//  3. ProblemOf finds the status, the code and the sentence, mostly in the table problems.
//  4. Problem.page makes a page for people, and Problem.json makes JSON for programs.
type Problem struct {
	err     error
	Status  int
	code    string // a stable word for programs
	message string // a sentence, that of Password Pusher if it has one
	fixed   string // the text of Password Pusher in place of the sentence, which its clients know
	name    string // key of its page's texts, if it is not the code
	header  [][2]string
	Retry   time.Duration // the Retry-After, unless the error has one

	invalid *record.InvalidError // of a 422: its fields are the JSON body
}

// problems is the table of the statuses of errors. An error that is not in it is a 500. ProblemOf
// handles errors with values.
var problems = [...]Problem{
	{err: ErrFirst, Status: http.StatusNotFound, code: "not-found", name: "first", message: "There is nothing at this address."},
	{err: ErrLink, Status: http.StatusNotFound, code: "not-found", name: "link", message: "There is nothing at this address."},
	{err: ErrRequestOver, Status: http.StatusNotFound, code: "not-found", name: "request-over", message: "There is nothing at this address."},
	{err: record.ErrNotFound, Status: http.StatusNotFound, code: "not-found", fixed: "not-found", message: "There is nothing at this address."},
	{err: ErrHostUnknown, Status: http.StatusMisdirectedRequest, code: "host", message: "This server does not answer to this host name. Use the host name of its links, or have its administrator add this one to allowed_hosts."},
	{err: ErrNoV1, Status: http.StatusNotFound, code: "not-found", message: "API version 1 is switched off on this server. Use version 2, at /api/v2."},
	{err: record.ErrPassphrase, Status: http.StatusUnauthorized, code: "passphrase", fixed: "That passphrase is incorrect.", message: "This push needs a passphrase: send it as passphrase in the query or in the header X-Push-Passphrase."},
	{err: record.ErrLocked, Status: http.StatusTooManyRequests, code: "too-many-requests", message: "Too many passphrase attempts. Please try again later."},
	{err: record.ErrFrozen, Status: http.StatusForbidden, code: "frozen", name: "forbidden", message: "This push is frozen after too many wrong passphrases. Ask its sender to open it again."},
	{err: record.ErrEarly, Status: http.StatusForbidden, code: "not-yet", name: "forbidden", message: "This push cannot be opened yet. No view was counted, and no passphrase was tried. Try again later."},
	{err: record.ErrNetwork, Status: http.StatusForbidden, code: "wrong-network", name: "forbidden", message: "This push opens only from networks that its sender named, and your address is in none of them. No view was counted, and no passphrase was tried. Try again from such a network, or through its VPN, or ask the sender."},
	{err: record.ErrRecipient, Status: http.StatusForbidden, code: "recipient-only", name: "forbidden", message: "This push is for a named recipient, who opens it on the page of its link with a code that is mailed to them. No view was counted, and no passphrase was tried."},
	{err: record.ErrQuota, Status: http.StatusTooManyRequests, code: "too-many-requests", message: "You have reached the limit of mails for today, so nothing was done. Create the push without mail, or try again tomorrow."},
	{err: record.ErrUnconfirmed, Status: http.StatusForbidden, code: "unconfirmed", name: "forbidden", message: "The e-mail address of your account is not confirmed, so it can neither send mail nor ask for secrets yet, and nothing was done. Sign in to this server and confirm it at " + AddressPath + ", or create the push without mail."},
	{err: record.ErrToken, Status: http.StatusUnauthorized, code: "unauthorized", message: "The API token is not valid."},
	{err: ErrUnauthorized, Status: http.StatusUnauthorized, code: "unauthorized", message: "This needs an API token: send it as Authorization: Bearer TOKEN."},
	{err: ErrTokenMFA, Status: http.StatusForbidden, code: "mfa-required", name: "forbidden", message: "Two-factor authentication is required. Please set it up to continue: sign in to this server as the token's owner and open " + MFAPath + ". The token then works again."},
	{err: record.ErrCredentials, Status: http.StatusUnauthorized, code: "unauthorized", message: "The address or the password is wrong."},
	{err: record.ErrSession, Status: http.StatusUnauthorized, code: "unauthorized", message: "The session has ended. Sign in again."},
	{err: record.ErrLive, Status: http.StatusConflict, code: "live", message: "This push is live. There is a certificate of its end once it has ended."},
	{err: record.ErrDenied, Status: http.StatusForbidden, code: "forbidden", message: "That push doesn't belong to you."},
	{err: body.ErrMediaType, Status: http.StatusUnsupportedMediaType, code: "unsupported-media-type", message: "Send the body as application/json, multipart/form-data or application/x-www-form-urlencoded, in UTF-8."},
	{err: body.ErrEncoding, Status: http.StatusUnsupportedMediaType, code: "unsupported-media-type", message: "Send the body without a content encoding."},
	{err: ErrCrossOrigin, Status: http.StatusForbidden, code: "forbidden", name: "cross-origin", message: "The form was sent from a page of another site."},
	{err: ErrUnmeant, Status: http.StatusForbidden, code: "forbidden", name: "cross-origin", message: "A browser loaded this push ahead of time or as part of a page. No view was counted."},
	{err: ErrOwnerOnly, Status: http.StatusUnauthorized, code: "unauthorized", message: "That push is not deletable by viewers. Send one of its owner's API tokens as Authorization: Bearer TOKEN."},
	{err: ErrNotDeletable, Status: http.StatusUnauthorized, code: "unauthorized", message: "That push is not deletable by viewers."},
	{err: body.ErrTooLarge, Status: http.StatusRequestEntityTooLarge, code: "payload-too-large", message: "The request body is larger than this server accepts."},
	{err: record.ErrFileSize, Status: http.StatusRequestEntityTooLarge, code: "payload-too-large", message: "A file is larger than this server accepts."},
	{err: record.ErrFull, Status: http.StatusInsufficientStorage, code: "insufficient-storage", message: "The server has no space left for this. Stored pushes are not affected."},
	{err: record.ErrRequests, Status: http.StatusTooManyRequests, code: "too-many-requests", message: "The account has as many live requests for secrets as it may have. End some, or wait until they expire.", Retry: roomRetry},
	{err: record.ErrNoAnswers, Status: http.StatusServiceUnavailable, code: "unavailable", name: "no_answers", message: "This request accepts no answers now. Try again later, or tell the person who made it.", Retry: roomRetry},
	{err: record.ErrBusy, Status: http.StatusServiceUnavailable, code: "unavailable", message: "Too many requests are waiting, such as for the check of a passphrase. Try again in a moment.", Retry: time.Second},
	{err: limit.ErrBusy, Status: http.StatusServiceUnavailable, code: "unavailable", message: "The server is busy with too many large requests. Try again in a moment.", Retry: MemoryWait},
	{err: record.ErrClock, Status: http.StatusServiceUnavailable, code: "unavailable", message: "The server's clock jumped, and the server does not trust it yet. Try again later.", Retry: time.Minute},
	{err: record.ErrStandby, Status: http.StatusServiceUnavailable, code: "unavailable", message: "The database waits for a standby that is not connected, so nothing can be created or viewed. Try again in a moment. Nothing that was acknowledged is lost.", Retry: 2 * time.Second},
	{err: ErrAway, Status: http.StatusServiceUnavailable, code: "unavailable", message: "The directory that checks passwords does not answer. Try again in a few minutes.", Retry: time.Minute},
	{err: record.ErrUnavailable, Status: http.StatusServiceUnavailable, code: "unavailable", message: "The database does not answer in time. Try again in a moment. Nothing that was acknowledged is lost.", Retry: 2 * time.Second},
	{err: record.ErrStaleKeys, Status: http.StatusServiceUnavailable, code: "unavailable", message: "The server is loading new keys. Try again in a moment.", Retry: time.Second},
	{err: record.ErrMoved, Status: http.StatusServiceUnavailable, code: "unavailable", message: "This server's data has moved. Send requests to the new server.", Retry: 10 * time.Second},
	{err: openid.ErrDown, Status: http.StatusServiceUnavailable, code: "unavailable", message: "The sign-in provider does not answer.", Retry: 10 * time.Second},
	{err: record.ErrLost, Status: http.StatusServiceUnavailable, code: "unavailable", message: "The server's database file was deleted. Send requests elsewhere; its administrator must make a backup before the server stops.", Retry: time.Minute},
	{err: record.ErrFailed, Status: http.StatusServiceUnavailable, code: "unavailable", message: "The store has failed, and an administrator must restart the server. Nothing that was acknowledged is lost.", Retry: 10 * time.Second},
	{err: record.ErrLastAdmin, Status: http.StatusConflict, code: "last-admin", name: "bad-request", message: "This is the last administrator, so nothing was done. Make another account an administrator first."},
	{err: record.ErrOwnAccount, Status: http.StatusConflict, code: "own-account", name: "bad-request", message: "This is your own account. Change its password and its second factor on its own pages."},
	{err: ErrNoLink, Status: http.StatusConflict, code: "disabled", name: "bad-request", message: "The account is disabled or being removed, so no link can set its password."},
	{err: ErrScrape, Status: http.StatusUnauthorized, code: "unauthorized", message: ScrapeMessage},
	{err: ErrStarting, Status: http.StatusServiceUnavailable, code: "unavailable", message: "The server is starting.", Retry: time.Second},
	{err: ErrStopping, Status: http.StatusServiceUnavailable, code: "unavailable", message: "The server is stopping. Send requests elsewhere.", Retry: 10 * time.Second},
	{err: record.ErrClosed, Status: http.StatusServiceUnavailable, code: "unavailable", message: "The server is stopping.", Retry: 10 * time.Second},
	{err: context.Canceled, Status: http.StatusServiceUnavailable, code: "unavailable", message: "The request was cancelled.", Retry: time.Second},
	{err: context.DeadlineExceeded, Status: http.StatusServiceUnavailable, code: "unavailable", message: "The request took too long.", Retry: time.Second},
	// No endpoint returns these by design. Their cause is for the log.
	{err: record.ErrExists, Status: http.StatusInternalServerError, code: "internal"},
	{err: record.ErrRoom, Status: http.StatusInternalServerError, code: "internal"},   // comes as a *record.RoomError
	{err: record.ErrTokens, Status: http.StatusInternalServerError, code: "internal"}, // the page says it itself
	{err: record.ErrCode, Status: http.StatusInternalServerError, code: "internal"},   // the page says it itself
	{err: record.ErrStale, Status: http.StatusInternalServerError, code: "internal"},  // the page says it itself
	{err: record.ErrIdentityTaken, Status: http.StatusInternalServerError, code: "internal"},
	{err: store.ErrEnded, Status: http.StatusInternalServerError, code: "internal"},
	{err: record.ErrInUse, Status: http.StatusInternalServerError, code: "internal"},
	{err: record.ErrNoKeys, Status: http.StatusInternalServerError, code: "internal"},
	{err: record.ErrKey, Status: http.StatusInternalServerError, code: "internal"},
	{err: record.ErrSchema, Status: http.StatusInternalServerError, code: "internal"},
	{err: record.ErrCorrupt, Status: http.StatusInternalServerError, code: "internal"},
}

// Errors lists the errors that have a row in the table.
func Errors() (all []error) {
	for _, p := range problems {
		all = append(all, p.err)
	}
	return all
}

// quotaOfAddressee is the message for an address that gets no more mail today. It does not say how
// much mail others have sent there.
const quotaOfAddressee = "One of these addresses has received the most mails for today, so nothing was done. Create the push without mail to that address, or try again tomorrow."

// roomRetry is the Retry-After of a sender without room: a push may end at any moment, or after weeks.
const roomRetry = time.Hour

// roomProblems are the problems of a sender without room for more live pushes.
var roomProblems = map[record.RoomOf]Problem{
	record.RoomOfClient:    {Status: http.StatusTooManyRequests, code: "too-many-pushes", Retry: roomRetry, message: "Your network address has as many live pushes without an account as it may have. Delete some, wait until they expire, or use an account."},
	record.RoomOfAccount:   {Status: http.StatusTooManyRequests, code: "too-many-pushes", Retry: roomRetry, message: "The account has as many live pushes as it may have, or they use as much space as they may. Delete some, or wait until they expire."},
	record.RoomOfAnonymous: {Status: http.StatusInsufficientStorage, code: "insufficient-storage", message: "The space for pushes without an account is used up. Use an account, or try again later. Stored pushes are not affected."},
}

// An ErrorBody is the body of every error but 422. Clients of Password Pusher show only the text of
// error.
type ErrorBody struct {
	Error   string `json:"error"`
	Code    string `json:"code"`
	Message string `json:"message,omitempty"`
}

// body returns the body of the problem's answer. Its sentence is the error, or the message if
// Password Pusher defines the error.
func (p Problem) body() ErrorBody {
	if p.fixed != "" {
		return ErrorBody{p.fixed, p.code, p.message}
	}
	return ErrorBody{Error: p.message, Code: p.code}
}

// ProblemOf turns an error into a problem.
func ProblemOf(r *Request, err error) Problem {
	var (
		invalid *record.InvalidError
		bad     BadRequest
		badBody body.Bad
		method  *MethodError
		limited *LimitError
		part    *RangeError
		locked  *record.LockedError
		quota   *record.QuotaError
		scope   *ScopeError
		room    *record.RoomError
		early   *record.EarlyError
		erasing *record.ErasingError
	)
	switch {
	case errors.As(err, &invalid): // pages with a form show the problems themselves
		return Problem{Status: http.StatusUnprocessableEntity, code: "bad-request", message: "Some fields of the form are not valid.", invalid: invalid}
	case errors.As(err, &bad), errors.As(err, &badBody):
		return Problem{Status: http.StatusBadRequest, code: "bad-request", message: string(bad) + string(badBody)}
	case errors.As(err, &room):
		return roomProblems[room.Of]
	case errors.As(err, &erasing):
		return Problem{Status: http.StatusServiceUnavailable, code: "erasing", message: "The push has ended, but not all of it is known to be erased yet. Try again at the time that Retry-After says.", Retry: erasing.RetryAfter}
	case errors.As(err, &scope):
		return Problem{
			Status: http.StatusForbidden, code: "scope", name: "forbidden",
			message: "This API token does not have the scope " + scope.Needs.String() + ", which this needs. Use a token with that scope, or with all.",
		}
	case errors.As(err, &method):
		return Problem{
			Status: http.StatusMethodNotAllowed, code: "method-not-allowed", message: "This endpoint does not support this method; see the header Allow.",
			header: [][2]string{{"Allow", strings.Join(method.Allow, ", ")}},
		}
	case errors.As(err, &limited):
		return Problem{Status: http.StatusTooManyRequests, code: "too-many-requests", message: "There were too many requests. Try again later.", Retry: limited.Wait}
	case errors.As(err, &part):
		return Problem{
			Status: http.StatusRequestedRangeNotSatisfiable, code: "range-not-satisfiable", message: "The file has no such part.",
			header: [][2]string{{"Content-Range", "bytes */" + strconv.FormatInt(part.Size, 10)}},
		}
	case errors.Is(err, record.ErrDenied) && r.Actor.Account == 0 && !r.ForPeople():
		err = ErrOwnerOnly
	}
	p := Problem{Status: http.StatusInternalServerError, code: "internal"}
	if i := slices.IndexFunc(problems[:], func(p Problem) bool { return errors.Is(err, p.err) }); i >= 0 {
		p = problems[i]
	}
	if errors.As(err, &locked) {
		p.Retry = locked.RetryAfter
	}
	if errors.As(err, &early) {
		p.Retry = early.Wait
		p.message = "This push opens at " + early.OpensAt.Format(time.RFC3339) + ". No view was counted, and no passphrase was tried."
		p.header = [][2]string{{"Retry-After", strconv.Itoa(p.Seconds())}}
	}
	if errors.As(err, &quota) {
		if p.Retry = quota.RetryAfter; quota.Of == record.QuotaOfAddressee {
			p.message = quotaOfAddressee
		}
	}
	return p
}

// WhatWentWrong is the only message about a fault of the server.
func (r *Request) WhatWentWrong() string {
	return "Something went wrong on the server. Its log has the cause under request id " + r.ID + "."
}

// JSON makes the reply for programs. Only the log has the cause of a 500.
func (p Problem) JSON(r *Request) Reply {
	if p.invalid != nil {
		return Reply{Status: p.Status, Body: p.invalid.Fields}
	}
	if p.message == "" {
		p.message = r.WhatWentWrong()
	}
	rep := Reply{Status: p.Status, Body: p.body(), Header: p.Headers()}
	if p.Status == http.StatusUnauthorized {
		rep.Header = append(rep.Header, [2]string{"WWW-Authenticate", "Bearer"})
	}
	return rep
}

// Line makes the reply for a client that wants text: a sentence, or one for each wrong field.
func (p Problem) Line(r *Request) Reply {
	rep := p.JSON(r)
	text := cmp.Or(p.message, r.WhatWentWrong()) + "\n"
	if p.invalid != nil {
		text = ""
		for _, field := range slices.Sorted(maps.Keys(p.invalid.Fields)) {
			text += field + " " + strings.Join(p.invalid.Fields[field], ", ") + ".\n"
		}
	}
	rep.Body, rep.Text = nil, &Text{Media: TextType, Body: []byte(text)}
	return rep
}

// Page makes the reply for people.
func (p Problem) Page(r *Request) Reply {
	page := problemView{Key: "problem_" + strings.ReplaceAll(cmp.Or(p.name, p.code), "-", "_")}
	if p.message == "" {
		page.Request = r.ID
	}
	if p.err == record.ErrNotFound && !r.leadsToSecret() {
		page.Key = "problem_no_page"
	}
	waits := p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable
	page.Again = waits || p.Status == http.StatusInsufficientStorage
	page.Back = page.Again && r.Method != http.MethodGet
	if page.Back && r.URLToken != (store.Token{}) && r.Route.Has(ForRecipients) {
		page.Step = display.PushLink("", r.URLToken.Reveal(), true)
	}
	if waits {
		page.Seconds = p.Seconds()
	}
	rep := Show(p.Status, "problem", page)
	rep.Header = p.Headers()
	return rep
}

// leadsToSecret reports whether the address may be a link that a sender passed on, or that of a file behind one.
func (r *Request) leadsToSecret() bool {
	of := r.Route != nil && r.Route.Has(ForRecipients) && (r.Route.Has(ForRequests) || r.Route.Has(HasFiles))
	return r.Entry.Recipients || of || strings.HasPrefix(strings.TrimPrefix(r.URL.Path, r.Entry.BasePath), "/p/")
}

// Headers returns the Headers of a problem, in addition to those of every answer.
func (p Problem) Headers() [][2]string {
	if p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable {
		return append(p.header, [2]string{"Retry-After", strconv.Itoa(p.Seconds())})
	}
	return p.header
}

// Seconds is how long to wait before the next try.
func (p Problem) Seconds() int { return max(1, int(math.Ceil(p.Retry.Seconds()))) }
