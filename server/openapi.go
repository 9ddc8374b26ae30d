package server

import (
	"cmp"
	"net/http"
	"reflect"
	"strconv"
	"strings"
)

// describe answers with the API's documentation for programs.
func (s *Server) describe(r *request) (reply, error) { return ok(s.openAPI(s.home(r))), nil }

// openAPI is the API as an OpenAPI 3.1 document. Its examples have links that
// begin with base.
func (s *Server) openAPI(base string) specDocument {
	var c specCatalog
	fields := s.createFields(s.offers())
	doc := specDocument{
		OpenAPI: "3.1.0",
		Info:    specInfo{Title: "pushbox", Version: apiVersion, Description: apiText},
		Servers: []specServer{{URL: base}},
	}
	for _, e := range s.endpoints(base) {
		item := doc.Paths.get(e.path)
		if item == nil {
			doc.Paths.add(e.path, nil)
			item = doc.Paths.get(e.path)
		}
		item.add(strings.ToLower(e.method), s.operation(e, &c))
	}
	c.schemas.add(specInvalid, invalidSchema(append(fields, s.mailFields()...)))
	doc.Components = specComponents{Schemas: c.schemas, SecuritySchemes: securitySchemes()}
	return doc
}

// apiText is what holds for all of the API.
const apiText = "Shares secrets that vanish: Password Pusher's JSON API, version 2. " +
	"Each path under /api/v2 may end in .json. Answers are JSON in UTF-8 and never to be stored; times are UTC. " +
	"Objects may get more keys. A method that an address does not have is answered 405, with a header Allow."

// An endpoint is a route of the API with what is said of it: what its parts of
// the OpenAPI document and of the help page are made of.
type endpoint struct {
	route
	routeText
	id       string // its name, and its method where another one has the same name
	path     string // with its parameters in braces
	fields   []apiField
	refusals []statusAnswers
	body     any // an example of what success answers with; nil: there is none
}

// endpoints are the routes of the API in the order of the table: all but pages
// and what balancers ask.
func (s *Server) endpoints(base string) (all []endpoint) {
	for _, row := range s.routes() {
		if inAPI(row.pattern) {
			all = append(all, s.endpoint(row, base))
		}
	}
	return all
}

func inAPI(pattern string) bool {
	return strings.HasPrefix(pattern, "/api/v2/") || strings.HasPrefix(pattern, "/d/")
}

func (s *Server) endpoint(row route, base string) endpoint {
	e := endpoint{route: row, routeText: routeTexts[row.name], id: row.name}
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
		e.fields = append(e.fields, s.createFields(s.offers())...)
	}
	if e.mail {
		e.fields = append(e.fields, s.notifyFields()...)
	}
	e.refusals = refusals(s.errorsOf(row, e.errors))
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

// parts reports whether a part of the answer can be asked for.
func (e endpoint) parts() bool { return e.answer == nil && e.method == http.MethodGet }

const aPart = "The part of the file that was asked for."

// operation is the endpoint's part of the document. The schemas that it needs
// go into the catalog.
func (s *Server) operation(e endpoint, c *specCatalog) specOperation {
	op := specOperation{
		OperationID: e.id, Summary: e.summary, Description: e.text, Security: s.security(e.access),
	}
	for _, f := range e.fields {
		if f.in != "body" {
			op.Parameters = append(op.Parameters, specParameter{
				Name: f.name, In: f.in, Description: f.describe().Description, Required: f.required, Schema: f.schema,
			})
		}
	}
	if e.push {
		op.RequestBody = s.createBody(&c.schemas)
	}
	if e.mail {
		op.RequestBody = s.notifyBody(&c.schemas)
	}
	op.Responses.add(strconv.Itoa(cmp.Or(e.status, http.StatusOK)), e.success(c))
	if e.parts() {
		part := e.success(c)
		part.Description = aPart
		part.Headers.add("Content-Range", headerSpecs["Content-Range"])
		op.Responses.add(strconv.Itoa(http.StatusPartialContent), part)
	}
	c.object(reflect.TypeFor[errorBody]())
	for _, f := range e.refusals {
		op.Responses.add(strconv.Itoa(f.status), f.response(e.method != http.MethodHead))
	}
	return op
}

// success describes the answer of success.
func (e endpoint) success(c *specCatalog) specResponse {
	out := specResponse{Description: e.done}
	for _, name := range e.headers {
		out.Headers.add(name, headerSpecs[name])
	}
	switch {
	case e.method == http.MethodHead:
	case e.answer == nil:
		out.Content.add(fileType[0], specMedia{})
	default:
		out.Content.add(typeJSON, specMedia{Schema: c.of(e.answer), Example: e.body})
	}
	return out
}

// The names of security schemes.
const (
	schemeBearer = "bearer"
	schemeEmail  = "email"
	schemeToken  = "token"
)

// security says who may call an endpoint. An empty need is nobody in
// particular; no need at all is a route that looks at no token.
func (s *Server) security(a access) []specNeed {
	needs := []specNeed{}
	if a != open && !s.needsToken(a) {
		needs = append(needs, specNeed{})
	}
	if a != open {
		needs = append(needs, specNeed{schemeBearer: {}}, specNeed{schemeEmail: {}, schemeToken: {}})
	}
	return needs
}

func securitySchemes() ordered[specScheme] {
	return ordered[specScheme]{
		{schemeBearer, specScheme{Type: "http", Scheme: "bearer", Description: "An API token."}},
		{schemeEmail, specScheme{Type: "apiKey", In: "header", Name: headerEmail, Description: "The address of the account, together with its API token in " + headerToken + "."}},
		{schemeToken, specScheme{Type: "apiKey", In: "header", Name: headerToken, Description: "An API token, together with the address of its account in " + headerEmail + "."}},
	}
}
