package display

import "strings"

// An Agent is a User-Agent header, reduced to common names.
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

// ProviderPath, followed by the name of a sign-in provider, is the path that begins a sign-in
// there.
const ProviderPath = "/users/oidc/"

// BackPath is the path to which a provider redirects browsers after the sign-in.
func BackPath(name string) string { return ProviderPath + name + "/callback" }
