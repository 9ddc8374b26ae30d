package display

import (
	"net"
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/idna"

	"pushbox/internal/weburl"
)

// A Destination is the target of a url push, written so that it does not deceive its
// reader.
type Destination struct {
	Host  string // with its port, as people read it
	ASCII string // the host as machines read it, if that differs
	Mixed bool   // the host mixes letters of several scripts in a word
	Bad   bool   // the host is not valid, so there is no link
	URL   string // whole, with invisible characters escaped
	Link  string // the address of the link; empty: none
}

// hostNames reads international names as browsers do (UTS 46). It accepts underscores
// and doubled hyphens, which some names have.
var hostNames = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false))

// NewDestination describes an http or https URL.
func NewDestination(text string) Destination {
	d := Destination{URL: visible(text), Link: text}
	u, err := weburl.Parse(text)
	if err != nil { // the store refuses such a payload
		return Destination{URL: d.URL, Bad: true}
	}
	name := strings.ToLower(u.Hostname())
	d.Host = strings.ToLower(u.Host)
	plain := isASCII(name) && !strings.Contains(name, "xn--")
	if plain && (isLiteral(u.Host) || !strings.ContainsAny(name, forbidden)) {
		return d
	}
	ascii, err := hostNames.ToASCII(name)
	read, readErr := hostNames.ToUnicode(ascii)
	_, linkErr := url.Parse(u.Scheme + "://" + withPort(ascii, u.Port()))
	if err != nil || readErr != nil || linkErr != nil || strings.ContainsAny(read, forbidden) {
		return Destination{Host: visible(d.Host), URL: d.URL, Bad: true}
	}
	if d.Host = withPort(read, u.Port()); read != ascii {
		d.ASCII, d.Mixed = ascii, mixesScripts(read)
	}
	_, rest, _ := strings.Cut(text, "://")
	end := strings.IndexAny(rest+"/", "/?#")
	d.Link = u.Scheme + "://" + withPort(ascii, u.Port()) + rest[end:] // the link leads to the shown address
	return d
}

// forbidden has the characters that a name must not have (URL Standard section 3.5), also as a
// result of UTS 46: a reader would think that a full-width slash ends the name.
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

// visible escapes characters that are invisible, or that change how others look, as
// browsers send them (RFC 3986 section 2.1).
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

// together are sets of scripts that one language uses together (UTS 39 section 5.1).
var together = [...][]string{
	{"Han", "Hiragana", "Katakana", "Latin"},
	{"Han", "Hangul", "Latin"},
	{"Han", "Bopomofo", "Latin"},
}

// mixesScripts reports whether a part of a name mixes scripts that no language uses together, since
// some of their letters look the same.
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
