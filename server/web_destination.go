package server

import (
	"net"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// A destination is where a url push leads, told so that nobody is led elsewhere
// than they think.
type destination struct {
	Host  string // and port, as people read it
	ASCII string // the host as machines read it, where that is something else
	Mixed bool   // the host has a word in letters of several scripts
	Bad   bool   // the host is no name that there can be: there is no link
	URL   string // whole, with nothing in it that cannot be seen
	Link  string // what the link has; empty: none
}

// hostNames is how browsers read international names (UTS 46), underscores and
// doubled hyphens included, which some names have.
var hostNames = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false))

func newDestination(text string) destination {
	d := destination{URL: visible(text), Link: text}
	u, err := url.Parse(text)
	if err != nil { // the store takes no such payload
		return destination{URL: d.URL, Bad: true}
	}
	name := strings.ToLower(u.Hostname())
	d.Host = strings.ToLower(u.Host)
	plain := isASCII(name) && !strings.Contains(name, "xn--")
	if plain && (isLiteral(u.Host) || !strings.ContainsAny(name, forbidden)) {
		return d
	}
	ascii, err := hostNames.ToASCII(name)
	read, readErr := hostNames.ToUnicode(ascii)
	if err != nil || readErr != nil || strings.ContainsAny(read, forbidden) {
		return destination{Host: visible(d.Host), URL: d.URL, Bad: true}
	}
	if d.Host = withPort(read, u.Port()); read != ascii {
		d.ASCII, d.Mixed = ascii, mixesScripts(read)
	}
	u.Host = withPort(ascii, u.Port()) // the link leads where the page says
	d.Link = u.String()
	return d
}

// forbidden is what no name may have (URL Standard section 3.5), be it that UTS 46
// makes it of something else: a full-width slash would end the name for its reader.
const forbidden = "\x00\t\n\r #/:<>?@[\\]^|%\x7f"

// isLiteral reports whether a host is an IPv6 address.
func isLiteral(host string) bool { return strings.HasPrefix(host, "[") }

func withPort(host, port string) string {
	if port == "" {
		return host
	}
	return net.JoinHostPort(host, port)
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c >= 0x80 })
}

// visible writes characters that cannot be seen, or that change how others are
// seen, as browsers send them (RFC 3986 section 2.1).
func visible(text string) string {
	var b strings.Builder
	for _, c := range text {
		if unicode.IsGraphic(c) && !unicode.Is(unicode.Zs, c) {
			b.WriteRune(c)
		} else {
			b.WriteString(url.PathEscape(string(c)))
		}
	}
	return b.String()
}

// together are sets of scripts that one language writes side by side (UTS 39
// section 5.1).
var together = [...][]string{
	{"Han", "Hiragana", "Katakana", "Latin"},
	{"Han", "Hangul", "Latin"},
	{"Han", "Bopomofo", "Latin"},
}

// mixesScripts reports whether a part of a name has letters of scripts that do not
// go together: some of them look the same.
func mixesScripts(name string) bool {
	for part := range strings.SplitSeq(name, ".") {
		if scripts := scriptsOf(part); len(scripts) > 1 && !goTogether(scripts) {
			return true
		}
	}
	return false
}

func scriptsOf(part string) map[string]bool {
	scripts := make(map[string]bool)
	for _, c := range part {
		for name, script := range unicode.Scripts {
			if name != "Common" && name != "Inherited" && unicode.Is(script, c) {
				scripts[name] = true
			}
		}
	}
	return scripts
}

func goTogether(scripts map[string]bool) bool {
	for _, set := range together {
		n := 0
		for _, name := range set {
			if scripts[name] {
				n++
			}
		}
		if n == len(scripts) {
			return true
		}
	}
	return false
}
