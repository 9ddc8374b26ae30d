package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/viper"

	"pushbox/internal/environ"
	"pushbox/internal/secret"
)

const (
	envPrefix     = "PUSHBOX_"
	envFile       = "PUSHBOX_CONFIG"
	envCredential = "CREDENTIALS_DIRECTORY"
	keyFileKey    = "master_key_file"
	keyDir        = "key" // directory of the key file beside the settings file, if it exists
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
	Line   int    // of the file that Origin names; 0: it names none
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

func read(src Source) (l *loader, file string) {
	l = newLoader(settings(), src.Environ)
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

func (l *loader) failure() error { return &ProblemsError{l.problems, l.unread} }

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
	line   int    // of the settings file; 0: it is from elsewhere
}

func newLoader(all []setting, vars []string) *loader {
	l := &loader{
		settings: all,
		byKey:    make(map[string]setting),
		environ:  environ.Map(vars),
		given:    make(map[string]given),
		wrong:    make(map[string]bool),
		complete: true,
	}
	for _, s := range l.settings {
		l.byKey[s.Key] = s
		l.given[s.Key] = given{s.initial, OriginDefault, OriginDefault, 0}
	}
	return l
}

// problem notes a problem of a key; an empty key means no single one.
func (l *loader) problem(key, place, format string, args ...any) {
	l.problems = append(l.problems, Problem{key, place, fmt.Sprintf(format, args...)})
	l.wrong[key] = true
}

// accept takes a text as the value of a setting, in place of an earlier one. line is that of the
// settings file; 0: it is not from there.
func (l *loader) accept(s setting, text, origin, place string, line int) {
	v, err := s.read(text)
	if err != nil {
		l.problem(s.Key, place, "%v", err)
		return
	}
	l.given[s.Key] = given{v, origin, place, line}
}

// decode makes a Config from the given values. They have their types by now, so an
// error is a fault of this package.
func (l *loader) decode() (cfg Config, err error) {
	v := viper.New()
	for _, s := range l.settings {
		v.Set(s.Key, l.given[s.Key].value)
	}
	if err := v.UnmarshalExact(&cfg); err != nil {
		return Config{}, fmt.Errorf("the settings do not fit their struct: %w", err)
	}
	return cfg, nil
}

func (l *loader) values(cfg Config) []Value {
	values := make([]Value, len(l.settings))
	for i, s := range l.settings {
		value := s.print(field(&cfg, s).Interface())
		values[i] = Value{Key: s.Key, Value: value, Origin: l.given[s.Key].origin, Line: l.given[s.Key].line, Reload: s.Reload}
	}
	return values
}

// fileName is the file to read; empty if there is none.
func (l *loader) fileName(flag string) string {
	named, ok := l.environ[envFile]
	switch {
	case flag != "":
		return flag
	case ok && named == "":
		l.problem("", "environment "+envFile, "is empty")
		l.complete = false
	}
	return named
}

func (l *loader) readEnvironment() {
	byEnv := make(map[string]setting)
	for _, s := range l.settings {
		byEnv[s.Env] = s
	}
	others := []string{envFile} // variables of this program that are no settings of a server
	for _, s := range clientSettings() {
		others = append(others, s.Env)
	}
	known := append(slices.Sorted(maps.Keys(byEnv)), others...)
	for _, name := range slices.Sorted(maps.Keys(l.environ)) {
		s, ok := byEnv[name]
		origin := "environment " + oneLine(name)
		switch {
		case ok:
			if text := l.environ[name]; text != "" || !s.emptyIsUnset() {
				l.accept(s, s.fromEnvironment(text), origin, origin, 0)
			}
		case strings.HasPrefix(name, envPrefix) && !slices.Contains(others, name):
			l.problem("", origin, "is not a setting%s", didYouMean(name, known))
		}
	}
}

// emptyIsUnset reports whether an empty variable counts as not set, since an empty text means
// nothing: Compose passes one where a variable of its own is not set.
func (s setting) emptyIsUnset() bool {
	switch s.initial.(type) {
	case bool, Switch, int, Size, time.Duration:
		return true
	}
	return false
}

// fromEnvironment returns the text of a variable with the words for switches that programs
// and people use there, as true and false.
func (s setting) fromEnvironment(text string) string {
	switch word := strings.ToLower(text); {
	case !slices.Contains(s.tags, tagBool):
		return text
	case slices.Contains([]string{"yes", "on", "1"}, word):
		return "true"
	case slices.Contains([]string{"no", "off", "0"}, word):
		return "false"
	default:
		return text
	}
}

func (l *loader) readFlags(flags map[string]Flag) {
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		f := flags[key]
		origin := "flag " + f.Name
		s, ok := l.byKey[key]
		if !ok {
			l.problem(key, origin, "is not a setting")
			continue
		}
		if _, ok := s.initial.(secret.Text); ok {
			l.problem(key, origin, "is a secret, and other users can see arguments")
			continue
		}
		l.accept(s, f.Value, origin, origin, 0)
	}
}

// findKey finds the key file if no setting names it: the credential of systemd, else the
// key in the data directory, else a file in the directory for keys beside the settings
// file named file. Without such a directory it leaves the setting empty.
func (l *loader) findKey(cfg *Config, file string) {
	if cfg.MasterKeyFile != "" || !cfg.MasterKey.IsZero() || l.findCredential(cfg) || file == "" {
		return
	}
	_, err := os.Lstat(filepath.Join(cfg.DataDir, keyName))
	dir := filepath.Join(filepath.Dir(file), keyDir)
	if info, dirErr := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && dirErr == nil && info.IsDir() {
		l.keyFound(cfg, filepath.Join(dir, keyName), "directory "+oneLine(dir))
	}
}

// findCredential uses the master key that systemd passes as a credential, if there is one.
func (l *loader) findCredential(cfg *Config) (found bool) {
	const origin = "systemd credential " + keyName
	dir := l.environ[envCredential]
	if dir == "" {
		return false
	}
	path := filepath.Join(dir, keyName)
	switch _, err := os.Stat(path); {
	case err == nil:
		l.keyFound(cfg, path, origin)
		return true
	case !errors.Is(err, fs.ErrNotExist):
		l.problem(keyFileKey, origin, "cannot be read: %v", reason(err))
	}
	return false
}

func (l *loader) keyFound(cfg *Config, path, origin string) {
	cfg.MasterKeyFile = path
	l.given[keyFileKey] = given{path, origin, origin, 0}
}

// A Change is the effect of reading the sources of a running configuration again.
type Change struct {
	Config  Config   // to continue with: new values where a reload applies them, else the old ones
	Values  []Value  // of Config; those of Waiting have no origin
	Changed []string // keys with a new value that the reload applies
	Waiting []string // keys with a new value that needs a restart
}

// Reload reads the configuration of a running server again, and returns the changes. The caller
// keeps its configuration if the error is not nil: a *ProblemsError with all problems of the new
// configuration, or of the part of it that a reload would apply.
func Reload(running Config, src Source) (Change, error) {
	l, next, err := load(src)
	if err != nil {
		return Change{}, err
	}
	c := Change{Config: next}
	for _, s := range l.settings {
		was, is := field(&running, s), field(&c.Config, s)
		if reflect.DeepEqual(was.Interface(), is.Interface()) {
			continue
		}
		if s.Reload {
			c.Changed = append(c.Changed, s.Key)
			continue
		}
		c.Waiting = append(c.Waiting, s.Key)
		is.Set(was)
		l.given[s.Key] = given{place: "as it is until a restart"} // for problems of the old value
	}
	if l.check(c.Config); len(l.problems) > 0 {
		return Change{}, l.failure()
	}
	c.Values = l.values(c.Config)
	return c, nil
}

func field(c *Config, s setting) reflect.Value {
	return reflect.ValueOf(c).Elem().FieldByIndex(s.index)
}
