// Package openapi has the documentation of the API as data, and makes OpenAPI 3.1 documents
// of it (https://spec.openapis.org/oas/v3.1.0).
package openapi

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"net/http"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
)

//go:embed api.yaml
var source string

// asJSON writes a value as JSON, which is YAML, too.
func asJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// An API is the content of api.yaml for a version of the API on a server.
type API struct {
	Info       Object
	More       string // about the other version
	Tags       []Object
	Security   Object            // the schemes, by name
	Statuses   map[int]string    // descriptions of the groups
	Headers    map[string]Object // of answers
	Parameters map[string]Object // of requests, outside the body
	Operations map[string]Operation
	Bodies     map[string]Body
	Schemas    Object
}

// An Operation documents a route of the API.
type Operation struct {
	Tag         string // the group that it belongs to
	Summary     string
	Description string
	Suffix      string   // of the path in documentation
	Parameters  []string // by their names; those of the path are known
	Body        string   // by its name; empty: none
	Status      int      // of a success; 0: 200
	Done        string   // describes the answer of a success
	Answer      string   // the name of its schema; "list of" before it: a list of those
	Type        string   // its media type; empty: JSON
	Example     Value
	Headers     []string // of a success
	Curl        string   // options of the example command
}

// IsFile reports whether the operation answers with a file.
func (o Operation) IsFile() bool { return o.Type == mediaFile }

// A Body is the body of a request.
type Body struct {
	Fields  string // the name of the schema that has its fields
	Content Object // by media type
}

// Success is the status of the operation's answer.
func (o Operation) Success() int { return cmp.Or(o.Status, http.StatusOK) }

// Read fills values into the data and returns what it then says.
func Read(values map[string]any) (*API, error) {
	t, err := template.New("api.yaml").Option("missingkey=error").Funcs(template.FuncMap{
		"json": asJSON,
		"join": func(words []string) string { return strings.Join(words, ", ") },
	}).Parse(source)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, values); err != nil {
		return nil, err
	}
	a := new(API)
	return a, yaml.Unmarshal(b.Bytes(), a)
}

// A Field is a parameter of a request, or a field of its body.
type Field struct {
	Name, In    string // In is path, query, header or body
	Description string
	Bounds      string // in words; empty: none
	Absent      string // what it means if the field is absent; empty: nothing
	Required    bool
	Schema      Object
}

// Parameter returns the parameter of that name.
func (a *API) Parameter(name string) Field {
	p := a.Parameters[name]
	f := newField(name, p.Text("in"), p)
	f.Required, _ = p.Get("required").(bool)
	f.Schema = p.Object("schema")
	return f
}

// Fields returns the fields of a body.
func (a *API) Fields(body string) (all []Field) {
	for _, m := range a.Schemas.Object(a.Bodies[body].Fields).Object("properties") {
		o, _ := m.Value.(Object)
		f := newField(m.Name, "body", o)
		f.Schema = o
		all = append(all, f)
	}
	return all
}

func newField(name, in string, o Object) Field {
	return Field{Name: name, In: in, Description: o.Text("description"), Bounds: o.Text("bounds"), Absent: o.Text("absent")}
}

// describe returns the description with the bounds and the default.
func (f Field) describe() string {
	text := f.Description
	if f.Bounds != "" {
		text += " Bounds: " + f.Bounds + "."
	}
	if f.Absent != "" {
		text += " If absent: " + f.Absent + "."
	}
	return text
}
