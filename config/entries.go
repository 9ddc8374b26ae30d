package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// entries are the form of a list of mappings, each of which is a T.
type entries[T any] struct {
	what     string         // for "must be …"
	required []string       // keys that each entry has
	initial  func() T       // an entry without its keys
	name     func(T) string // no two entries have the same
	check    func(T) error  // of an entry by itself
}

func (e entries[T]) kind() kind {
	k := newKind(e.what, e.parse, e.print)
	k.nested = true
	return k
}

// parse reads a list, in YAML or JSON. Its errors name the entry, and have no value in them.
func (e entries[T]) parse(text string) ([]T, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.SequenceNode {
		return nil, errors.New("must be " + e.what)
	}
	all := []T{}
	for i, n := range doc.Content[0].Content {
		one, err := e.parseOne(aliased(n))
		if err == nil && slices.ContainsFunc(all, func(t T) bool { return e.name(t) == e.name(one) }) {
			err = errors.New("has the name of another one")
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d %w", i+1, err)
		}
		all = append(all, one)
	}
	return all, nil
}

func (e entries[T]) parseOne(n *yaml.Node) (T, error) {
	one := e.initial()
	fields := walk(nil, reflect.ValueOf(one), "", nil, false)
	if n.Kind != yaml.MappingNode {
		return one, errors.New("must have keys with values")
	}
	var known, given []string
	for _, s := range fields {
		known = append(known, s.key)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, aliased(n.Content[i+1])
		at := slices.Index(known, key)
		if at < 0 {
			return one, fmt.Errorf("has %s, which is not a setting%s", shown(key), didYouMean(key, known))
		}
		if slices.Contains(given, key) {
			return one, errors.New("has " + key + " twice")
		}
		v, err := fields[at].ofNode(value)
		if err != nil {
			return one, fmt.Errorf("has %s, which %w", key, err)
		}
		reflect.ValueOf(&one).Elem().FieldByIndex(fields[at].index).Set(reflect.ValueOf(v))
		given = append(given, key)
	}
	for _, key := range e.required {
		if !slices.Contains(given, key) {
			return one, errors.New("must have " + key)
		}
	}
	return one, e.check(one)
}

// ofNode returns the value of a node.
func (s setting) ofNode(n *yaml.Node) (any, error) {
	text, ok := scalar(n, s.tags)
	if len(s.tags) == 0 {
		text, ok = list(n)
	}
	if !ok {
		return nil, errors.New("must be " + s.what)
	}
	return s.read(text)
}

// print writes the entries as a YAML list in one line, with what differs from the defaults.
func (e entries[T]) print(all []T) string {
	fields := walk(nil, reflect.ValueOf(e.initial()), "", nil, false)
	items := make([]string, len(all))
	for i, one := range all {
		var parts []string
		for _, s := range fields {
			if v := s.print(reflect.ValueOf(one).FieldByIndex(s.index).Interface()); v != s.print(s.initial) {
				parts = append(parts, s.key+": "+v)
			}
		}
		items[i] = "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// yamlText returns a node as a text of its own.
func yamlText(n *yaml.Node) (string, bool) {
	b, err := yaml.Marshal(n)
	return string(b), err == nil && n.Kind == yaml.SequenceNode
}
