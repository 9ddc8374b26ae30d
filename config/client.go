package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"

	"pushbox/internal/environ"
)

// A Client has the settings of the commands that are clients of a server. A setting
// that is not given is empty.
type Client struct {
	URL       string `mapstructure:"url" form:"url"`         // of the server, without a slash at the end
	TokenFile string `mapstructure:"token_file" form:"path"` // has an API token
	CAFile    string `mapstructure:"ca_file" form:"path"`    // certificates, as PEM, of further authorities to trust

	TokenURL string // the server in force where TokenFile was named, if any; the token is sent to no other
}

func clientSettings() []setting { return walk(nil, reflect.ValueOf(Client{}), "", nil, false) }

// A ClientSource is where a Client is read from. Flags win over the
// environment, the environment over the file.
type ClientSource struct {
	Environ []string        // as os.Environ returns it
	Flags   map[string]Flag // by key, those that were given
}

// ClientFile is the file that LoadClient reads: pushbox/client.yaml in the
// user's configuration directory, which is %AppData% on Windows, otherwise
// $XDG_CONFIG_HOME or ~/.config. It is empty if the environment names none.
func ClientFile(vars []string) string { return clientFile(environ.Map(vars)) }

func clientFile(env map[string]string) string {
	dir := env["XDG_CONFIG_HOME"]
	switch {
	case runtime.GOOS == "windows":
		dir = env["AppData"]
	case !filepath.IsAbs(dir) && env["HOME"] != "": // XDG says to ignore a relative one
		dir = filepath.Join(env["HOME"], ".config")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "pushbox", "client.yaml")
}

// LoadClient reads the settings of the commands that are clients. The file may be
// missing. It returns all problems together, as a *ProblemsError.
func LoadClient(src ClientSource) (Client, error) {
	l := newLoader(clientSettings(), src.Environ)
	var c Client
	for _, read := range []func(){l.readClientFile, l.readClientEnvironment, func() { l.readFlags(src.Flags) }} {
		l.given = make(map[string]given) // of this layer alone
		read()
		c.overlay(l)
	}
	if len(l.problems) > 0 {
		return Client{}, l.failure()
	}
	return c, nil
}

func (c *Client) overlay(l *loader) {
	if g, ok := l.given["url"]; ok && g.value == "" { // base_url may be empty, and has the same form
		l.problem("url", g.place, "is empty")
	}
	for _, s := range l.settings {
		if g, ok := l.given[s.Key]; ok {
			reflect.ValueOf(c).Elem().FieldByIndex(s.index).Set(reflect.ValueOf(g.value))
		}
	}
	if _, ok := l.given["token_file"]; ok {
		c.TokenURL = c.URL
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
		l.given[key] = given{path, g.origin, g.place, g.line}
	}
}

func (l *loader) readClientEnvironment() {
	for _, s := range l.settings {
		if value, ok := l.environ[s.Env]; ok {
			origin := "environment " + s.Env
			l.accept(s, value, origin, origin, 0)
		}
	}
}
