package pages

import (
	"strings"

	"pushbox/internal/secret"
)

// A loginPart is a part of a login: a line of the push's text such as "User name: ann". Programs
// read the same text.
type loginPart struct {
	Name  string
	Value secret.Text
}

// loginLabels begin the lines of a login, in this order. The note is last, since it may have
// several lines.
var loginLabels = [...]struct{ name, label string }{
	{"user", "User name: "},
	{"password", "Password: "},
	{"address", "Address: "},
	{"seed", "One-time code seed: "},
	{"note", "Note: "},
}

// Label begins the line of the part.
func (p loginPart) Label() string {
	for _, l := range loginLabels {
		if l.name == p.Name {
			return l.label
		}
	}
	return ""
}

// loginText returns the text of a login. Empty parts have no line.
func loginText(parts []loginPart) string {
	var lines []string
	for i, p := range parts {
		if !p.Value.IsZero() {
			lines = append(lines, loginLabels[i].label+p.Value.Reveal())
		}
	}
	return strings.Join(lines, "\n")
}

// emptyLogin returns all parts of a login, without their values.
func emptyLogin() []loginPart {
	parts := make([]loginPart, len(loginLabels))
	for i, l := range loginLabels {
		parts[i].Name = l.name
	}
	return parts
}

// parseLogin returns all parts of a login; nil if the text is not exactly the loginText of two or
// more parts, with plain line feeds. encrypted.js has the same rules.
func parseLogin(text string) []loginPart {
	parts := emptyLogin()
	rest, found := text, 0
	for i, l := range loginLabels {
		value, has := strings.CutPrefix(rest, l.label)
		if !has {
			continue
		}
		found++
		if rest = ""; l.name != "note" {
			value, rest, _ = strings.Cut(value, "\n")
		}
		parts[i].Value = secret.New(value)
	}
	if found < 2 || loginText(parts) != text || strings.Contains(text, "\r") {
		return nil
	}
	return parts
}
