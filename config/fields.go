package config

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Setting describes one key of the configuration.
type Setting struct {
	Key     string // such as log.level
	Env     string // such as PUSHBOX_LOG_LEVEL
	Default string // as YAML
	Accepts string // the bounds or words in words, such as "from 1 to 90"; empty if there are none
	Reload  bool   // a reload applies it; else it needs a restart
}

type setting struct {
	Setting
	kind
	index       []int // of the field
	initial     any   // the default
	least, most int64 // bounds of a number
	zero        bool  // 0 is allowed although it is below least
}

// Default returns the configuration with every setting at its default.
func Default() Config {
	c := defaults[Config]()
	c.Webhooks.Events = slices.Clone(hookEvents)
	// Settings that policies may leave open.
	c.Policy.RequirePassphrase, c.Policy.RequireEncryption, c.Policy.EnableMail, c.Policy.Reveal = Off, Off, On, "press"
	return c
}

// defaults returns a T with the values of the tags default. No list of it is nil.
func defaults[T any]() (t T) {
	setDefaults(reflect.ValueOf(&t).Elem())
	return t
}

// setDefaults panics on a default that is no value of its field.
func setDefaults(v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		text, given := f.Tag.Lookup("default")
		switch {
		case isSection(f.Type):
			setDefaults(v.Field(i))
		case given:
			value, err := kindOf(f).parse(text)
			if err != nil {
				panic("config: the default of " + f.Name + " " + err.Error())
			}
			v.Field(i).Set(reflect.ValueOf(value))
		case f.Type.Kind() == reflect.Slice:
			v.Field(i).Set(reflect.MakeSlice(f.Type, 0, 0))
		}
	}
}

func settings() []setting {
	return walk(nil, reflect.ValueOf(Default()), "", nil, false)
}

// walk appends the settings in a struct of Config. live means that a reload applies
// all of them.
func walk(all []setting, v reflect.Value, prefix string, index []int, live bool) []setting {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag, isSetting := f.Tag.Lookup("mapstructure")
		name, _, _ := strings.Cut(tag, ",")
		at := append(index[:len(index):len(index)], i)
		live := live || f.Tag.Get("reload") == "yes"
		switch {
		case f.Anonymous:
			all = walk(all, v.Field(i), prefix, at, live)
		case isSection(f.Type):
			all = walk(all, v.Field(i), prefix+name+".", at, live)
		case isSetting:
			all = append(all, newSetting(f, prefix+name, at, v.Field(i).Interface(), live))
		}
	}
	return all
}

func sectionOf(key string) string {
	return key[:max(0, strings.LastIndexByte(key, '.'))]
}

// isSection reports whether fields of the type group settings: structs of this
// package do, those of other packages are values.
func isSection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.PkgPath() == reflect.TypeFor[Config]().PkgPath()
}

func newSetting(f reflect.StructField, key string, index []int, initial any, live bool) setting {
	s := setting{kind: kindOf(f), index: index, initial: initial, zero: f.Tag.Get("off") == "0"}
	s.Setting = Setting{Key: key, Env: envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_")), Default: s.print(initial), Reload: live}
	low, high := f.Tag.Get("min"), f.Tag.Get("max")
	s.least, s.most = s.bound(low, math.MinInt64), s.bound(high, math.MaxInt64)
	switch {
	case f.Tag.Get("oneof") != "":
		s.Accepts = s.what
	case low != "" && high != "":
		s.Accepts = "from " + low + " to " + high
	case low != "":
		s.Accepts = "at least " + low
	}
	if s.zero {
		s.Accepts = "0 or " + s.Accepts
	}
	return s
}

func (s setting) bound(tag string, absent int64) int64 {
	if tag == "" {
		return absent
	}
	v, err := s.parse(tag)
	if err != nil {
		panic("config: a bound of " + s.Key + " " + err.Error())
	}
	return reflect.ValueOf(v).Int()
}

func (s setting) read(text string) (any, error) {
	v, err := s.parse(text)
	switch {
	case err != nil && text == "":
		return nil, errors.New("is empty")
	case err != nil:
		return nil, err
	}
	if n := reflect.ValueOf(v); n.CanInt() {
		if i := n.Int(); (i < s.least || i > s.most) && (i != 0 || !s.zero) {
			return nil, errors.New("must be " + s.Accepts)
		}
	}
	return v, nil
}

func isEmpty(v reflect.Value) bool {
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}

// Keys lists every setting in the order of Config's fields.
func Keys() []Setting {
	all := settings()
	keys := make([]Setting, len(all))
	for i, s := range all {
		keys[i] = s.Setting
	}
	return keys
}

// entries are the form of a list of mappings, each of which is a T.
type entries[T any] struct {
	what     string         // for "must be …"
	required []string       // keys that each entry has
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
	one := defaults[T]()
	fields := walk(nil, reflect.ValueOf(one), "", nil, false)
	if n.Kind != yaml.MappingNode {
		return one, errors.New("must have keys with values")
	}
	var known, given []string
	for _, s := range fields {
		known = append(known, s.Key)
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
		text, ok := fields[at].textOf(value)
		v, err := fields[at].read(text)
		if !ok {
			err = errors.New("must be " + fields[at].what)
		}
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

// print writes the entries as a YAML list in one line, with the fields that differ from the
// defaults.
func (e entries[T]) print(all []T) string {
	fields := walk(nil, reflect.ValueOf(defaults[T]()), "", nil, false)
	items := make([]string, len(all))
	for i, one := range all {
		var parts []string
		for _, s := range fields {
			if v := s.print(reflect.ValueOf(one).FieldByIndex(s.index).Interface()); v != s.Default {
				parts = append(parts, s.Key+": "+v)
			}
		}
		items[i] = "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(items, ", ") + "]"
}
