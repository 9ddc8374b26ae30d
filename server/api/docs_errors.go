package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"pushbox/internal/limit"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/intake"
	"pushbox/server/manage"
	"pushbox/server/openapi"
	"pushbox/store"
	"pushbox/store/record"
)

// errNoFields refuses a request for mail without its fields.
const errNoFields = action.BadRequest("The request body must be an object with notify_emails_to, such as {\"notify_emails_to\":\"ann@example.com\"}, or a form with that field.")

// Errors that represent all errors of their type in the documentation.
var (
	errAny           = errors.New("any other error")
	errInvalid       = &record.InvalidError{Fields: map[string][]string{store.FieldPayload: {"is required"}}}
	errInvalidMail   = &record.InvalidError{Fields: map[string][]string{store.FieldMailTo: {"is required"}}}
	errInvalidAsk    = &record.InvalidError{Fields: map[string][]string{store.FieldText: {"is required"}}}
	errInvalidAnswer = &record.InvalidError{Fields: map[string][]string{responseField: {"is required"}}}
	errInvalidInvite = &record.InvalidError{Fields: map[string][]string{emailField: {"is not an e-mail address"}}}
	errUnmailable    = &record.InvalidError{Fields: map[string][]string{store.FieldMail: {"cannot be sent: this server sends no mail, or none to such an address"}}}
	errClientRoom    = &record.RoomError{Of: record.RoomOfClient}
	errAccountRoom   = &record.RoomError{Of: record.RoomOfAccount}
	errAnonymousRoom = &record.RoomError{Of: record.RoomOfAnonymous}
	errLimited       = &action.LimitError{Wait: time.Minute}
	errAddresseeFull = &record.QuotaError{Of: record.QuotaOfAddressee, RetryAfter: time.Hour}
	errRange         = &action.RangeError{Size: 300000}
	errEarly         = &record.EarlyError{OpensAt: time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC), Wait: 8 * time.Hour}
	errMethod        = &action.MethodError{Allow: []string{http.MethodGet}}
)

// inStore are the errors of any call of the store.
var inStore = []error{record.ErrClock, record.ErrStandby, record.ErrUnavailable, record.ErrStaleKeys, record.ErrMoved, record.ErrFailed, record.ErrClosed, context.DeadlineExceeded}

// errorsOf returns the errors of a route: its own, and those that follow from its row in the table
// of routes.
func (s *Service) errorsOf(row action.Route, said []error) []error {
	var all []error
	if s.NamesHosts {
		all = append(all, action.ErrHostUnknown)
	}
	if row.Access != action.Public {
		all = append(all, record.ErrToken)
	}
	if row.Scope != 0 {
		all = append(all, &action.ScopeError{Needs: row.Scope})
	}
	if row.Access != action.Public && s.Config.RequireMFA {
		all = append(all, action.ErrTokenMFA)
	}
	if row.Access.NeedsToken(&s.Config) || row.Access.DependsOnAddress(&s.Config) {
		all = append(all, action.ErrUnauthorized)
	}
	if row.Has(action.HasLinks) && s.Config.BaseURL == "" {
		all = append(all, action.ErrHost)
	}
	if action.Changes(row.Method) {
		all = append(all, action.ErrCrossOrigin)
	}
	if row.Has(action.CountsViews) {
		all = append(all, action.ErrUnmeant)
	}
	if row.Guessable() {
		all = append(all, record.ErrNotFound, errLimited)
	}
	if !row.Has(action.NotCounted) {
		all = append(all, errLimited)
	}
	all = append(append(all, said...), errAny)
	var once []error
	for _, err := range all {
		if row.Method == http.MethodHead && err == error(errRange) {
			continue // it takes no Range
		}
		if !slices.Contains(once, err) {
			once = append(once, err)
		}
	}
	return once
}

// routeErrors are the errors of each route of the API, in addition to those of errorsOf.
var routeErrors = map[string][]error{
	"create": append([]error{
		action.ErrUnauthorized, intake.ErrKey, intake.ErrNoPush, body.ErrMediaType, body.ErrEncoding, body.ErrTooLarge, record.ErrFileSize,
		errInvalid, limit.ErrBusy, record.ErrBusy, record.ErrFull, record.ErrUnconfirmed, record.ErrQuota, errAddresseeFull, errClientRoom, errAccountRoom, errAnonymousRoom,
	}, inStore...),
	"active":          append([]error{action.ErrPage, record.ErrBusy}, inStore...),
	"expired":         append([]error{action.ErrPage, record.ErrBusy}, inStore...),
	"show":            append([]error{body.ErrPercent, record.ErrPassphrase, body.ErrTooLarge, record.ErrLocked, record.ErrFrozen, errEarly, record.ErrNetwork, record.ErrRecipient, record.ErrBusy, limit.ErrBusy}, inStore...),
	"delete":          append([]error{action.ErrOwnerOnly, record.ErrDenied}, inStore...),
	"thaw":            append([]error{record.ErrDenied}, inStore...),
	"preview":         inStore,
	"audit":           append([]error{action.ErrPage, record.ErrDenied}, inStore...),
	"certificate":     append([]error{record.ErrDenied, record.ErrLive, &record.ErasingError{RetryAfter: 5 * time.Second}}, inStore...),
	"notify_emails":   append([]error{body.ErrMediaType, body.ErrEncoding, body.ErrTooLarge, errNoFields, errInvalidMail, record.ErrDenied, record.ErrUnconfirmed, record.ErrQuota, errAddresseeFull, record.ErrFull}, inStore...),
	"request_create":  append([]error{errNoRequest, body.ErrMediaType, body.ErrEncoding, body.ErrTooLarge, errInvalidAsk, record.ErrUnconfirmed, record.ErrRequests, record.ErrQuota, errAddresseeFull, record.ErrFull}, inStore...),
	"requests":        append([]error{action.ErrPage}, inStore...),
	"request":         append([]error{record.ErrNotFound}, inStore...),
	"requests_open":   append([]error{action.ErrPage}, inStore...),
	"requests_ready":  append([]error{action.ErrPage}, inStore...),
	"requests_closed": append([]error{action.ErrPage}, inStore...),
	"requests_active": append([]error{action.ErrPage}, inStore...),
	"request_preview": append([]error{record.ErrNotFound}, inStore...),
	"request_audit":   append([]error{action.ErrPage, record.ErrNotFound}, inStore...),
	"request_respond": append([]error{
		record.ErrNotFound, errNoResponse, body.ErrMediaType, body.ErrEncoding, body.ErrTooLarge, record.ErrFileSize, errInvalidAnswer,
		limit.ErrBusy, record.ErrBusy, record.ErrFull, record.ErrNoAnswers,
	}, inStore...),
	"accounts":        inStore,
	"request_end":     append([]error{record.ErrNotFound}, inStore...),
	"admin_accounts":  append([]error{manage.ErrNumber}, inAdmin...),
	"admin_invite":    append([]error{errNoAccount, body.ErrMediaType, body.ErrEncoding, body.ErrTooLarge, errInvalidInvite, record.ErrFull}, inAdmin...),
	"admin_account":   inAdmin,
	"admin_act":       append([]error{record.ErrLastAdmin, record.ErrOwnAccount, action.ErrNoLink, errUnmailable, errAddresseeFull, record.ErrFull}, inAdmin...),
	"admin_policy":    append([]error{record.ErrFull}, inAdmin...),
	"admin_remove":    append([]error{record.ErrLastAdmin, record.ErrFull}, inAdmin...),
	"admin_log":       append([]error{manage.ErrNumber, manage.ErrLogFilter}, inAdmin...),
	"admin_log_lines": append([]error{manage.ErrNumber, manage.ErrLogFilter}, inAdmin...),
	"admin_health":    inAdmin,
	"admin_settings":  inAdmin,
	"download":        append([]error{errRange, limit.ErrBusy}, inStore...),
}

// inAdmin are the errors of any route for administrators.
var inAdmin = append([]error{record.ErrNotFound}, inStore...)

// statusReplies are the answers of a route with the same status.
type statusReplies struct {
	status  int
	replies []action.Reply
}

// repliesTo returns the answers to errors, by status.
func repliesTo(errs []error) (all []statusReplies) {
	r := &action.Request{ID: "EXAMPLEREQUESTID", Token: new(record.APIToken), Actor: store.Actor{Account: 1}}
	for _, err := range errs {
		rep := action.ProblemOf(r, err).JSON(r)
		i := slices.IndexFunc(all, func(x statusReplies) bool { return x.status == rep.Status })
		if i < 0 {
			i = len(all)
			all = append(all, statusReplies{status: rep.Status})
		}
		all[i].replies = append(all[i].replies, rep)
	}
	slices.SortFunc(all, func(a, b statusReplies) int { return a.status - b.status })
	return all
}

// response documents the answers of a status.
func (f statusReplies) response() openapi.Response {
	out := openapi.Response{Status: f.status}
	for _, kv := range f.replies[0].Header {
		out.Headers = append(out.Headers, kv[0])
	}
	for _, rep := range f.replies {
		summary := "Messages for each field that is wrong"
		if e, ok := rep.Body.(action.ErrorBody); ok {
			summary = e.Code
		}
		out.Bodies = append(out.Bodies, openapi.Example{Summary: summary, Value: rep.Body})
	}
	return out
}

// replaced returns the errors with one of them replaced.
func replaced(all []error, old, new error) []error {
	all = slices.Clone(all)
	if i := slices.Index(all, old); i >= 0 {
		all[i] = new
	}
	return all
}
