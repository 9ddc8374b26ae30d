package config

import (
	"fmt"
	"reflect"

	"github.com/spf13/viper"

	"pushbox/internal/environ"
)

// A Source is where a configuration is read from. Flags override the environment,
// the environment overrides the file, and the file overrides the defaults.
type Source struct {
	File    string          // the file; empty: the one that PUSHBOX_CONFIG names, or none
	Environ []string        // as os.Environ returns it
	Flags   map[string]Flag // by key, those that were given
	NoKey   bool            // the master key is not needed: do not look for its file where no setting names one
}

// A Flag is a setting given on the command line.
type Flag struct {
	Name  string // for messages, such as --listen
	Value string
}

// Loaded is a configuration without problems.
type Loaded struct {
	Config Config
	Values []Value // of every setting, in the order of Config's fields
}

// OriginDefault is the origin of a value that was not given.
const OriginDefault = "default"

// A Value is the value of a setting, and its origin.
type Value struct {
	Key    string
	Value  string // as YAML; a secret is [redacted]
	Origin string // such as "default" or "environment PUSHBOX_LISTEN"
	Reload bool   // a reload applies it; otherwise it needs a restart
}

// Load reads a configuration. It returns all problems together, as a
// *ProblemsError.
func Load(src Source) (*Loaded, error) {
	l, cfg, err := load(src)
	if err != nil {
		return nil, err
	}
	return &Loaded{Config: cfg, Values: l.values(cfg)}, nil
}

// DataDir returns the setting data_dir, even if other settings have problems: the server
// may still run with earlier ones. A *ProblemsError if data_dir itself cannot be known.
func DataDir(src Source) (string, error) {
	l, _ := read(src)
	if !l.complete || l.wrong["data_dir"] {
		return "", l.failure()
	}
	return l.given["data_dir"].value.(string), nil
}

// read reads the layers of a configuration, and returns the name of its file.
func read(src Source) (l *loader, file string) {
	l = newLoader(src.Environ)
	file = l.fileName(src.File)
	l.readFile(file)
	l.readEnvironment()
	l.readFlags(src.Flags)
	return l, file
}

// load is Load, with the loader that knows where everything came from.
func load(src Source) (*loader, Config, error) {
	l, file := read(src)
	cfg, err := l.decode()
	if err != nil {
		return nil, Config{}, err
	}
	if !src.NoKey {
		l.findKey(&cfg, file)
	}
	if l.complete {
		l.check(cfg)
	}
	if len(l.problems) > 0 {
		return nil, Config{}, l.failure()
	}
	return l, cfg, nil
}

// failure is the error with all problems so far.
func (l *loader) failure() error { return &ProblemsError{l.problems, l.unread} }

// A loader gathers what Load reads.
type loader struct {
	settings []setting
	byKey    map[string]setting
	environ  map[string]string
	given    map[string]given
	wrong    map[string]bool // keys with a problem
	problems []Problem
	unread   error // why the settings file cannot be read; nil: it was
	complete bool  // every layer could be read, so a missing setting is really not given
}

// given is the value of a setting in the highest layer read so far.
type given struct {
	value  any
	origin string // without a line number
	place  string // with a line number, for problems
}

func newLoader(vars []string) *loader {
	l := &loader{
		settings: settings(),
		byKey:    make(map[string]setting),
		environ:  environ.Map(vars),
		given:    make(map[string]given),
		wrong:    make(map[string]bool),
		complete: true,
	}
	for _, s := range l.settings {
		l.byKey[s.key] = s
		l.given[s.key] = given{s.initial, OriginDefault, OriginDefault}
	}
	return l
}

// problem notes a problem of a key; an empty key means no single one.
func (l *loader) problem(key, place, format string, args ...any) {
	l.problems = append(l.problems, Problem{key, place, fmt.Sprintf(format, args...)})
	l.wrong[key] = true
}

// accept takes a text as the value of a setting, in place of an earlier one.
func (l *loader) accept(s setting, text, origin, place string) {
	v, err := s.read(text)
	if err != nil {
		l.problem(s.key, place, "%v", err)
		return
	}
	l.given[s.key] = given{v, origin, place}
}

// decode makes a Config from the given values. They have their types by now, so an
// error is a fault of this package.
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
