package server

import "strings"

// An agent is what a User-Agent header says, shortened to what a person knows.
type agent struct{ Browser, System string } // empty: not known

// Marks of browsers and of systems in the header (RFC 9110 section 10.1.5). Each
// browser also names those that it takes after, so the first mark counts.
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

// readAgent finds the browser and the system that a User-Agent header names.
func readAgent(header string) (a agent) {
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
