package server

import (
	"bytes"
	"encoding/json"
)

// The parts of an OpenAPI 3.1 document that this API has. Names and meanings are
// those of https://spec.openapis.org/oas/v3.1.0.
type (
	specDocument struct {
		OpenAPI    string                          `json:"openapi"`
		Info       specInfo                        `json:"info"`
		Servers    []specServer                    `json:"servers"`
		Paths      ordered[ordered[specOperation]] `json:"paths"`
		Components specComponents                  `json:"components"`
	}

	specInfo struct {
		Title       string `json:"title"`
		Version     string `json:"version"`
		Description string `json:"description"`
	}

	specServer struct {
		URL string `json:"url"`
	}

	specOperation struct {
		OperationID string                `json:"operationId"`
		Summary     string                `json:"summary"`
		Description string                `json:"description"`
		Security    []specNeed            `json:"security"`
		Parameters  []specParameter       `json:"parameters,omitempty"`
		RequestBody *specBody             `json:"requestBody,omitempty"`
		Responses   ordered[specResponse] `json:"responses"`
	}

	// A specNeed are the names of security schemes that are used together.
	specNeed map[string][]string

	specParameter struct {
		Name        string      `json:"name"`
		In          string      `json:"in"`
		Description string      `json:"description"`
		Required    bool        `json:"required,omitempty"`
		Schema      *specSchema `json:"schema"`
	}

	specBody struct {
		Required bool               `json:"required"`
		Content  ordered[specMedia] `json:"content"`
	}

	specMedia struct {
		Schema   *specSchema          `json:"schema,omitempty"`
		Example  any                  `json:"example,omitempty"`
		Examples ordered[specExample] `json:"examples,omitempty"`
	}

	specExample struct {
		Summary string `json:"summary"`
		Value   any    `json:"value"`
	}

	specResponse struct {
		Description string              `json:"description"`
		Headers     ordered[specHeader] `json:"headers,omitempty"`
		Content     ordered[specMedia]  `json:"content,omitempty"`
	}

	specHeader struct {
		Description string      `json:"description"`
		Required    bool        `json:"required"`
		Schema      *specSchema `json:"schema"`
	}

	specComponents struct {
		Schemas         ordered[*specSchema] `json:"schemas"`
		SecuritySchemes ordered[specScheme]  `json:"securitySchemes"`
	}

	specScheme struct {
		Type        string `json:"type"`
		Description string `json:"description"`
		Scheme      string `json:"scheme,omitempty"`
		In          string `json:"in,omitempty"`
		Name        string `json:"name,omitempty"`
	}
)

// A specSchema is a JSON Schema, draft 2020-12.
type specSchema struct {
	Ref              string               `json:"$ref,omitempty"`
	Description      string               `json:"description,omitempty"`
	Type             specTypes            `json:"type,omitempty"`
	Enum             []string             `json:"enum,omitempty"`
	Default          any                  `json:"default,omitempty"`
	Minimum          *int                 `json:"minimum,omitempty"`
	Maximum          *int                 `json:"maximum,omitempty"`
	MinLength        int                  `json:"minLength,omitempty"`
	MaxLength        int                  `json:"maxLength,omitempty"`
	Pattern          string               `json:"pattern,omitempty"`
	Format           string               `json:"format,omitempty"`
	ContentEncoding  string               `json:"contentEncoding,omitempty"`
	ContentMediaType string               `json:"contentMediaType,omitempty"`
	Items            *specSchema          `json:"items,omitempty"`
	MinItems         int                  `json:"minItems,omitempty"`
	MaxItems         *int                 `json:"maxItems,omitempty"`
	Properties       ordered[*specSchema] `json:"properties,omitempty"`
	Required         []string             `json:"required,omitempty"`
	MinProperties    int                  `json:"minProperties,omitempty"`
	AllOf            []*specSchema        `json:"allOf,omitempty"`
	AnyOf            []*specSchema        `json:"anyOf,omitempty"`
	If               *specSchema          `json:"if,omitempty"`
	Then             *specSchema          `json:"then,omitempty"`
}

// specTypes are the types that a value can have: one, as a text, or several.
type specTypes []string

// MarshalJSON writes one type as a text and several as a list.
func (t specTypes) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// An ordered is a JSON object whose members keep their order.
type ordered[T any] []entryOf[T]

// An entryOf is a member of an ordered object.
type entryOf[T any] struct {
	name  string
	value T
}

// add appends a member, or replaces the one of that name.
func (o *ordered[T]) add(name string, value T) {
	if old := o.get(name); old != nil {
		*old = value
		return
	}
	*o = append(*o, entryOf[T]{name, value})
}

// get returns the value of a member, or nil.
func (o ordered[T]) get(name string) *T {
	for i := range o {
		if o[i].name == name {
			return &o[i].value
		}
	}
	return nil
}

// MarshalJSON writes the members in their order.
func (o ordered[T]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
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
