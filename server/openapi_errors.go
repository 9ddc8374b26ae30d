package server

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"pushbox/server/body"
	"pushbox/server/openapi"
	"pushbox/store"
	"pushbox/store/record"
)

// statusTexts explain each status, whatever the endpoint.
var statusTexts = map[int]string{
	http.StatusBadRequest:                   "The body, the query or a header is not valid.",
	http.StatusUnauthorized:                 "There is no API token, or no valid one, or not the right passphrase.",
	http.StatusForbidden:                    "The push belongs to another account, the API token does not have the scope that is needed, the account has no second factor where one is required, its address is not confirmed and the request is for mail, or a browser sent the request on behalf of another site or ahead of time.",
	http.StatusNotFound:                     "Nothing is there. Unknown, malformed and purged pushes look the same.",
	http.StatusConflict:                     "The account is the last administrator's, or is disabled.",
	http.StatusMethodNotAllowed:             "The address has other methods.",
	http.StatusRequestEntityTooLarge:        "The body is too large.",
	http.StatusUnsupportedMediaType:         "The body has another media type, charset or content encoding.",
	http.StatusRequestedRangeNotSatisfiable: "The file has no such part.",
	http.StatusMisdirectedRequest:           "The request is for a host name that this server does not answer to.",
	http.StatusUnprocessableEntity:          "Fields are wrong: an object of field names to lists of messages.",
	http.StatusTooManyRequests:              "There were too many requests, wrong passphrases, or requests for unknown links; or the sender has too many live pushes, or sends too many mails, or an address gets too many.",
	http.StatusInternalServerError:          "An error in the server. Its log has the cause, under the request id in the message.",
	http.StatusServiceUnavailable:           "The server is busy, stopping, failed, or in doubt about its clock.",
	http.StatusInsufficientStorage:          "There is no room for another push.",
}

// headerSpecs document the headers of answers that clients use.
var headerSpecs = map[string]openapi.Header{
	"WWW-Authenticate":    {Description: "Always Bearer.", Required: true, Schema: openapi.Text()},
	"Retry-After":         {Description: "The number of seconds to wait before the next try.", Required: true, Schema: &openapi.Schema{Type: openapi.Types{"integer"}, Minimum: new(1)}},
	"Content-Range":       {Description: "The bytes of the file in the body, and the size of the file; or the size alone.", Required: true, Schema: openapi.Text()},
	"Content-Disposition": {Description: "attachment, with the file's name.", Required: true, Schema: openapi.Text()},
	"ETag":                {Description: "The value for If-Range.", Required: true, Schema: openapi.Text()},
	"Accept-Ranges":       {Description: "Always bytes.", Required: true, Schema: openapi.Text()},
}

// Errors that represent all of their type in the documentation.
var (
	errAny           = errors.New("any other error")
	errInvalid       = &record.InvalidError{Fields: map[string][]string{store.FieldPayload: {"is required"}}}
	errInvalidMail   = invalidMail()
	errClientRoom    = &record.RoomError{Of: record.RoomOfClient}
	errAccountRoom   = &record.RoomError{Of: record.RoomOfAccount}
	errAnonymousRoom = &record.RoomError{Of: record.RoomOfAnonymous}
	errLimited       = &limitError{wait: time.Minute}
	errAddresseeFull = &record.QuotaError{Of: record.QuotaOfAddressee, RetryAfter: time.Hour}
	errRange         = &rangeError{size: 300000}
	errMethod        = &methodError{allow: []string{http.MethodGet}}
)

// inStore are the errors of any call of the store.
var inStore = []error{record.ErrClock, record.ErrStandby, record.ErrUnavailable, record.ErrStaleKeys, record.ErrMoved, record.ErrFailed, record.ErrClosed, context.DeadlineExceeded}

// errorsOf returns the errors that a route can answer with: those that its row in
// routeTexts has, and those that follow from its row in the table of routes.
func (s *Server) errorsOf(row route, said []error) []error {
	var all []error
	if !newHosts(s.cfg).any() {
		all = append(all, errHostUnknown)
	}
	if row.access != public {
		all = append(all, record.ErrToken)
	}
	if row.scope != 0 {
		all = append(all, &scopeError{row.scope})
	}
	if row.access != public && s.cfg.RequireMFA {
		all = append(all, errTokenMFA)
	}
	if s.needsToken(row.access) || s.dependsOnAddress(row.access) {
		all = append(all, errUnauthorized)
	}
	if row.has(hasLinks) && s.cfg.BaseURL == "" {
		all = append(all, errHost)
	}
	if changes(row.method) {
		all = append(all, errCrossOrigin)
	}
	if row.has(countsViews) {
		all = append(all, errUnmeant)
	}
	if row.guessable() {
		all = append(all, record.ErrNotFound, errLimited)
	}
	if !row.has(notCounted) {
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

// inAdmin are the errors of any route for administrators.
var inAdmin = append([]error{record.ErrNotFound}, inStore...)

// statusResponses are the responses of a route with the same status.
type statusResponses struct {
	status  int
	replies []reply
}

// errorResponses returns the responses to errors, by status.
func errorResponses(errs []error) (all []statusResponses) {
	r := &request{id: "EXAMPLEREQUESTID", token: new(record.APIToken), actor: store.Actor{Account: 1}}
	for _, err := range errs {
		rep := problemOf(r, err).json(r)
		i := slices.IndexFunc(all, func(x statusResponses) bool { return x.status == rep.status })
		if i < 0 {
			i = len(all)
			all = append(all, statusResponses{status: rep.status})
		}
		all[i].replies = append(all[i].replies, rep)
	}
	slices.SortFunc(all, func(a, b statusResponses) int { return a.status - b.status })
	return all
}

// response describes the responses of one status. The response to a HEAD request has no body.
func (f statusResponses) response(hasBody bool) openapi.Response {
	out := openapi.Response{Description: statusTexts[f.status]}
	for _, kv := range f.replies[0].header {
		out.Headers.Add(kv[0], headerSpecs[kv[0]])
	}
	if !hasBody {
		return out
	}
	media := openapi.Media{Schema: openapi.Ref(typeTexts["errorBody"].Name)}
	if f.status == http.StatusUnprocessableEntity {
		media.Schema = openapi.Ref(schemaInvalid)
	}
	for i, rep := range f.replies {
		media.Examples.Add(strconv.Itoa(i+1), openapi.Example{Summary: rep.code(), Value: rep.body})
	}
	out.Content.Add(body.TypeJSON, media)
	return out
}

// code returns the word for an error, if its body has one.
func (r reply) code() string {
	if e, ok := r.body.(errorBody); ok {
		return e.Code
	}
	return "Messages for each field that is wrong"
}

// schemaInvalid is the body of a 422, as the document calls it.
const schemaInvalid = "InvalidFields"

// invalidSchema is the schema of the body of a 422: a list of messages for each field.
func invalidSchema(fields []apiField) *openapi.Schema {
	s := &openapi.Schema{Type: openapi.Types{"object"}, MinProperties: 1, Description: "What is wrong, by field. A disabled kind of push is an error of kind."}
	for _, f := range fields {
		s.Properties.Add(f.name, &openapi.Schema{Type: openapi.Types{"array"}, MinItems: 1, Items: openapi.Text()})
	}
	return s
}
