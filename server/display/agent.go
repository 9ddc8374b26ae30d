package display

import "strings"

// An Agent is a User-Agent header, reduced to names that people know.
type Agent struct{ Browser, System string } // empty: not known

// Marks of browsers and of systems in the header (RFC 9110 section 10.1.5). A browser
// also names those that it imitates, so the first mark counts.
var (
	browsers = [...]struct{ mark, name string }{
		{"Edg/", "Edge"},
		{"EdgA/", "Edge"},
		{"EdgiOS/", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Vivaldi/", "Vivaldi"},
		{"FxiOS/", "Firefox"},
		{"Firefox/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"},
		{"Version/", "Safari"},
		{"curl/", "curl"},
	}
	systems = [...]struct{ mark, name string }{
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"Android", "Android"},
		{"CrOS", "ChromeOS"},
		{"Windows", "Windows"},
		{"Mac OS X", "macOS"},
		{"Linux", "Linux"},
	}
)

// ParseAgent finds the browser and the system that a User-Agent header names.
func ParseAgent(header string) (a Agent) {
	for _, b := range browsers {
		if strings.Contains(header, b.mark) {
			a.Browser = b.name
			break
		}
	}
	for _, s := range systems {
		if strings.Contains(header, s.mark) {
			a.System = s.name
			break
		}
	}
	return a
}

// ProviderPath, with the name of a sign-in provider behind it, is the path that begins one
// there.
const ProviderPath = "/users/oidc/"

// BackPath is the path to which the provider of that name sends browsers back.
func BackPath(name string) string { return ProviderPath + name + "/callback" }
