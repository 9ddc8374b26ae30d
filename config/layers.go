package config

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pushbox/internal/secret"
)

const (
	envPrefix     = "PUSHBOX_"
	envFile       = "PUSHBOX_CONFIG"
	envCredential = "CREDENTIALS_DIRECTORY"
	keyFileKey    = "master_key_file"
	keyDir        = "key" // beside the settings file: the directory of the key file, if it exists
)

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
		byEnv[s.env] = s
	}
	others := []string{envFile} // variables of this program that are no settings of a server
	for _, s := range clientSettings() {
		others = append(others, s.env)
	}
	known := append(slices.Sorted(maps.Keys(byEnv)), others...)
	for _, name := range slices.Sorted(maps.Keys(l.environ)) {
		s, ok := byEnv[name]
		origin := "environment " + oneLine(name)
		switch {
		case ok:
			if text := l.environ[name]; text != "" || !s.emptyIsUnset() {
				l.accept(s, s.fromEnvironment(text), origin, origin)
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
	switch s.initial.(type) {
	case bool, Switch:
	default:
		return text
	}
	switch strings.ToLower(text) {
	case "yes", "on", "1":
		return "true"
	case "no", "off", "0":
		return "false"
	}
	return text
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
			l.problem(key, origin, "is a secret, and arguments can be seen by others")
			continue
		}
		l.accept(s, f.Value, origin, origin)
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
	l.given[keyFileKey] = given{path, origin, origin}
}
