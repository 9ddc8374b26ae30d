package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"pushbox/store"
)

// statusTexts say when a status comes, whatever the endpoint.
var statusTexts = map[int]string{
	http.StatusBadRequest:                   "The body, the query or a header is not valid.",
	http.StatusUnauthorized:                 "There is no API token, or no valid one, or not the right passphrase.",
	http.StatusForbidden:                    "The push belongs to another account.",
	http.StatusNotFound:                     "There is nothing. What is unknown, malformed and purged is not told apart.",
	http.StatusMethodNotAllowed:             "The address has other methods.",
	http.StatusRequestEntityTooLarge:        "The body is too large.",
	http.StatusUnsupportedMediaType:         "The body has another media type, charset or content encoding.",
	http.StatusRequestedRangeNotSatisfiable: "The file has no such part.",
	http.StatusUnprocessableEntity:          "Fields are wrong: an object of field names to lists of messages.",
	http.StatusTooManyRequests:              "There were too many requests, wrong passphrases, or requests for what is not there.",
	http.StatusInternalServerError:          "A fault of the server. Its log has the cause, under the request id in the message.",
	http.StatusServiceUnavailable:           "The server is busy, stopping, failed, or in doubt about its clock.",
	http.StatusInsufficientStorage:          "There is no room for another push.",
}

// headerSpecs are headers of answers that mean something to a client.
var headerSpecs = map[string]specHeader{
	"WWW-Authenticate":    {"Always Bearer.", true, textSchema()},
	"Retry-After":         {"After how many seconds to try again.", true, &specSchema{Type: specTypes{"integer"}, Minimum: new(1)}},
	"Content-Range":       {"Which bytes of the file they are, of how many; or just of how many.", true, textSchema()},
	"Content-Disposition": {"attachment, with the file's name.", true, textSchema()},
	"ETag":                {"What If-Range takes.", true, textSchema()},
	"Accept-Ranges":       {"Always bytes.", true, textSchema()},
}

// Errors that documentation shows in place of any like them.
var (
	errAny         = errors.New("any other error")
	errInvalid     = &store.InvalidError{Fields: map[string][]string{"payload": {"is required"}}}
	errInvalidMail = invalidMail()
	errLimited     = &limitError{wait: time.Minute}
	errRange       = &rangeError{size: 300000}
	errMethod      = &methodError{allow: []string{http.MethodGet}}
)

// inStore are errors of whatever asks the store.
var inStore = []error{store.ErrClock, store.ErrFailed, store.ErrClosed, context.DeadlineExceeded}

// errorsOf are the errors that a route can answer with: those that its row in
// routeTexts has, and those that follow from the route.
func (s *Server) errorsOf(row route, said []error) []error {
	var all []error
	if row.access != open {
		all = append(all, store.ErrToken)
	}
	if s.needsToken(row.access) || s.dependsOnAddress(row.access) {
		all = append(all, errUnauthorized)
	}
	if row.links && s.cfg.BaseURL == "" {
		all = append(all, errHost)
	}
	if row.guessable() {
		all = append(all, store.ErrNotFound, errLimited)
	}
	if !row.free {
		all = append(all, errLimited)
	}
	all = append(append(all, said...), errAny)
	var once []error
	for _, err := range all {
		if row.method == http.MethodHead && err == error(errRange) {
			continue // it takes no Range
		}
		if !slices.Contains(once, err) {
			once = append(once, err)
		}
	}
	return once
}

// statusAnswers are a status, and the answers with it that a route can give.
type statusAnswers struct {
	status int
	told   []reply
}

// refusals are the answers that errors become, by status.
func refusals(errs []error) (all []statusAnswers) {
	r := &request{id: "EXAMPLEREQUESTID", token: new(store.APIToken), actor: store.Actor{Account: 1}}
	for _, err := range errs {
		rep := tellJSON(r, err)
		i := slices.IndexFunc(all, func(x statusAnswers) bool { return x.status == rep.status })
		if i < 0 {
			i = len(all)
			all = append(all, statusAnswers{status: rep.status})
		}
		all[i].told = append(all[i].told, rep)
	}
	slices.SortFunc(all, func(a, b statusAnswers) int { return a.status - b.status })
	return all
}

// response describes a statusAnswers. The answer to a HEAD request has no body.
func (f statusAnswers) response(hasBody bool) specResponse {
	out := specResponse{Description: statusTexts[f.status]}
	for _, kv := range f.told[0].header {
		out.Headers.add(kv[0], headerSpecs[kv[0]])
	}
	if !hasBody {
		return out
	}
	media := specMedia{Schema: schemaNamed(typeTexts["errorBody"].name)}
	if f.status == http.StatusUnprocessableEntity {
		media.Schema = schemaNamed(specInvalid)
	}
	for i, rep := range f.told {
		media.Examples.add(strconv.Itoa(i+1), specExample{Summary: rep.code(), Value: rep.body})
	}
	out.Content.add(typeJSON, media)
	return out
}

// code is the short text of an error, where its body has one.
func (r reply) code() string {
	if e, ok := r.body.(errorBody); ok {
		return e.Error
	}
	return "Messages for each field that is wrong"
}

// specInvalid is the body of a 422, as the document calls it.
const specInvalid = "InvalidFields"

// invalidSchema is the body of a 422: lists of messages for fields of a push.
func invalidSchema(fields []apiField) *specSchema {
	s := &specSchema{Type: specTypes{"object"}, MinProperties: 1, Description: "What is wrong, by field. A kind of push that is switched off is an error of kind."}
	for _, f := range fields {
		s.Properties.add(f.name, &specSchema{Type: specTypes{"array"}, MinItems: 1, Items: textSchema()})
	}
	return s
}
