package config

import (
	"slices"
	"strings"
)

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
