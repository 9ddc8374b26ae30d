package openapi

import (
	"reflect"
	"strings"
)

// A Catalog makes schemas from the Go types of answers, and collects those of
// structs.
type Catalog struct {
	Types   map[string]TypeText // by the name of the struct in Go
	Keys    map[string]KeyText  // by the name of the struct in Go, a dot, and the JSON key
	Schemas Ordered[*Schema]
}

// A TypeText names and describes a struct.
type TypeText struct {
	Name   string // in the document
	Text   string
	Opaque bool // its keys are described elsewhere
}

// A KeyText describes a key of a struct beyond what its Go type says.
type KeyText struct {
	Text    string
	Format  string   // of a text, as JSON Schema names it
	Pattern string   // of a text
	Words   []string // the only values of a text
	Null    bool     // null is its only value
}

// Of returns the schema of a type: for a struct a reference into the catalog. It
// panics on a kind of type that it does not know.
func (c *Catalog) Of(t reflect.Type) *Schema {
	switch t.Kind() {
	case reflect.String:
		return Text()
	case reflect.Bool:
		return &Schema{Type: Types{"boolean"}}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return &Schema{Type: Types{"integer"}, Minimum: new(0)} // all of them count something
	case reflect.Pointer:
		s := c.Of(t.Elem())
		s.Type = append(s.Type, "null")
		return s
	case reflect.Slice:
		return &Schema{Type: Types{"array"}, Items: c.Of(t.Elem())}
	case reflect.Struct:
		return c.Object(t)
	default:
		panic("openapi: no schema for a " + t.String())
	}
}

// Object adds the schema of a struct to the catalog and returns a reference to it.
func (c *Catalog) Object(t reflect.Type) *Schema {
	said := c.Types[t.Name()]
	if c.Schemas.Get(said.Name) == nil {
		s := &Schema{Type: Types{"object"}, Description: said.Text}
		c.Schemas.Add(said.Name, s) // before its members, so that it precedes theirs
		if !said.Opaque {
			c.members(s, t)
		}
	}
	return Ref(said.Name)
}

// members adds the keys of a struct to a schema as encoding/json writes them:
// those of an embedded struct are the struct's own.
func (c *Catalog) members(s *Schema, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			c.members(s, f.Type)
			continue
		}
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		s.Properties.Add(key, c.Keys[t.Name()+"."+key].annotate(c.Of(f.Type)))
		if options != "omitempty" {
			s.Required = append(s.Required, key)
		}
	}
}

func (k KeyText) annotate(s *Schema) *Schema {
	s.Description, s.Format, s.Pattern, s.Enum = k.Text, k.Format, k.Pattern, k.Words
	if k.Null {
		s.Type = Types{"null"}
	}
	return s
}

// Ref refers to the schema of that name among the components.
func Ref(name string) *Schema {
	return &Schema{Ref: "#/components/schemas/" + name}
}

// Text is any text.
func Text() *Schema { return &Schema{Type: Types{"string"}} }

// Number is a whole number within bounds.
func Number(least, most int) *Schema {
	return &Schema{Type: Types{"integer"}, Minimum: &least, Maximum: &most}
}
