package clientip

import (
	"net/http"
	"net/netip"
	"strings"
)

// maxHost is how long a host with its port may be.
const maxHost = 255

// Scheme is the scheme that the client used: http or https. A trusted proxy
// tells it by X-Forwarded-Proto, of which the last value counts, since that is
// what the nearest proxy added; else it is what the connection is.
func (p Proxies) Scheme(r *http.Request) string {
	switch proto := strings.ToLower(p.lastForwarded(r, "X-Forwarded-Proto")); {
	case proto == "http", proto == "https":
		return proto
	case r.TLS != nil:
		return "https"
	default:
		return "http"
	}
}

// Host is the host, with its port if it has one, that the client asked for. A
// trusted proxy tells it by X-Forwarded-Host, of which the last value counts;
// else it is the request's own. ok is false, and the host empty, if what was
// told is not a name or address: it must not go into a link.
func (p Proxies) Host(r *http.Request) (host string, ok bool) {
	host = p.lastForwarded(r, "X-Forwarded-Host")
	if host == "" {
		host = r.Host
	}
	if !validHost(host) {
		return "", false
	}
	return host, true
}

// lastForwarded is the last value of a header if the peer is trusted; empty
// if it is not or there is none.
func (p Proxies) lastForwarded(r *http.Request, header string) string {
	lines := r.Header[header]
	if len(lines) == 0 || !p.peer(r.RemoteAddr).trusted {
		return ""
	}
	_, last, _ := cutLast(lines[len(lines)-1])
	return strings.Trim(last, " \t")
}

// validHost reports whether s is host or host:port, where host is a name or an
// IP address, IPv6 in brackets.
func validHost(s string) bool {
	if len(s) > maxHost {
		return false
	}
	name, port := s, "0"
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') {
		name, port = s[:i], s[i+1:]
	}
	return validPort(port) && (validName(name) || validLiteral(name))
}

func validPort(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return 1 <= len(s) && len(s) <= 5
}

// validName reports whether s is made of what names of hosts and IPv4
// addresses are made of.
func validName(s string) bool {
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '.' && c != '-' && c != '_' {
			return false
		}
	}
	return s != ""
}

// validLiteral reports whether s is an IPv6 address in brackets.
func validLiteral(s string) bool {
	inner, opened := strings.CutPrefix(s, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	addr, err := netip.ParseAddr(inner)
	return opened && closed && err == nil && addr.Is6() && addr.Zone() == ""
}
