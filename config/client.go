package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
)

// A Client is what the commands are told that act as clients of a server. What
// was not told is empty.
type Client struct {
	URL       string // of the server, without a slash at the end
	TokenFile string // has an API token
	TokenURL  string // the server that was known where TokenFile was named, if one was; the token is for no other
	CAFile    string // has certificates, as PEM, of those who may vouch for a server beside those whom the system trusts
}

// clientKeys are the settings of a Client, declared as those of Config are.
type clientKeys struct {
	URL       string `mapstructure:"url" form:"url"`
	TokenFile string `mapstructure:"token_file" form:"path"`
	CAFile    string `mapstructure:"ca_file" form:"path"`
}

func clientSettings() []setting { return walk(nil, reflect.ValueOf(clientKeys{}), "", nil, false) }

// A ClientSource is where a Client is read from. Flags win over the
// environment, the environment over the file.
type ClientSource struct {
	Environ []string        // as os.Environ returns it
	Flags   map[string]Flag // by key, those that were given
}

// ClientFile is the file that LoadClient reads: pushbox/client.yaml in the
// directory for the configurations of a user, which is %AppData% on Windows, else
// $XDG_CONFIG_HOME or ~/.config. It is empty where the environment names none.
func ClientFile(environ []string) string { return clientFile(variables(environ)) }

func clientFile(env map[string]string) string {
	dir := env["XDG_CONFIG_HOME"]
	switch {
	case runtime.GOOS == "windows":
		dir = env["AppData"]
	case !filepath.IsAbs(dir) && env["HOME"] != "": // a relative one is to be ignored
		dir = filepath.Join(env["HOME"], ".config")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "pushbox", "client.yaml")
}

// LoadClient reads what the commands are told that act as clients. There need
// not be a file. Whatever is wrong is returned together, as a *ProblemsError.
func LoadClient(src ClientSource) (Client, error) {
	l := &loader{
		settings: clientSettings(),
		byKey:    make(map[string]setting),
		environ:  variables(src.Environ),
		wrong:    make(map[string]bool),
	}
	for _, s := range l.settings {
		l.byKey[s.key] = s
	}
	var c Client
	for _, read := range []func(){l.readClientFile, l.readClientEnvironment, func() { l.readFlags(src.Flags) }} {
		l.given = make(map[string]given)
		read()
		c.overlay(l)
	}
	if len(l.problems) > 0 {
		return Client{}, &ProblemsError{l.problems}
	}
	return c, nil
}

// overlay takes what a layer has.
func (c *Client) overlay(l *loader) {
	if g, ok := l.given["url"]; ok && g.value == "" { // base_url may be empty, and has the same form
		l.problem("url", g.place, "is empty")
	}
	text := func(key, otherwise string) string {
		if g, ok := l.given[key]; ok {
			return g.value.(string)
		}
		return otherwise
	}
	c.URL, c.CAFile = text("url", c.URL), text("ca_file", c.CAFile)
	if _, ok := l.given["token_file"]; ok {
		c.TokenFile, c.TokenURL = text("token_file", ""), c.URL
	}
}

// readClientFile takes the settings of the file, if there is one. A path in it
// is relative to its directory, or begins with ~/.
func (l *loader) readClientFile() {
	name := clientFile(l.environ)
	if _, err := os.Stat(name); name == "" || errors.Is(err, fs.ErrNotExist) {
		return
	}
	l.readFile(name)
	for _, key := range []string{"token_file", "ca_file"} {
		g, ok := l.given[key]
		if !ok {
			continue
		}
		path := g.value.(string)
		if rest, ok := strings.CutPrefix(path, "~/"); ok && l.environ["HOME"] != "" {
			path = filepath.Join(l.environ["HOME"], rest)
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(name), path)
		}
		l.given[key] = given{path, g.origin, g.place}
	}
}

// readClientEnvironment takes the variables of a client; all others are for the
// server.
func (l *loader) readClientEnvironment() {
	for _, s := range l.settings {
		if value, ok := l.environ[s.env]; ok {
			origin := "environment " + s.env
			l.accept(s, value, origin, origin)
		}
	}
}

// variables are those of an environment, by their names.
func variables(environ []string) map[string]string {
	all := make(map[string]string, len(environ))
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		all[name] = value
	}
	return all
}
