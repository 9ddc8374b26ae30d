package settings

import (
	"io"
	"strings"
)

const head = `# Settings of pushbox, made from variables of Password Pusher. Above each setting is
# the variable that it comes from. All other settings have pushbox's defaults;
# config.example.yaml explains all of them. With a package, keep the line data_dir of
# its /etc/pushbox/config.yaml.
`

// WriteTo writes a settings file: what to decide, the settings, and the variables that
// have no counterpart.
func (c Conversion) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	b.WriteString(head)
	c.remarks(&b, true, "To decide:")
	open := ""
	for _, s := range c.Settings {
		open = sections(&b, open, s.Key)
		depth := strings.Count(s.Key, ".")
		indent := strings.Repeat("  ", depth)
		b.WriteString(indent + "# " + s.From + "\n")
		if s.Note != "" {
			b.WriteString(indent + "# " + s.Note + "\n")
		}
		b.WriteString(indent + s.Key[strings.LastIndexByte(s.Key, '.')+1:] + ": " + s.Value + "\n")
	}
	c.remarks(&b, false, "Variables that have no counterpart:")
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

func sections(b *strings.Builder, open, key string) string {
	section := key[:max(0, strings.LastIndexByte(key, '.'))]
	if section == "" || section != open {
		b.WriteByte('\n')
	}
	if section == open || section == "" {
		return section
	}
	outer := ""
	for i, name := range strings.Split(section, ".") {
		outer = strings.TrimPrefix(outer+"."+name, ".")
		if open != outer && !strings.HasPrefix(open, outer+".") {
			b.WriteString(strings.Repeat("  ", i) + name + ":\n")
		}
	}
	return section
}

func (c Conversion) remarks(b *strings.Builder, decide bool, title string) {
	first := true
	for _, r := range c.Remarks {
		if r.Decide != decide {
			continue
		}
		if first {
			b.WriteString("\n# " + title + "\n")
			first = false
		}
		b.WriteString("#   " + r.From + ": " + r.Text + ".\n")
	}
}
