package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"pushbox/internal/limit"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/openapi"
	"pushbox/store/record"
)

// apiHelp has the content of the API's help page.
type apiHelp struct {
	Base      string // of the addresses in commands
	Text      string // about the whole API
	Document  string // the address of the OpenAPI document
	Endpoints []endpointHelp

	DocumentV1 string       // the address of the document of API version 1
	V1         []helpV1     // its addresses; none if it is switched off
	Statuses   []statusHelp // headers of all endpoints, and of unknown paths
	Common     []int        // statuses of most endpoints, which list them only for their own errors
}

// An endpointHelp documents one method of one path.
type endpointHelp struct {
	ID          string // for an anchor
	Method      string
	Path        string // with its parameters in braces
	Summary     string
	Description string
	Access      string // the callers that it allows
	Fields      []fieldHelp
	Statuses    []statusHelp
	Curl        string // a command for a shell that has TOKEN, GRANT, REQUEST and API_TOKEN
}

// A fieldHelp is a row of the table of a request's parameters and fields.
type fieldHelp struct {
	openapi.Field
	Type string
}

// helpV1 documents an address of API version 1 by the endpoint of version 2 that does
// the same.
type helpV1 struct {
	Method, Path string
	Wrapper      string // the object in the body; empty: there is no body
	Summary      string
	Same         string // the ID of that endpoint on the page
}

// A statusHelp documents the answers with a status.
type statusHelp struct {
	Status int
	Name   string
	Text   string
	Errors []action.ErrorBody // the bodies; none for 422, whose fields depend on the request
}

// commonStatuses are explained once, and not with each endpoint.
var commonStatuses = [...]int{http.StatusMisdirectedRequest, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}

// commonErrors are the errors with these statuses that most endpoints have.
var commonErrors = append([]error{errLimited, errAny, limit.ErrBusy, record.ErrBusy}, inStore...)

// apiHelp returns the content of the help page. The addresses in its commands begin
// with base.
func (s *Service) apiHelp(base string) (apiHelp, error) {
	api, err := s.docs[0].api()
	if err != nil {
		return apiHelp{}, err
	}
	help := apiHelp{Base: base, Text: api.Info.Text("description"), DocumentV1: base + action.DocumentV1, Common: commonStatuses[:]}
	everywhere := []error{errMethod, errAny}
	for _, e := range s.endpoints(api, false) {
		if e.Name == "openapi" {
			help.Document = base + e.Path
		}
		help.Endpoints = append(help.Endpoints, s.endpointHelp(api, e, base))
		everywhere = append(everywhere, s.errorsOf(e.Route, routeErrors[e.Name])...)
	}
	for _, e := range s.endpoints(api, true) { // in the words of version 2
		help.V1 = append(help.V1, helpV1{Method: e.Endpoint.Method, Path: e.Path, Wrapper: spellingsV1[e.Name].Wrapper, Summary: e.Summary, Same: sameInV2(e.Name)})
	}
	for _, f := range repliesTo(everywhere) {
		of := f.help(api)
		if !slices.Contains(commonStatuses[:], f.status) {
			of.Errors = nil // their endpoints list them
		}
		help.Statuses = append(help.Statuses, of)
	}
	return help, nil
}

func (s *Service) endpointHelp(api *openapi.API, e endpoint, base string) endpointHelp {
	help := endpointHelp{
		ID: e.ID, Method: e.Endpoint.Method, Path: e.Path, Summary: e.Summary, Description: e.Description,
		Access: s.accessText(e.Access), Curl: s.curlCommand(api, e, base),
	}
	for _, f := range e.fieldsOf(api) {
		help.Fields = append(help.Fields, fieldHelp{Field: f, Type: typeWords(f.Schema)})
	}
	help.Statuses = append(help.Statuses, statusHelp{Status: e.Success(), Name: http.StatusText(e.Success()), Text: e.Done})
	if e.HasParts() {
		help.Statuses = append(help.Statuses, statusHelp{
			Status: http.StatusPartialContent, Name: http.StatusText(http.StatusPartialContent), Text: openapi.Part,
		})
	}
	for _, f := range e.replies {
		if of := f.help(api); !slices.Contains(commonStatuses[:], f.status) {
			help.Statuses = append(help.Statuses, of)
		} else if of.Errors = without(of.Errors, commonErrors); len(of.Errors) > 0 {
			help.Statuses = append(help.Statuses, of)
		}
	}
	return help
}

// without returns the bodies except those of the errors.
func without(all []action.ErrorBody, errs []error) []action.ErrorBody {
	for _, f := range repliesTo(errs) {
		common := bodiesOf(f)
		all = slices.DeleteFunc(all, func(e action.ErrorBody) bool { return slices.Contains(common, e) })
	}
	return all
}

func (f statusReplies) help(api *openapi.API) statusHelp {
	return statusHelp{Status: f.status, Name: http.StatusText(f.status), Text: api.Statuses[f.status], Errors: bodiesOf(f)}
}

// bodiesOf returns the different errors among the answers.
func bodiesOf(f statusReplies) (all []action.ErrorBody) {
	for _, rep := range f.replies {
		if e, ok := rep.Body.(action.ErrorBody); ok && !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}

// accessText describes who may call an endpoint.
func (s *Service) accessText(a action.Access) string {
	switch {
	case a == action.Administrating:
		return "administrators, with a valid API token that has the scope admin"
	case a == action.Public:
		return "everyone; API tokens are ignored"
	case a.DependsOnAddress(&s.Config):
		return "callers with a valid API token, and anyone at an address that may create without one"
	case !a.NeedsToken(&s.Config):
		return "everyone, with a valid API token or without one"
	default:
		return "callers with a valid API token"
	}
}

// typeWords names the type of a field.
func typeWords(schema openapi.Object) string {
	switch schema.Text("type") {
	case "boolean":
		return "true or false"
	case "integer":
		return "whole number"
	case "array":
		return "list"
	default:
		return "text"
	}
}

var pathParam = regexp.MustCompile(`\{[a-z_]+\}`)

// sampleParams are what commands have for parameters of the path. For others they have a variable of
// the parameter's name.
var sampleParams = map[string]string{action.TokenParam: "$TOKEN", action.FileParam: "1", action.AccountParam: "2", action.ActParam: "disable", action.PolicyParam: "none"}

// curlCommand returns a command that calls the endpoint.
func (s *Service) curlCommand(api *openapi.API, e endpoint, base string) string {
	words := []string{"curl -s"}
	if e.Curl != "" && e.Endpoint.Method == http.MethodGet {
		words = append(words, e.Curl)
	}
	switch {
	case e.Endpoint.Method == http.MethodHead:
		words = append(words, "-I")
	case e.Endpoint.Method == http.MethodDelete, e.Endpoint.Method == http.MethodPut, e.Endpoint.Method == http.MethodPost && e.Body == "":
		words = append(words, "-X "+e.Endpoint.Method)
	}
	path := pathParam.ReplaceAllStringFunc(e.Path, func(param string) string {
		name := strings.Trim(param, "{}")
		return cmp.Or(sampleParams[name], "$"+strings.ToUpper(strings.TrimSuffix(name, "_id")))
	})
	words = append(words, `"`+base+path+`"`)
	if e.Access.NeedsToken(&s.Config) || e.Access.DependsOnAddress(&s.Config) {
		words = append(words, `-H "Authorization: Bearer $API_TOKEN"`)
	}
	if e.Body != "" {
		example, _ := json.Marshal(api.Bodies[e.Body].Content.Object(body.TypeJSON).Object("example")) // texts and numbers cannot fail
		words = append(words, "-H 'Content-Type: "+body.TypeJSON+"'", "-d '"+string(example)+"'")
	}
	return strings.Join(words, " ")
}

// apiHelpPage documents the API.
func (s *Service) apiHelpPage(r *action.Request) (action.Reply, error) {
	help, err := s.apiHelp(r.Home())
	if err != nil {
		return action.Reply{}, err
	}
	return action.Show(http.StatusOK, "help", help), nil
}
