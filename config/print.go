package config

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

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

// Short shortens a settings file with every setting to its head and the settings in often. A setting comes with the comment
// above it and the headings of its sections.
func Short(all string) string {
	head, rest, _ := strings.Cut(all, "\n\n")
	var b strings.Builder
	b.WriteString(strings.Replace(head, "# All settings of pushbox with their defaults.", "# Settings of pushbox that most installations change, with their defaults.", 1) + "\n")
	var comment, waiting string // comment above the next setting; sections that are not written yet
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
