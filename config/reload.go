package config

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"pushbox/internal/environ"
)

// A Change is the effect of reading the sources of a running configuration again.
type Change struct {
	Config  Config   // to continue with: new values where a reload applies them, else the old ones
	Values  []Value  // of Config; those of Waiting have no origin
	Changed []string // keys with a new value that the reload applies
	Waiting []string // keys with a new value that needs a restart
}

// Reload reads the configuration of a running server again, and returns the changes.
// Change nothing if it returns an error: a *ProblemsError with all problems of the new
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
		l.given[s.Key] = given{place: "as it is until a restart"}
	}
	if l.check(c.Config); len(l.problems) > 0 {
		return Change{}, l.failure()
	}
	c.Values = l.values(c.Config)
	return c, nil
}

// Path returns the file that a configuration is read from, or an empty text.
func (src Source) Path() string { return newLoader(settings(), src.Environ).fileName(src.File) }

// NamesPlace reports whether a settings file is named, or a data directory in the environment.
func (src Source) NamesPlace() bool {
	vars := environ.Map(src.Environ)
	_, file := vars[envFile]
	_, dir := vars[envPrefix+"DATA_DIR"]
	return src.File != "" || file || dir
}

func field(c *Config, s setting) reflect.Value {
	return reflect.ValueOf(c).Elem().FieldByIndex(s.index)
}

// Print writes every setting and, as a comment, its origin, and whether a change of
// it needs a restart. Load can read the output again, unless it has a secret: that is
// written as [redacted], which Load refuses.
func (l *Loaded) Print(w io.Writer) error {
	const widest = 60 // the comment directly follows longer lines
	lines, width := make([]string, len(l.Values)), 0
	for i, v := range l.Values {
		lines[i] = nested(v.Key) + ": " + v.Value
		if n := utf8.RuneCountInString(lines[i]); n <= widest {
			width = max(width, n)
		}
	}
	var b strings.Builder
	open := ""
	for i, v := range l.Values {
		if section := sectionOf(v.Key); section != open {
			if open = section; section != "" {
				b.WriteString(nested(section) + ":\n")
			}
		}
		note := v.Origin
		if !v.Reload {
			note += "; needs a restart"
		}
		fmt.Fprintf(&b, "%-*s  # %s\n", width, lines[i], note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// nested returns the last word of a key or section, indented by its depth.
func nested(key string) string {
	return strings.Repeat("  ", strings.Count(key, ".")) + key[strings.LastIndexByte(key, '.')+1:]
}

// often are the settings that most installations change.
var often = []string{
	"listen", "data_dir", "master_key_file", "base_url", "tls.cert_file", "tls.key_file", "tls.acme.domains", "trusted_proxies",
	"create_networks", "allow_anonymous", "enable_requests", "enable_signups", "require_mfa", "purge_after", "max_store_size",
	"backup.schedule", "backup.dir", "brand.title", "metrics.listen", "mail.host", "mail.user", "mail.password_file", "mail.from",
	"pw.expire_after_days_default", "pw.expire_after_views_default",
}

// Short returns of a settings file with every setting, each below its comment, the head and the
// settings that most installations change, with their sections.
func Short(all string) string {
	head, rest, _ := strings.Cut(all, "\n\n")
	var b strings.Builder
	b.WriteString(strings.Replace(head, "# All settings of pushbox with their defaults.", "# Settings of pushbox that most installations change, with their defaults.", 1) + "\n")
	var comment, waiting string // above the next setting; sections that were not written yet
	var path []string           // of the section
	for line := range strings.Lines(rest) {
		text := strings.TrimSpace(line)
		if text == "" || strings.HasPrefix(text, "#") {
			comment += line
			continue
		}
		depth := (len(line) - len(strings.TrimLeft(line, " "))) / 2
		name, value, _ := strings.Cut(text, ":")
		if depth < len(path) {
			path, waiting = path[:depth], ""
		}
		switch key := strings.Join(append(slices.Clone(path), name), "."); {
		case value == "":
			path, waiting = append(path, name), waiting+comment+line
		case slices.Contains(often, key):
			b.WriteString("\n" + strings.TrimLeft(waiting+comment, "\n") + line)
			waiting = ""
		}
		comment = ""
	}
	return b.String()
}
