package clientip

import (
	"net/http"
	"net/netip"
	"strings"
)

// maxHost is how long a host with its port may be.
const maxHost = 255

// Scheme is the scheme that the client used: http or https. A trusted proxy sends it in
// X-Forwarded-Proto; the last value counts, since the nearest proxy added that. Without
// the header it is the scheme of the connection.
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

// Host is the host that the client asked for, with its port if it has one. A trusted
// proxy sends it in X-Forwarded-Host; the last value counts. Without the header it is
// the request's own. If it is not a name or an address, it must not go into a link: ok
// is false, and the host empty.
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
	return 1 <= len(s) && len(s) <= 5 && strings.Trim(s, "0123456789") == ""
}

// validName reports whether s has only characters of host names and IPv4 addresses.
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

// A Report describes how a request arrived and how it was understood, to help set up a
// proxy.
type Report struct {
	Peer     string              // the address that the connection came from
	Trusted  bool                // whether that is a trusted proxy
	TLS      bool                // whether the connection is encrypted
	Received map[string][]string // the headers that proxies add, and Host

	Scheme, Host, Client string // as understood; Host is empty if it could not go into a link
}

// Report describes a request.
func (p Proxies) Report(r *http.Request) Report {
	peer := p.peer(r.RemoteAddr)
	rep := Report{
		Peer: Client{Addr: peer.addr}.IP(), Trusted: peer.trusted, TLS: r.TLS != nil,
		Received: map[string][]string{"Host": {r.Host}},
		Scheme:   p.Scheme(r), Client: p.Client(r.RemoteAddr, r.Header).IP(),
	}
	rep.Host, _ = p.Host(r)
	for _, name := range forwarding {
		if lines, ok := r.Header[name]; ok {
			rep.Received[name] = lines
		}
	}
	return rep
}
