package server

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"pushbox/internal/limit"
	"pushbox/server/body"
	"pushbox/server/openapi"
	"pushbox/store/record"
)

// apiHelp is what the help page of the API shows.
type apiHelp struct {
	Base      string // of the addresses in commands
	Text      string // about the whole API
	Document  string // the address of the OpenAPI document
	Endpoints []endpointHelp

	DocumentV1 string       // the address of the document of API version 1
	V1         []helpV1     // its addresses; none if it is switched off
	Statuses   []statusHelp // of all endpoints, and of unknown paths
	Common     []int        // those that endpoints leave out, but for errors of their own, since most of them have them
}

// An endpointHelp documents one method of one path.
type endpointHelp struct {
	ID          string // for an anchor
	Method      string
	Path        string // with its parameters in braces
	Summary     string
	Description string
	Access      string // who may call it
	Fields      []fieldHelp
	Statuses    []statusHelp
	Curl        string // a command for a shell that has TOKEN, GRANT, REQUEST and API_TOKEN
}

// A fieldHelp is a row of the table of a request's parameters and fields.
type fieldHelp struct {
	Name     string
	In       string // path, query, header or body
	Required bool
	Type     string
	Text     string
	Bounds   string // empty: none
	Default  string // what it means if the field is absent; empty: nothing
}

// A statusHelp documents the answers with a status.
type statusHelp struct {
	Status int
	Name   string
	Text   string
	Errors []errorBody // the bodies; none for 422, whose fields depend on the request
}

// commonStatuses are explained once, and not with each endpoint.
var commonStatuses = [...]int{http.StatusMisdirectedRequest, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}

// commonErrors are the errors with these statuses that most endpoints have.
var commonErrors = append([]error{errLimited, errAny, limit.ErrBusy, record.ErrBusy}, inStore...)

// apiHelp returns the content of the help page. The addresses in its commands begin
// with base.
func (s *Server) apiHelp(base string) apiHelp {
	help := apiHelp{Base: base, Text: apiText, DocumentV1: base + openAPIv1Path, V1: s.helpV1(), Common: commonStatuses[:]}
	everywhere := []error{errMethod, errAny}
	for _, e := range s.endpoints(base) {
		if e.name == "openapi" {
			help.Document = base + e.path
		}
		help.Endpoints = append(help.Endpoints, s.endpointHelp(e, base))
		everywhere = append(everywhere, s.errorsOf(e.route, e.errors)...)
	}
	for _, f := range errorResponses(everywhere) {
		of := f.help()
		if !slices.Contains(commonStatuses[:], f.status) {
			of.Errors = nil // their endpoints list them
		}
		help.Statuses = append(help.Statuses, of)
	}
	return help
}

func (s *Server) endpointHelp(e endpoint, base string) endpointHelp {
	help := endpointHelp{
		ID: e.id, Method: e.method, Path: e.path, Summary: e.summary, Description: e.text,
		Access: s.accessText(e.access), Curl: s.curlCommand(e, base),
	}
	for _, f := range e.fields {
		help.Fields = append(help.Fields, fieldHelp{
			Name: f.name, In: f.in, Required: f.required, Type: typeWords(f.schema),
			Text: f.text, Bounds: f.bounds, Default: f.fallback,
		})
	}
	status := cmp.Or(e.status, http.StatusOK)
	help.Statuses = append(help.Statuses, statusHelp{Status: status, Name: http.StatusText(status), Text: e.done})
	if e.parts() {
		help.Statuses = append(help.Statuses, statusHelp{
			Status: http.StatusPartialContent, Name: http.StatusText(http.StatusPartialContent), Text: partText,
		})
	}
	for _, f := range e.errorResponses {
		if of := f.help(); !slices.Contains(commonStatuses[:], f.status) {
			help.Statuses = append(help.Statuses, of)
		} else if of.Errors = without(of.Errors, commonErrors); len(of.Errors) > 0 {
			help.Statuses = append(help.Statuses, of)
		}
	}
	return help
}

// without returns the bodies that are not those of the errors.
func without(all []errorBody, errs []error) []errorBody {
	for _, f := range errorResponses(errs) {
		common := f.help().Errors
		all = slices.DeleteFunc(all, func(e errorBody) bool { return slices.Contains(common, e) })
	}
	return all
}

func (f statusResponses) help() statusHelp {
	out := statusHelp{Status: f.status, Name: http.StatusText(f.status), Text: statusTexts[f.status]}
	for _, rep := range f.replies {
		if e, ok := rep.body.(errorBody); ok && !slices.Contains(out.Errors, e) {
			out.Errors = append(out.Errors, e)
		}
	}
	return out
}

// accessText describes who may call an endpoint.
func (s *Server) accessText(a access) string {
	switch {
	case a == administrating:
		return "administrators, with a valid API token that has the scope admin"
	case a == public:
		return "everyone; API tokens are ignored"
	case s.dependsOnAddress(a):
		return "callers with a valid API token, and anyone at an address that may create without one"
	case !s.needsToken(a):
		return "everyone, with a valid API token or without one"
	default:
		return "callers with a valid API token"
	}
}

// typeWords names the type of a field.
func typeWords(s *openapi.Schema) string {
	switch {
	case slices.Contains(s.Type, "boolean"):
		return "true or false"
	case slices.Contains(s.Type, "integer"):
		return "whole number"
	case slices.Contains(s.Type, "array"):
		return "list"
	default:
		return "text"
	}
}

// curlCommand returns a command that calls the endpoint.
func (s *Server) curlCommand(e endpoint, base string) string {
	words := []string{"curl -s"}
	if e.curl != "" && e.method == http.MethodGet {
		words = append(words, e.curl)
	}
	switch e.method {
	case http.MethodHead:
		words = append(words, "-I")
	case http.MethodDelete, http.MethodPut:
		words = append(words, "-X "+e.method)
	case http.MethodPost:
		if !e.mail && !e.push && !e.asks && !e.invites { // without a body
			words = append(words, "-X POST")
		}
	}
	path := strings.NewReplacer("{"+tokenParam+"}", "$TOKEN", "{"+grantParam+"}", "$GRANT", "{"+fileParam+"}", "1", "{"+requestParam+"}", "$REQUEST", "{"+accountParam+"}", "2", "{"+actParam+"}", "disable", "{"+policyParam+"}", "none").Replace(e.path)
	words = append(words, `"`+base+path+`"`)
	if s.needsToken(e.access) || s.dependsOnAddress(e.access) {
		words = append(words, `-H "Authorization: Bearer $API_TOKEN"`)
	}
	if e.mail {
		example, _ := json.Marshal(exampleNotify())
		words = append(words, "-H 'Content-Type: "+body.TypeJSON+"'", "-d '"+string(example)+"'")
	}
	if e.asks {
		example, _ := json.Marshal(openapi.Ordered[any]{{Name: requestWrapper, Value: exampleRequestFields()}})
		words = append(words, "-H 'Content-Type: "+body.TypeJSON+"'", "-d '"+string(example)+"'")
	}
	if e.invites {
		example, _ := json.Marshal(openapi.Ordered[any]{{Name: accountWrapper, Value: exampleInvitation()}})
		words = append(words, "-H 'Content-Type: "+body.TypeJSON+"'", "-d '"+string(example)+"'")
	}
	if e.push {
		example, _ := json.Marshal(openapi.Ordered[any]{{Name: "push", Value: s.examplePush(pushV2)}}) // texts and numbers cannot fail
		words = append(words, "-H 'Content-Type: "+body.TypeJSON+"'", "-d '"+string(example)+"'")
	}
	return strings.Join(words, " ")
}

// apiHelpPage documents the API.
func (s *Server) apiHelpPage(r *request) (reply, error) {
	return show(http.StatusOK, "help", s.apiHelp(s.home(r))), nil
}
