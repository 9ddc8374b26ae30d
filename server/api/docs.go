package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	"pushbox/server/action"
	"pushbox/server/intake"
	"pushbox/server/openapi"
	"pushbox/store/record"
)

// describe returns an action that answers with the documentation of a version of the API for programs,
// as OpenAPI 3.1 or 3.0. Version 1 has a separate document, so that clients that are generated from
// version 2 do not contain version 1.
func (s *Service) describe(v1, older bool) action.Func {
	return func(r *action.Request) (action.Reply, error) {
		docs := s.docs[0]
		if v1 {
			docs = s.docs[1]
		}
		if older {
			return answerDocument(docs.older, r.Home())
		}
		return answerDocument(docs.document, r.Home())
	}
}

// apiDocs document a version of the API. They are made when they are first asked for.
type apiDocs struct {
	api      func() (*openapi.API, error)
	document func() ([]byte, error) // OpenAPI 3.1 as JSON, with documentedBase in its links
	older    func() ([]byte, error) // the same as OpenAPI 3.0
}

// documentedBase is the base URL of links until it is known how a client reached the server. It is
// a reserved name (RFC 2606, section 2).
const documentedBase = "https://base.invalid"

// newDocs returns the documentation of version 2 and that of version 1.
func (s *Service) newDocs() (docs [2]apiDocs) {
	for i, v1 := range []bool{false, true} {
		api := sync.OnceValues(func() (*openapi.API, error) { return s.readAPI(v1) })
		as := func(form func(openapi.Object) openapi.Object) func() ([]byte, error) {
			return sync.OnceValues(func() ([]byte, error) {
				of, err := api()
				if err != nil {
					return nil, err
				}
				var all []openapi.Endpoint
				for _, e := range s.endpoints(of, v1) {
					all = append(all, e.Endpoint)
				}
				return json.Marshal(form(of.Document(documentedBase, s.Config.EnableAPIv1, all)))
			})
		}
		docs[i] = apiDocs{api, as(func(o openapi.Object) openapi.Object { return o }), as(openapi.Older)}
	}
	return docs
}

// answerDocument returns a document with links that begin with base.
func answerDocument(made func() ([]byte, error), base string) (action.Reply, error) {
	document, err := made()
	if err != nil {
		return action.Reply{}, err
	}
	quoted, err := json.Marshal(base)
	if err != nil {
		return action.Reply{}, err
	}
	document = bytes.ReplaceAll(document, []byte(documentedBase), bytes.Trim(quoted, `"`))
	return action.Reply{Status: http.StatusOK, Text: &action.Text{Media: action.JSONType, Body: document}}, nil
}

// An endpoint is a route of the API with its documentation, from which the OpenAPI
// document and the help page are made.
type endpoint struct {
	openapi.Endpoint
	action.Route
	replies []statusReplies // to errors
}

// endpoints returns the routes of a version of the API on this server, in the order of the table,
// without pages, health checks and metrics.
func (s *Service) endpoints(api *openapi.API, v1 bool) (all []endpoint) {
	if v1 {
		for _, row := range s.routesV1() {
			if how := spellingsV1[row.Name]; s.Config.EnableAPIv1 && !row.Has(action.Unlisted) && len(s.offers(how)) > 0 {
				all = append(all, s.endpointV1(api, row))
			}
		}
		return all
	}
	for _, row := range action.Served(s.Routes(), s.Config.EnableRequests) {
		op := api.Operations[row.Name]
		if inAPI(row.Pattern) && (row.Method != http.MethodHead || op.IsFile()) { // HEAD of other routes needs no documentation
			all = append(all, s.endpoint(api, op, row, routeErrors[row.Name]))
		}
	}
	return all
}

func inAPI(pattern string) bool {
	return strings.HasPrefix(pattern, "/api/v2/") || strings.HasPrefix(pattern, "/d/")
}

// endpoint documents a route.
func (s *Service) endpoint(api *openapi.API, op openapi.Operation, row action.Route, errs []error) endpoint {
	e := endpoint{Endpoint: openapi.Endpoint{Operation: op, ID: row.Name, Method: row.Method, Deprecated: row.Has(action.IsV1)}, Route: row}
	var parts []string
	for part := range strings.SplitSeq(row.Pattern, "/") {
		if name, isParam := strings.CutPrefix(part, ":"); isParam && row.Word != "" {
			part = row.Word
		} else if isParam {
			part = "{" + name + "}"
			e.Params = append(e.Params, name)
		}
		parts = append(parts, part)
	}
	e.Path = strings.Join(parts, "/") + op.Suffix
	if row.Method == http.MethodHead {
		e.ID += "_head"
		e.Description += " HEAD gives the headers alone, and takes no Range."
	} else {
		e.Params = append(e.Params, op.Parameters...)
	}
	e.Security = s.security(api, row.Access)
	e.replies = repliesTo(s.errorsOf(row, errs))
	for _, r := range e.replies {
		e.Errors = append(e.Errors, r.response())
	}
	return e
}

// security returns who may call an endpoint. An empty object allows anonymous callers; an
// empty list is for a route that ignores tokens.
func (s *Service) security(api *openapi.API, a action.Access) []openapi.Object {
	needs := []openapi.Object{}
	if a != action.Public && !a.NeedsToken(&s.Config) {
		needs = append(needs, openapi.Object{})
	}
	if a != action.Public {
		for _, scheme := range api.Security {
			needs = append(needs, openapi.Object{{Name: scheme.Name, Value: []any{}}})
		}
	}
	return needs
}

// spellingsV1 are the spellings of the routes of version 1 that create pushes.
var spellingsV1 = map[string]intake.Spelling{"v1_create": passwordV1, "v1_create_file": filesV1, "v1_create_url": urlV1}

// sameInV2 returns the name of the route of version 2 that does the same.
func sameInV2(name string) string {
	if spellingsV1[name].V1 {
		return "create"
	}
	return strings.TrimPrefix(name, "v1_")
}

// endpointV1 documents a route of version 1 in the words of version 2.
func (s *Service) endpointV1(api *openapi.API, row action.Route) endpoint {
	same := sameInV2(row.Name)
	op, errs := api.Operations[same], routeErrors[same]
	switch row.Name {
	case "v1_delete":
		errs = replaced(errs, record.ErrDenied, action.ErrNotDeletable)
	case "v1_create_file":
		op.Summary += " of files"
	case "v1_create_url":
		op.Summary += " of a URL"
	}
	if how := spellingsV1[row.Name]; how.V1 {
		op.Body = how.Wrapper
		errs = replaced(errs, intake.ErrNoPush, noPushV1(how))
	}
	op.Headers = append(slices.Clone(op.Headers), "Deprecation", "Link")
	op.Suffix = ""
	if strings.HasSuffix(row.Pattern, action.JSONSuffix) || strings.HasPrefix(row.Name, "v1_openapi") {
		row.Pattern, op.Suffix = strings.TrimSuffix(row.Pattern, action.JSONSuffix), action.JSONSuffix
	}
	return s.endpoint(api, op, row, errs)
}

// fieldsOf returns the parameters and the fields of an endpoint's request.
func (e endpoint) fieldsOf(api *openapi.API) (all []openapi.Field) {
	for _, name := range e.Params {
		all = append(all, api.Parameter(name))
	}
	return append(all, api.Fields(e.Body)...)
}
