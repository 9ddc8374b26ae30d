package config

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pushbox/internal/secret"
)

const (
	envPrefix     = "PUSHBOX_"
	envFile       = "PUSHBOX_CONFIG"
	envCredential = "CREDENTIALS_DIRECTORY"
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
	others := []string{envFile} // of this program, and no settings of a server
	for _, s := range clientSettings() {
		others = append(others, s.env)
	}
	known := append(slices.Sorted(maps.Keys(byEnv)), others...)
	for _, name := range slices.Sorted(maps.Keys(l.environ)) {
		s, ok := byEnv[name]
		origin := "environment " + oneLine(name)
		switch {
		case ok:
			l.accept(s, l.environ[name], origin, origin)
		case strings.HasPrefix(name, envPrefix) && !slices.Contains(others, name):
			l.problem("", origin, "is not a setting%s", didYouMean(name, known))
		}
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
			l.problem(key, origin, "is a secret, and arguments can be seen by others")
			continue
		}
		l.accept(s, f.Value, origin, origin)
	}
}

// findCredential takes the master key that systemd hands over, where there is
// one and no other was named.
func (l *loader) findCredential(cfg *Config) {
	dir := l.environ[envCredential]
	if dir == "" || cfg.MasterKeyFile != "" || !cfg.MasterKey.IsZero() {
		return
	}
	const key, origin = "master_key_file", "systemd credential " + keyName
	path := filepath.Join(dir, keyName)
	switch _, err := os.Stat(path); {
	case err == nil:
		cfg.MasterKeyFile = path
		l.given[key] = given{path, origin, origin}
	case !errors.Is(err, fs.ErrNotExist):
		l.problem(key, origin, "cannot be read: %v", reason(err))
	}
}
