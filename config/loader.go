package config

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/spf13/viper"
)

// A loader gathers what Load reads.
type loader struct {
	settings []setting
	byKey    map[string]setting
	environ  map[string]string
	given    map[string]given
	wrong    map[string]bool // keys that a problem was noted of
	problems []Problem
	complete bool // all there is to read could be read: what is missing is really not given
}

// given is the value of a setting in the layer that counts so far.
type given struct {
	value  any
	origin string // without a line number
	place  string // with it, for problems
}

func newLoader(environ []string) *loader {
	l := &loader{
		settings: settings(),
		byKey:    make(map[string]setting),
		environ:  make(map[string]string),
		given:    make(map[string]given),
		wrong:    make(map[string]bool),
		complete: true,
	}
	for _, s := range l.settings {
		l.byKey[s.key] = s
		l.given[s.key] = given{s.initial, "default", "default"}
	}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		l.environ[name] = value
	}
	return l
}

// problem notes what is wrong with a key; an empty key stands for no single one.
func (l *loader) problem(key, place, format string, args ...any) {
	l.problems = append(l.problems, Problem{key, place, fmt.Sprintf(format, args...)})
	l.wrong[key] = true
}

// accept takes a text as the value of a setting, over what was given before.
func (l *loader) accept(s setting, text, origin, place string) {
	v, err := s.read(text)
	if err != nil {
		l.problem(s.key, place, "%v", err)
		return
	}
	l.given[s.key] = given{v, origin, place}
}

// decode makes a Config of what was given. All values have their types by now,
// so that an error is a fault of this package.
func (l *loader) decode() (cfg Config, err error) {
	v := viper.New()
	for _, s := range l.settings {
		v.Set(s.key, l.given[s.key].value)
	}
	if err := v.UnmarshalExact(&cfg); err != nil {
		return Config{}, fmt.Errorf("the settings do not fit their struct: %w", err)
	}
	return cfg, nil
}

func (l *loader) values(cfg Config) []Value {
	values := make([]Value, len(l.settings))
	for i, s := range l.settings {
		v := reflect.ValueOf(cfg).FieldByIndex(s.index).Interface()
		values[i] = Value{Key: s.key, Value: s.print(v), Origin: l.given[s.key].origin, Reload: s.live}
	}
	return values
}
