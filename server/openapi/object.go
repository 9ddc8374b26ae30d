package openapi

import (
	"bytes"
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"
)

// An Object is a JSON object whose members keep their order.
type Object []Member

// A Member is a member of an Object: its value is an Object, a list of values ([]any), a
// text, a number, a boolean or nil.
type Member struct {
	Name  string
	Value any
}

// Get returns the value of a member, or nil.
func (o Object) Get(name string) any {
	if i := o.index(name); i >= 0 {
		return o[i].Value
	}
	return nil
}

func (o Object) index(name string) int {
	return slices.IndexFunc(o, func(m Member) bool { return m.Name == name })
}

// Set appends a member, or replaces the one of that name.
func (o *Object) Set(name string, value any) {
	if i := o.index(name); i >= 0 {
		(*o)[i].Value = value
		return
	}
	*o = append(*o, Member{name, value})
}

// Object returns the value of a member that is an object; else an empty one.
func (o Object) Object(name string) Object {
	v, _ := o.Get(name).(Object)
	return v
}

// Text returns the value of a member that is a text; else an empty one.
func (o Object) Text(name string) string {
	v, _ := o.Get(name).(string)
	return v
}

// MarshalJSON writes the members in their order.
func (o Object) MarshalJSON() ([]byte, error) {
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

// UnmarshalYAML reads an object of YAML.
func (o *Object) UnmarshalYAML(n *yaml.Node) (err error) {
	*o, err = objectOf(n)
	return err
}

// A Value is the value of a member.
type Value struct{ V any }

// UnmarshalYAML reads a value of YAML.
func (v *Value) UnmarshalYAML(n *yaml.Node) (err error) {
	v.V, err = valueOf(n)
	return err
}

// valueOf returns the value of a node of YAML.
func valueOf(n *yaml.Node) (any, error) {
	switch n.Kind {
	case yaml.AliasNode:
		return valueOf(n.Alias)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, item := range n.Content {
			v, err := valueOf(item)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	case yaml.MappingNode:
		return objectOf(n)
	default:
		var v any
		err := n.Decode(&v)
		return v, err
	}
}

// mergeKey names objects whose members an object inherits, unless it defines them itself
// (https://yaml.org/type/merge.html).
const mergeKey = "<<"

func objectOf(n *yaml.Node) (Object, error) {
	o := Object{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		v, err := valueOf(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		if n.Content[i].Value != mergeKey {
			o.Set(n.Content[i].Value, v)
			continue
		}
		sources, isList := v.([]any)
		if !isList {
			sources = []any{v}
		}
		for _, source := range sources {
			o.merge(source)
		}
	}
	return o, nil
}

// merge adds the members of another object that are missing.
func (o *Object) merge(source any) {
	from, _ := source.(Object)
	for _, m := range from {
		if o.index(m.Name) < 0 {
			o.Set(m.Name, m.Value)
		}
	}
}
