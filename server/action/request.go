// Package action has the input and the output of actions.
//
// An action answers one request: a page, or a call of the API. It gets a Request, with the server's
// findings about it, and returns a Reply or an error. It cannot write to the connection: the server
// renders the result. ProblemOf turns an error into a status and words.
package action

import (
	"context"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pushbox/internal/clientip"
	"pushbox/internal/lang"
	"pushbox/internal/limit"
	"pushbox/internal/secret"
	"pushbox/server/body"
	"pushbox/server/deadline"
	"pushbox/store"
	"pushbox/store/record"
)

// A Request is an HTTP request, with the server's findings about it.
type Request struct {
	*http.Request
	Body body.Reader // in place of the http.Request's own, which has no bounds

	Ctx         context.Context  // in place of the http.Request's own: it also ends when the time for the request is over
	ID          string           // names the request in the log and in a 500
	Entry       *Entry           // the entry point that received it
	Route       *Route           // nil: the path has none
	URLToken    store.Token      // from the path; zero, which no push has, if the path has no valid one
	SentToken   secret.Text      // from the path, as it was sent
	Push        store.Name       // from the path: URLToken, or a handle
	RequestID   record.RequestID // from the path; zero, which no request has, if the path has no valid one
	Grant       secret.Text      // from the path of a download
	File        string           // from the path of a download: the number of the file
	Name        secret.Text      // from the path: of an asset or a language; a number, of an account; or a code, of the first account or of a probe
	Act         string           // from the path: the name of an AccountAct
	Base        string           // base URL of the links in the answer
	Client      clientip.Client  // the sender's address, which trusted proxies pass on
	Counted     bool             // counted by the general limit, or it comes from this machine
	Actor       store.Actor
	Token       *record.APIToken  // nil: the request has none
	Unconfirmed bool              // the token belongs to an account whose address is not confirmed
	Session     store.SessionInfo // on pages: of the signed-in account
	Proxied     Proxied           // the person that a header of a proxy names
	Pending     bool              // on pages: the password was accepted, and the second factor is still missing
	PendingTOTP bool              // with Pending: the account has an authenticator app
	Locale      *lang.Locale      // of texts for people
	Deadlines   deadline.Deadlines
	Memory      limit.Reservation // for its text, and then for its page; released after the answer
}

// Context returns the context of the work for the request.
func (r *Request) Context() context.Context { return r.Ctx }

// An Entry is a way into the server.
type Entry struct {
	Recipients bool // only the routes for recipients, and no sessions
	Named      bool // base_url, if set, is its address

	Proxies  clientip.Proxies
	BasePath string // what all paths begin with; empty, or without a slash at its end
	BaseURL  string // what links begin with; empty: the address that the client used
}

// Reserve replaces the request's reservation of memory for its work.
func (r *Request) Reserve(size int64) error {
	ctx, cancel := context.WithTimeout(r.Context(), MemoryWait)
	defer cancel()
	return r.Memory.Resize(ctx, size)
}

// Holder returns the holder of the request's shared resources: its client, and its account once
// that is known. For a program on this machine only the account counts.
func (r *Request) Holder() limit.Holder {
	by := limit.Holder{Account: uint64(r.Actor.Account)}
	if !r.Client.Direct {
		by.Client = r.Actor.Client
	}
	return by
}

// Where returns the name of the page in the navigation.
func (r *Request) Where() string {
	if r.Route == nil {
		return ""
	}
	return r.Route.Nav
}

// ForPeople reports whether an error becomes a page and not JSON: on the routes of
// pages, where a browser opens the address of a file, and at an unknown path that is
// not one for programs.
func (r *Request) ForPeople() bool {
	if r.Route != nil && r.Route.Has(IsPage) {
		return true
	}
	if r.Route != nil {
		return r.Header.Get("Sec-Fetch-Dest") == "document" && r.Route.Guessable() && r.Route.Has(HasFiles)
	}
	path := strings.TrimPrefix(Squeeze(r.URL.Path), r.Entry.BasePath)
	for _, programs := range [...]string{"/api/", "/d/", HealthPath} {
		if strings.HasPrefix(path, programs) {
			return false
		}
	}
	return !IsPathV1(path)
}

// WantsText reports whether the answer is text for a person or a shell: the request creates
// something, and its Accept prefers text/plain to JSON (RFC 9110, section 12.5.1).
func (r *Request) WantsText() bool {
	if r.Route == nil || r.Route.Scope != record.ScopeCreate {
		return false
	}
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return weight(accept, "text/plain") > weight(accept, "application/json")
}

// weight is how much a client likes a media type, from 0 to 1: by the most exact range that has it.
func weight(accept, media string) (q float64) {
	group, _, _ := strings.Cut(media, "/")
	exact := -1
	for part := range strings.SplitSeq(accept, ",") {
		name, params, err := mime.ParseMediaType(part)
		how := slices.Index([]string{"*/*", group + "/*", media}, name)
		if err != nil || how <= exact {
			continue
		}
		if exact, q = how, 1; params["q"] != "" {
			q, _ = strconv.ParseFloat(params["q"], 64) // what is no number is no wish
		}
	}
	return q
}

// SmallBody is how many bytes of a form or page need no reservation.
const SmallBody = 64 << 10

// AnswersMemory bounds the memory of the names and notes of the answers to a request for secrets,
// sealed and opened.
const AnswersMemory = 2 * record.MaxAnswers * (store.MaxName + store.MaxNote)

// smallAnswer is how many bytes of an answer the kernel buffers even if the client
// reads nothing. The handler of so short an answer does not wait for its client.
const smallAnswer = 16 << 10

// ReserveAnswer reserves memory for an answer with a payload, from the memory for answers: factor
// times the payload's length.
func (r *Request) ReserveAnswer(there *limit.Memory, factor func(record.Kind) int64) store.Reserve {
	return func(k record.Kind, payload int64) error {
		need := factor(k) * payload
		if need <= smallAnswer {
			return nil
		}
		r.Memory = there.Reserve(r.Holder())
		return r.Memory.Resize(r.Context(), need)
	}
}

// MaxPage is the last page of a list that a client may ask for.
const MaxPage = 200

// ErrPage refuses an invalid number of a page.
const ErrPage = BadRequest("Invalid page parameter: it must be a whole number from 1 to 200.")

// ReadPage returns the page of a list that a request asks for.
func ReadPage(r *Request) (int, error) {
	pairs, err := body.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return 0, err
	}
	return PageIn(pairs)
}

// PageIn returns the page that a query asks for; 1 if it names none.
func PageIn(pairs body.Pairs) (int, error) {
	text, has, err := pairs.Only("page")
	if err != nil || !has {
		return 1, err
	}
	n, err := strconv.Atoi(text.Reveal())
	if err != nil || n < 1 || n > MaxPage || strings.Trim(text.Reveal(), "0123456789") != "" {
		return 0, ErrPage
	}
	return n, nil
}
