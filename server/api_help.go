package server

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// apiHelp is what the help page of the API shows.
type apiHelp struct {
	Base      string // what the addresses in commands begin with
	Text      string // what holds for all of the API
	Document  string // the address of the OpenAPI document
	Endpoints []endpointHelp
	Statuses  []statusHelp // of all endpoints, and of what is none
}

// An endpointHelp is what is shown of one method of one path.
type endpointHelp struct {
	ID          string // good for an anchor
	Method      string
	Path        string // with its parameters in braces
	Summary     string
	Description string
	Access      string // who may call it
	Fields      []fieldHelp
	Statuses    []statusHelp
	Curl        string // a command for a shell that has TOKEN, GRANT and API_TOKEN
}

// A fieldHelp is a row of the table of what a request has.
type fieldHelp struct {
	Name     string
	In       string // path, query, header or body
	Required bool
	Type     string
	Text     string
	Bounds   string // empty: none
	Default  string // what its absence means; empty: nothing
}

// A statusHelp is a status of answers.
type statusHelp struct {
	Status int
	Name   string
	Text   string
	Errors []errorBody // what the bodies say; the fields of a 422 depend on what was sent
}

// apiHelp returns what the help page shows, with commands for a server whose
// addresses begin with base.
func (s *Server) apiHelp(base string) apiHelp {
	help := apiHelp{Base: base, Text: apiText}
	everywhere := []error{errMethod, errAny}
	for _, e := range s.endpoints(base) {
		if e.name == "openapi" {
			help.Document = base + e.path
		}
		help.Endpoints = append(help.Endpoints, s.endpointHelp(e, base))
		everywhere = append(everywhere, s.errorsOf(e.route, e.errors)...)
	}
	for _, f := range refusals(everywhere) {
		help.Statuses = append(help.Statuses, statusHelp{Status: f.status, Name: http.StatusText(f.status), Text: statusTexts[f.status]})
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
			Status: http.StatusPartialContent, Name: http.StatusText(http.StatusPartialContent), Text: aPart,
		})
	}
	for _, f := range e.refusals {
		help.Statuses = append(help.Statuses, f.help())
	}
	return help
}

func (f statusAnswers) help() statusHelp {
	out := statusHelp{Status: f.status, Name: http.StatusText(f.status), Text: statusTexts[f.status]}
	for _, rep := range f.told {
		if e, ok := rep.body.(errorBody); ok {
			out.Errors = append(out.Errors, e)
		}
	}
	return out
}

// accessText says who may call an endpoint.
func (s *Server) accessText(a access) string {
	switch {
	case a == open:
		return "everybody; API tokens are not looked at"
	case s.dependsOnAddress(a):
		return "whoever has a valid API token, and everybody at an address that may create without one"
	case !s.needsToken(a):
		return "everybody, with a valid API token or without one"
	default:
		return "whoever has a valid API token"
	}
}

// typeWords says of which type a field is. What may be a text as well is named
// by what it means.
func typeWords(s *specSchema) string {
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

// curlCommand shows the endpoint in use.
func (s *Server) curlCommand(e endpoint, base string) string {
	words := []string{"curl -s"}
	if e.curl != "" && e.method == http.MethodGet {
		words = append(words, e.curl)
	}
	switch e.method {
	case http.MethodHead:
		words = append(words, "-I")
	case http.MethodDelete:
		words = append(words, "-X DELETE")
	}
	path := strings.NewReplacer("{"+tokenParam+"}", "$TOKEN", "{"+grantParam+"}", "$GRANT", "{"+fileParam+"}", "1").Replace(e.path)
	words = append(words, `"`+base+path+`"`)
	if s.needsToken(e.access) || s.dependsOnAddress(e.access) {
		words = append(words, `-H "Authorization: Bearer $API_TOKEN"`)
	}
	if e.mail {
		body, _ := json.Marshal(exampleNotify())
		words = append(words, "-H 'Content-Type: "+typeJSON+"'", "-d '"+string(body)+"'")
	}
	if e.push {
		body, _ := json.Marshal(ordered[any]{{"push", s.examplePush()}}) // texts and numbers always can be
		words = append(words, "-H 'Content-Type: "+typeJSON+"'", "-d '"+string(body)+"'")
	}
	return strings.Join(words, " ")
}
