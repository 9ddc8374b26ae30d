package server

import (
	"reflect"
	"strings"
)

// A specCatalog are the schemas of the types of answers, made from the types.
type specCatalog struct{ schemas ordered[*specSchema] }

// of returns the schema of a type: for a struct a reference to one of the
// catalog. It panics on a type that no answer has had so far.
func (c *specCatalog) of(t reflect.Type) *specSchema {
	switch t.Kind() {
	case reflect.String:
		return textSchema()
	case reflect.Bool:
		return &specSchema{Type: specTypes{"boolean"}}
	case reflect.Int, reflect.Int64:
		return &specSchema{Type: specTypes{"integer"}, Minimum: new(0)} // all of them count something
	case reflect.Pointer:
		s := c.of(t.Elem())
		s.Type = append(s.Type, "null")
		return s
	case reflect.Slice:
		return &specSchema{Type: specTypes{"array"}, Items: c.of(t.Elem())}
	case reflect.Struct:
		return c.object(t)
	default:
		panic("server: no answer can have a " + t.String())
	}
}

// object puts the schema of a struct into the catalog and returns a reference.
func (c *specCatalog) object(t reflect.Type) *specSchema {
	said := typeTexts[t.Name()]
	if c.schemas.get(said.name) == nil {
		s := &specSchema{Type: specTypes{"object"}, Description: said.text}
		c.schemas.add(said.name, s) // before its members, so that it stands in front of theirs
		if !said.opaque {
			c.members(s, t)
		}
	}
	return schemaNamed(said.name)
}

// members adds the keys of a struct to a schema as encoding/json writes them:
// those of an embedded struct are the struct's own.
func (c *specCatalog) members(s *specSchema, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			c.members(s, f.Type)
			continue
		}
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		s.Properties.add(key, keyTexts[t.Name()+"."+key].annotate(c.of(f.Type)))
		if options != "omitempty" {
			s.Required = append(s.Required, key)
		}
	}
}

// A keyText says of a key of an answer what its type does not.
type keyText struct {
	text    string
	format  string   // of a text, as JSON Schema names it
	pattern string   // of a text
	words   []string // that it can be
	null    bool     // it is never anything else
}

func (k keyText) annotate(s *specSchema) *specSchema {
	s.Description, s.Format, s.Pattern, s.Enum = k.text, k.format, k.pattern, k.words
	if k.null {
		s.Type = specTypes{"null"}
	}
	return s
}

func schemaNamed(name string) *specSchema {
	return &specSchema{Ref: "#/components/schemas/" + name}
}

func textSchema() *specSchema { return &specSchema{Type: specTypes{"string"}} }

// numberSchema is a whole number within bounds, which a text of digits may be,
// too.
func numberSchema(least, most int) *specSchema {
	return &specSchema{
		Type: specTypes{"integer", "string"}, Minimum: &least, Maximum: &most, Pattern: "^[0-9]+$",
	}
}
