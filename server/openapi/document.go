// Package openapi has the parts of an OpenAPI 3.1 document as Go types, and makes
// schemas from the Go types of answers. Objects keep the order of their members, so
// that a document is read in the order in which it was written.
package openapi

import (
	"bytes"
	"encoding/json"
)

// The parts of an OpenAPI 3.1 document that pushbox uses, with the names and
// meanings of https://spec.openapis.org/oas/v3.1.0.
type (
	Document struct {
		OpenAPI    string                      `json:"openapi"`
		Info       Info                        `json:"info"`
		Servers    []Server                    `json:"servers"`
		Tags       []Tag                       `json:"tags"`
		Paths      Ordered[Ordered[Operation]] `json:"paths"`
		Components Components                  `json:"components"`
	}

	Info struct {
		Title       string  `json:"title"`
		Version     string  `json:"version"`
		Description string  `json:"description"`
		Contact     Contact `json:"contact"`
		License     License `json:"license"`
	}

	Contact struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}

	License struct {
		Name       string `json:"name"`
		Identifier string `json:"identifier"`
	}

	Tag struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}

	Server struct {
		URL string `json:"url"`
	}

	Operation struct {
		OperationID string            `json:"operationId"`
		Deprecated  bool              `json:"deprecated,omitempty"`
		Tags        []string          `json:"tags"`
		Summary     string            `json:"summary"`
		Description string            `json:"description"`
		Security    []Need            `json:"security"`
		Parameters  []Parameter       `json:"parameters,omitempty"`
		RequestBody *Body             `json:"requestBody,omitempty"`
		Responses   Ordered[Response] `json:"responses"`
	}

	// A Need names security schemes that are used together.
	Need map[string][]string

	Parameter struct {
		Name        string  `json:"name"`
		In          string  `json:"in"`
		Description string  `json:"description"`
		Required    bool    `json:"required,omitempty"`
		Schema      *Schema `json:"schema"`
	}

	Body struct {
		Required bool           `json:"required"`
		Content  Ordered[Media] `json:"content"`
	}

	Media struct {
		Schema   *Schema          `json:"schema,omitempty"`
		Example  any              `json:"example,omitempty"`
		Examples Ordered[Example] `json:"examples,omitempty"`
	}

	Example struct {
		Summary string `json:"summary"`
		Value   any    `json:"value"`
	}

	Response struct {
		Description string          `json:"description"`
		Headers     Ordered[Header] `json:"headers,omitempty"`
		Content     Ordered[Media]  `json:"content,omitempty"`
	}

	Header struct {
		Description string  `json:"description"`
		Required    bool    `json:"required"`
		Schema      *Schema `json:"schema"`
	}

	Components struct {
		Schemas         Ordered[*Schema] `json:"schemas"`
		SecuritySchemes Ordered[Scheme]  `json:"securitySchemes"`
	}

	Scheme struct {
		Type        string `json:"type"`
		Description string `json:"description"`
		Scheme      string `json:"scheme,omitempty"`
		In          string `json:"in,omitempty"`
		Name        string `json:"name,omitempty"`
	}
)

// A Schema is a JSON Schema, draft 2020-12.
type Schema struct {
	Ref              string           `json:"$ref,omitempty"`
	Description      string           `json:"description,omitempty"`
	Type             Types            `json:"type,omitempty"`
	Enum             []string         `json:"enum,omitempty"`
	Minimum          *int             `json:"minimum,omitempty"`
	Maximum          *int             `json:"maximum,omitempty"`
	MinLength        int              `json:"minLength,omitempty"`
	MaxLength        int              `json:"maxLength,omitempty"`
	Pattern          string           `json:"pattern,omitempty"`
	Format           string           `json:"format,omitempty"`
	ContentEncoding  string           `json:"contentEncoding,omitempty"`
	ContentMediaType string           `json:"contentMediaType,omitempty"`
	Items            *Schema          `json:"items,omitempty"`
	MinItems         int              `json:"minItems,omitempty"`
	MaxItems         *int             `json:"maxItems,omitempty"`
	Properties       Ordered[*Schema] `json:"properties,omitempty"`
	Required         []string         `json:"required,omitempty"`
	MinProperties    int              `json:"minProperties,omitempty"`
	Unevaluated      bool             `json:"unevaluatedProperties,omitempty"`
	AllOf            []*Schema        `json:"allOf,omitempty"`
	AnyOf            []*Schema        `json:"anyOf,omitempty"`
	If               *Schema          `json:"if,omitempty"`
	Then             *Schema          `json:"then,omitempty"`
}

// Types are the types that a value can have.
type Types []string

// MarshalJSON writes one type as a text and several as a list.
func (t Types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// Ordered is a JSON object whose members keep their order.
type Ordered[T any] []Member[T]

// A Member is a member of an Ordered object.
type Member[T any] struct {
	Name  string
	Value T
}

// Add appends a member, or replaces the one of that name.
func (o *Ordered[T]) Add(name string, value T) {
	if old := o.Get(name); old != nil {
		*old = value
		return
	}
	*o = append(*o, Member[T]{name, value})
}

// Get returns the value of a member, or nil.
func (o Ordered[T]) Get(name string) *T {
	for i := range o {
		if o[i].Name == name {
			return &o[i].Value
		}
	}
	return nil
}

// MarshalJSON writes the members in their order.
func (o Ordered[T]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
