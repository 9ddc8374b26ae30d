package server

import (
	"cmp"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"pushbox/server/body"
	"pushbox/server/openapi"
)

// describe answers with the API's documentation for programs.
func (s *Server) describe(r *request) (reply, error) { return ok(s.openAPI(s.home(r))), nil }

// openAPI is version 2 of the API as an OpenAPI 3.1 document. Its examples have links
// that begin with base.
func (s *Server) openAPI(base string) openapi.Document {
	text := apiText
	if s.cfg.EnableAPIv1 {
		text += aboutV1
	}
	return s.document(base, apiVersion, text, s.endpoints(base))
}

// document describes endpoints as a document of that version.
func (s *Server) document(base, version, text string, endpoints []endpoint) openapi.Document {
	c := openapi.Catalog{Types: typeTexts, Keys: keyTexts}
	doc := openapi.Document{
		OpenAPI: "3.1.0",
		Info: openapi.Info{
			Title: "pushbox", Version: version, Description: text,
			Contact: openapi.Contact{Name: "The administrator of this server", URL: base},
			License: openapi.License{Name: "MIT", Identifier: "MIT"},
		},
		Servers: []openapi.Server{{URL: base}},
	}
	for _, tag := range apiTags() {
		if slices.ContainsFunc(endpoints, func(e endpoint) bool { return e.tag == tag.Name }) {
			doc.Tags = append(doc.Tags, tag)
		}
	}
	for _, e := range endpoints {
		item := doc.Paths.Get(e.path)
		if item == nil {
			doc.Paths.Add(e.path, nil)
			item = doc.Paths.Get(e.path)
		}
		item.Add(strings.ToLower(e.method), s.operation(e, &c))
	}
	c.Schemas.Add(schemaInvalid, invalidSchema(slices.Concat(s.createFields(pushV2), s.mailFields(), s.requestFields(), inviteFields())))
	doc.Components = openapi.Components{Schemas: c.Schemas, SecuritySchemes: securitySchemes()}
	return doc
}

// apiText documents the whole API.
const apiText = "Shares secrets that vanish: Password Pusher's JSON API, version 2. " +
	"Each path under /api/v2 may end in .json. Answers are JSON in UTF-8 and must not be stored; times are UTC. " +
	"Clients must ignore keys they do not know. HEAD is GET without a body, except that it cannot retrieve a push. Other methods get 405 with an Allow header."

// aboutV1 is the end of that text where there is a version 1.
const aboutV1 = " API version 1, which Password Pusher calls deprecated, is there for older clients, and has a document of its own: " + openAPIv1Path + "."

// Names of the groups of endpoints.
const (
	tagPushes = "pushes"
	tagOwn    = "own pushes"
	tagAsk    = "requests"
	tagFiles  = "files"
	tagAdmin  = "administration"
	tagServer = "server"
)

func apiTags() []openapi.Tag {
	return []openapi.Tag{
		{Name: tagServer, Description: "What the server is and can do."},
		{Name: tagPushes, Description: "For senders and recipients: create, retrieve and delete a push."},
		{Name: tagOwn, Description: "For senders with an account: their pushes, audit logs, and links by mail."},
		{Name: tagAsk, Description: "For accounts that ask others for secrets: their requests, and the answers."},
		{Name: tagFiles, Description: "For recipients: the files of a push."},
		{Name: tagAdmin, Description: "For administrators, with API tokens that have the scope admin: accounts, and the instance log. Nothing here tells a payload, a link or a file name."},
	}
}

// An endpoint is a route of the API with its documentation, from which the OpenAPI
// document and the help page are made.
type endpoint struct {
	route
	routeText
	how            spelling // of a push to be created
	id             string   // its name, and its method where another one has the same name
	path           string   // with its parameters in braces
	fields         []apiField
	errorResponses []statusResponses
	body           any // an example of what success answers with; nil: there is none
}

// endpoints returns the routes of the API in the order of the table: all but pages,
// health checks and metrics.
func (s *Server) endpoints(base string) (all []endpoint) {
	for _, row := range s.served() {
		isFile := routeTexts[row.name].answer == nil // for others HEAD needs no words
		if inAPI(row.pattern) && (row.method != http.MethodHead || isFile) {
			all = append(all, s.endpoint(row, routeTexts[row.name], pushV2, base))
		}
	}
	return all
}

func inAPI(pattern string) bool {
	return strings.HasPrefix(pattern, "/api/v2/") || strings.HasPrefix(pattern, "/d/")
}

// endpoint documents a route: its path and fields, its errors and its example.
func (s *Server) endpoint(row route, text routeText, how spelling, base string) endpoint {
	e := endpoint{route: row, routeText: text, how: how, id: row.name}
	var parts []string
	for part := range strings.SplitSeq(row.pattern, "/") {
		if name, isParam := strings.CutPrefix(part, ":"); isParam && row.word != "" {
			part = row.word
		} else if isParam {
			part = "{" + name + "}"
			e.param(name)
		}
		parts = append(parts, part)
	}
	e.path = strings.Join(parts, "/") + e.suffix
	if row.method == http.MethodHead {
		e.id += "_head"
		e.text += " HEAD gives the headers alone, and takes no Range."
	} else {
		for _, name := range e.params {
			e.param(name)
		}
	}
	if e.push {
		e.fields = append(e.fields, s.createFields(how)...)
	}
	if e.mail {
		e.fields = append(e.fields, s.notifyFields()...)
	}
	if e.asks {
		e.fields = append(e.fields, s.requestFields()...)
	}
	if e.invites {
		e.fields = append(e.fields, inviteFields()...)
	}
	e.errorResponses = errorResponses(s.errorsOf(row, e.errors))
	if e.example != nil {
		e.body = e.example(s, base)
	}
	return e
}

// param adds a parameter to the fields of the endpoint.
func (e *endpoint) param(name string) {
	f := paramFields[name]
	f.name = name
	e.fields = append(e.fields, f)
}

// parts reports whether a client may ask for a part of the answer.
func (e endpoint) parts() bool { return e.answer == nil && e.method == http.MethodGet }

const partText = "The requested part of the file."

// operation is the endpoint's part of the document. The schemas that it needs
// go into the catalog.
func (s *Server) operation(e endpoint, c *openapi.Catalog) openapi.Operation {
	op := openapi.Operation{
		OperationID: e.id, Deprecated: e.has(isV1), Tags: []string{e.tag}, Summary: e.summary, Description: e.text, Security: s.security(e.access),
	}
	for _, f := range e.fields {
		if f.in != "body" {
			op.Parameters = append(op.Parameters, openapi.Parameter{
				Name: f.name, In: f.in, Description: f.describe().Description, Required: f.required, Schema: f.schema,
			})
		}
	}
	if e.push {
		op.RequestBody = s.createBody(e.how, &c.Schemas)
	}
	if e.mail {
		op.RequestBody = s.notifyBody(&c.Schemas)
	}
	if e.asks {
		op.RequestBody = s.requestBody(&c.Schemas)
	}
	if e.invites {
		op.RequestBody = inviteBody(&c.Schemas)
	}
	op.Responses.Add(strconv.Itoa(cmp.Or(e.status, http.StatusOK)), e.success(c))
	if e.parts() {
		part := e.success(c)
		part.Description = partText
		part.Headers.Add("Content-Range", headerSpecs["Content-Range"])
		op.Responses.Add(strconv.Itoa(http.StatusPartialContent), part)
	}
	c.Object(reflect.TypeFor[errorBody]())
	for _, f := range e.errorResponses {
		op.Responses.Add(strconv.Itoa(f.status), f.response(e.method != http.MethodHead))
	}
	return op
}

// success describes the answer of success.
func (e endpoint) success(c *openapi.Catalog) openapi.Response {
	out := openapi.Response{Description: e.done}
	for _, name := range e.headers {
		out.Headers.Add(name, headerSpecs[name])
	}
	switch {
	case e.method == http.MethodHead:
	case e.answer == nil:
		out.Content.Add(fileType[0], openapi.Media{})
	case e.lines:
		out.Content.Add(linesType, openapi.Media{Schema: openapi.Text()})
	default:
		out.Content.Add(body.TypeJSON, openapi.Media{Schema: c.Of(e.answer), Example: e.body})
	}
	return out
}

// The names of security schemes.
const (
	schemeBearer = "bearer"
	schemeToken  = "token"
)

// security returns who may call an endpoint. An empty need allows anonymous callers;
// an empty list is for a route that ignores tokens.
func (s *Server) security(a access) []openapi.Need {
	needs := []openapi.Need{}
	if a != public && !s.needsToken(a) {
		needs = append(needs, openapi.Need{})
	}
	if a != public {
		needs = append(needs, openapi.Need{schemeBearer: {}}, openapi.Need{schemeToken: {}})
	}
	return needs
}

func securitySchemes() openapi.Ordered[openapi.Scheme] {
	return openapi.Ordered[openapi.Scheme]{
		{Name: schemeBearer, Value: openapi.Scheme{Type: "http", Scheme: "bearer", Description: "An API token."}},
		{Name: schemeToken, Value: openapi.Scheme{Type: "apiKey", In: "header", Name: headerToken, Description: "An API token, as older clients send it. The address in X-User-Email is not looked at."}},
	}
}
