package config

import (
	"errors"
	"math"
	"reflect"
	"strings"
)

// A setting is one key, as a field of Config declares it.
type setting struct {
	kind
	key      string
	env      string
	index    []int // of the field
	initial  any   // the default
	least    int64 // bounds of a number
	most     int64
	zero     bool   // 0 is allowed although it is below least
	accepted string // the bounds in words; empty if there are none
	live     bool   // a reload applies it
}

// settings lists every setting in the order of Config's fields.
func settings() []setting {
	return walk(nil, reflect.ValueOf(Default()), "", nil, false)
}

// walk appends the settings in a struct of Config. live means that a reload applies
// all of them.
func walk(all []setting, v reflect.Value, prefix string, index []int, live bool) []setting {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("mapstructure"), ",")
		at := append(index[:len(index):len(index)], i)
		live := live || f.Tag.Get("reload") == "yes"
		switch {
		case f.Anonymous:
			all = walk(all, v.Field(i), prefix, at, live)
		case isSection(f.Type):
			all = walk(all, v.Field(i), prefix+name+".", at, live)
		default:
			s := newSetting(f, prefix+name, at, v.Field(i).Interface())
			s.live = live
			all = append(all, s)
		}
	}
	return all
}

// sectionOf returns the section of a key or of another section; empty if it is in
// none.
func sectionOf(key string) string {
	return key[:max(0, strings.LastIndexByte(key, '.'))]
}

// isSection reports whether fields of the type group settings: structs of this
// package do, those of other packages are values.
func isSection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.PkgPath() == reflect.TypeFor[Config]().PkgPath()
}

func newSetting(f reflect.StructField, key string, index []int, initial any) setting {
	s := setting{
		kind: kindOf(f), key: key, index: index, initial: initial,
		env:  envPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_")),
		zero: f.Tag.Get("off") == "0",
	}
	low, high := f.Tag.Get("min"), f.Tag.Get("max")
	s.least, s.most = s.bound(low, math.MinInt64), s.bound(high, math.MaxInt64)
	switch {
	case f.Tag.Get("oneof") != "":
		s.accepted = s.what
	case low != "" && high != "":
		s.accepted = "from " + low + " to " + high
	case low != "":
		s.accepted = "at least " + low
	}
	if s.zero {
		s.accepted = "0 or " + s.accepted
	}
	return s
}

// bound reads a min or max tag. It panics on a bound that is no value of the setting.
func (s setting) bound(tag string, absent int64) int64 {
	if tag == "" {
		return absent
	}
	v, err := s.parse(tag)
	if err != nil {
		panic("config: a bound of " + s.key + " " + err.Error())
	}
	return reflect.ValueOf(v).Int()
}

// read returns the value of a text, or an error that says what the text must be.
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
			return nil, errors.New("must be " + s.accepted)
		}
	}
	return v, nil
}

// isEmpty reports whether the default is no value.
func (s setting) isEmpty() bool {
	v := reflect.ValueOf(s.initial)
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}

// A Setting describes one key of the configuration.
type Setting struct {
	Key     string // such as log.level
	Env     string // such as PUSHBOX_LOG_LEVEL
	Default string // as YAML
	Accepts string // the bounds or words in words, such as "from 1 to 90"; empty if there are none
	Reload  bool   // a reload applies it; else it needs a restart
}

// Keys lists every setting in the order of Config's fields.
func Keys() []Setting {
	all := settings()
	keys := make([]Setting, len(all))
	for i, s := range all {
		keys[i] = Setting{Key: s.key, Env: s.env, Default: s.print(s.initial), Accepts: s.accepted, Reload: s.live}
	}
	return keys
}
