package openapi

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

const (
	mediaJSON = "application/json"
	mediaFile = "application/octet-stream"
)

// An Endpoint is a method of a path, with its operation.
type Endpoint struct {
	Operation
	ID         string // its name, with the method if another endpoint has the same name
	Method     string
	Path       string   // with its parameters in braces
	Params     []string // the names of all parameters
	Deprecated bool
	Security   []Object // who may call it
	Errors     []Response
}

// A Response is an answer that refuses a request.
type Response struct {
	Status  int
	Headers []string
	Bodies  []Example
}

// An Example is the body of an answer.
type Example struct {
	Summary string
	Value   any
}

// Document returns the API as an OpenAPI document of these endpoints, at that address. It has only
// the groups and the schemas that they need. With more it names the document of the other version.
func (a *API) Document(base string, more bool, all []Endpoint) Object {
	info := slices.Clone(a.Info)
	if more && a.More != "" {
		info.Set("description", info.Text("description")+" "+a.More)
	}
	var paths Object
	for _, e := range all {
		item := paths.Object(e.Path)
		item.Set(strings.ToLower(e.Method), a.operation(e))
		paths.Set(e.Path, item)
	}
	return Object{
		{"openapi", "3.1.0"},
		{"info", info},
		{"servers", []any{Object{{"url", base}}}},
		{"tags", slices.DeleteFunc(slices.Clone(a.Tags), func(tag Object) bool {
			return !slices.ContainsFunc(all, func(e Endpoint) bool { return e.Tag == tag.Text("name") })
		})},
		{"paths", paths},
		{"components", Object{{"schemas", a.schemas(paths, all)}, {"securitySchemes", a.Security}}},
	}
}

func (a *API) operation(e Endpoint) Object {
	op := Object{{"operationId", e.ID}}
	if e.Deprecated {
		op.Set("deprecated", true)
	}
	op = append(op, Object{{"tags", []any{e.Tag}}, {"summary", e.Summary}, {"description", e.Description}, {"security", e.Security}}...)
	var params []any
	for _, name := range e.Params {
		f := a.Parameter(name)
		p := Object{{"name", f.Name}, {"in", f.In}, {"description", f.describe()}}
		if f.Required {
			p.Set("required", true)
		}
		params = append(params, append(p, Member{"schema", f.Schema}))
	}
	if params != nil {
		op.Set("parameters", params)
	}
	if e.Body != "" {
		op.Set("requestBody", Object{{"required", true}, {"content", a.Bodies[e.Body].Content}})
	}
	op.Set("responses", a.responses(e))
	return op
}

// Part describes the answer with a part of a file.
const Part = "The requested part of the file."

// HasParts reports whether a client may ask for a part of the answer.
func (e Endpoint) HasParts() bool { return e.IsFile() && e.Method == http.MethodGet }

func (a *API) responses(e Endpoint) (all Object) {
	success := Object{{"description", e.Done}}
	if len(e.Headers) > 0 {
		success.Set("headers", a.headers(e.Headers))
	}
	if e.Method != http.MethodHead {
		success.Set("content", e.content())
	}
	all.Set(strconv.Itoa(e.Success()), success)
	if e.HasParts() {
		part := slices.Clone(success)
		part.Set("description", Part)
		part.Set("headers", a.headers(append(slices.Clone(e.Headers), "Content-Range")))
		all.Set(strconv.Itoa(http.StatusPartialContent), part)
	}
	for _, r := range e.Errors {
		all.Set(strconv.Itoa(r.Status), a.refusal(r, e.Method != http.MethodHead))
	}
	return all
}

// content is the body of success.
func (e Endpoint) content() Object {
	media := Object{}
	switch name, isList := strings.CutPrefix(e.Answer, "list of "); {
	case e.Answer == "" && e.IsFile():
	case e.Answer == "":
		media.Set("schema", Object{{"type", "string"}})
	case isList:
		media.Set("schema", Object{{"type", "array"}, {"items", ref(name)}})
	default:
		media.Set("schema", ref(name))
	}
	if e.Example.V != nil {
		media.Set("example", e.Example.V)
	}
	return Object{{cmp.Or(e.Type, mediaJSON), media}}
}

func (a *API) headers(names []string) (all Object) {
	for _, name := range names {
		all.Set(name, a.Headers[name])
	}
	return all
}

// The names of the schemas of refusals.
const (
	schemaError   = "Error"
	schemaInvalid = "InvalidFields"
)

// refusal describes a refusal. The answer to a HEAD request has no body.
func (a *API) refusal(r Response, hasBody bool) Object {
	out := Object{{"description", a.Statuses[r.Status]}}
	if len(r.Headers) > 0 {
		out.Set("headers", a.headers(r.Headers))
	}
	if !hasBody {
		return out
	}
	schema := schemaError
	if r.Status == http.StatusUnprocessableEntity {
		schema = schemaInvalid
	}
	var examples Object
	for i, body := range r.Bodies {
		examples.Set(strconv.Itoa(i+1), Object{{"summary", body.Summary}, {"value", body.Value}})
	}
	out.Set("content", Object{{mediaJSON, Object{{"schema", ref(schema)}, {"examples", examples}}}})
	return out
}

const schemasPath = "#/components/schemas/"

func ref(name string) Object { return Object{{"$ref", schemasPath + name}} }

// schemas returns the schemas that the paths refer to, directly or not, in the order of the data.
func (a *API) schemas(paths Object, all []Endpoint) (used Object) {
	schemas := append(slices.Clone(a.Schemas), Member{schemaInvalid, a.invalid(all)})
	reached := make(map[string]bool)
	schemas.reach(paths, reached)
	for _, m := range schemas {
		if reached[m.Name] {
			o, _ := m.Value.(Object)
			used.Set(m.Name, finish(o))
		}
	}
	return used
}

// reach marks the schemas that a value refers to, directly or not.
func (o Object) reach(v any, reached map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			o.reach(item, reached)
		}
	case Object:
		for _, m := range v {
			text, _ := m.Value.(string)
			if name, ok := strings.CutPrefix(text, schemasPath); ok && m.Name == "$ref" && !reached[name] {
				reached[name] = true
				o.reach(o.Get(name), reached)
			}
			o.reach(m.Value, reached)
		}
	}
}

// invalid is the schema of the body of a 422: a list of messages for each field.
func (a *API) invalid(all []Endpoint) Object {
	var fields Object
	add := func(name string) {
		fields.Set(name, Object{{"type", "array"}, {"items", Object{{"type", "string"}}}, {"minItems", 1}})
	}
	bodies := []string{"mail"} // its fields may be those of a push, too
	for _, e := range all {
		bodies = append(bodies, e.Body)
		if slices.Contains(e.Params, keyParam) {
			add(keyParam)
		}
	}
	for _, body := range bodies {
		for _, f := range a.Fields(body) {
			add(f.Name)
		}
	}
	return Object{
		{"description", "What is wrong, by field. A disabled kind of push is an error of kind."},
		{"required", []any{}},
		{"minProperties", 1},
		{"properties", fields},
	}
}

// keyParam is the parameter outside a body that a 422 may name.
const keyParam = "Idempotency-Key"

// finish returns a schema of the data in JSON Schema: bounds and defaults are in the descriptions,
// and required keys are in a list. There is no key for the default, because generators of clients
// treat a field with a default as always present.
func finish(schema Object) Object {
	out := Object{{"type", "object"}}
	var required []any
	for _, m := range schema {
		switch m.Name {
		case "properties":
			of, _ := m.Value.(Object)
			optional, _ := schema.Get("optional").([]any)
			var properties Object
			for _, p := range of {
				o, _ := p.Value.(Object)
				properties.Set(p.Name, described(o))
				if !slices.Contains(optional, any(p.Name)) {
					required = append(required, p.Name)
				}
			}
			out.Set(m.Name, properties)
		case "optional", "required":
		default:
			out.Set(m.Name, m.Value)
		}
	}
	if said, is := schema.Get("required").([]any); is {
		required = said
	}
	if len(required) > 0 {
		out.Set("required", required)
	}
	return out
}

// described returns the schema of a field with its bounds and its default in its description.
func described(o Object) Object {
	o = slices.Clone(o)
	if text := newField("", "", o).describe(); text != "" {
		o.Set("description", text)
	}
	return slices.DeleteFunc(o, func(m Member) bool { return m.Name == "bounds" || m.Name == "absent" })
}
