// Package clientip finds the address of a client, with or without proxies.
//
// Any client can send any header. So a forwarding header counts only if the connection
// comes from a trusted proxy, and of X-Forwarded-For only what trusted proxies added:
// each proxy adds the address that it saw at the right end.
package clientip

import (
	"net/http"
	"net/netip"
	"strings"
)

// The part of X-Forwarded-For that is read, from its right end.
const (
	maxEntries = 32
	maxBytes   = 4 << 10
)

// Proxies are the peers whose forwarding headers are believed. The zero value trusts no
// peer. New makes other values.
type Proxies struct {
	trusted []netip.Prefix
}

// New returns Proxies that trusts the peers within the prefixes. An IPv4-mapped
// IPv6 prefix means the IPv4 prefix.
func New(prefixes []netip.Prefix) Proxies {
	var p Proxies
	for _, prefix := range prefixes {
		p.trusted = append(p.trusted, unmapped(prefix).Masked())
	}
	return p
}

// A Client is who sent a request, as far as it can be known.
type Client struct {
	Addr netip.Addr // without zone, and IPv4 as such; the zero Addr if there is none

	// Direct is true if the peer is on this machine and is no proxy that shows itself:
	// it is on loopback, and there is no forwarding header, not even an empty one.
	Direct bool

	// Unbelieved is true if the peer is no trusted proxy and sent a forwarding header all
	// the same: a client that makes one up, or a proxy that trusted_proxies lacks.
	Unbelieved bool
}

// IP is the text of the address; empty if there is none.
func (c Client) IP() string {
	if !c.Addr.IsValid() {
		return ""
	}
	return c.Addr.String()
}

// Short is IP with all bits after the first ipv4 or ipv6 set to zero; empty if that is all of
// them.
func (c Client) Short(ipv4, ipv6 int) string {
	bits := ipv4
	if c.Addr.Is6() {
		bits = ipv6
	}
	if bits >= c.Addr.BitLen() {
		return c.IP()
	}
	if bits <= 0 {
		return ""
	}
	return netip.PrefixFrom(c.Addr, bits).Masked().Addr().String()
}

// Key identifies the client for limits: an IPv4 address, or the /64 of an IPv6 address,
// since one client commonly has all of that. It is empty if there is no address.
func (c Client) Key() string {
	if c.Addr.Is6() {
		return netip.PrefixFrom(c.Addr, 64).Masked().String()
	}
	return c.IP()
}

// Client returns who sent a request that came from remoteAddr (as in http.Request) with
// the header h.
//
// If the peer is a trusted proxy, the client is the right-most address of
// X-Forwarded-For that is not a trusted proxy, or the left-most address if all are.
// Text that is not an address ends the walk: the client is then the last proxy before
// it.
func (p Proxies) Client(remoteAddr string, h http.Header) Client {
	peer := p.peer(remoteAddr)
	shown := showsProxy(h)
	c := Client{Addr: peer.addr, Direct: peer.addr.IsLoopback() && !shown, Unbelieved: shown && !peer.trusted}
	if !peer.trusted {
		return c
	}
	list := tail(strings.Join(h["X-Forwarded-For"], ","))
	for n, more := 0, list != ""; more && n < maxEntries; n++ {
		var entry string
		list, entry, more = cutLast(list)
		addr, ok := parseEntry(entry)
		if !ok {
			break
		}
		c.Addr = addr
		if !p.trusts(addr) {
			break
		}
	}
	return c
}

// TrustsPeer reports whether remoteAddr, as in http.Request, is that of a trusted proxy.
func (p Proxies) TrustsPeer(remoteAddr string) bool { return p.peer(remoteAddr).trusted }

// Trusts reports whether the address is that of a trusted proxy.
func (p Proxies) Trusts(addr netip.Addr) bool { return p.trusts(addr.Unmap()) }

// forwarding are the headers that show a proxy, in canonical form.
var forwarding = [...]string{
	"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via", "X-Forwarded-Host", "X-Forwarded-Proto",
}

// showsProxy reports whether a header is one that a proxy adds.
func showsProxy(h http.Header) bool {
	for _, name := range forwarding {
		if _, ok := h[name]; ok {
			return true
		}
	}
	return false
}

// IsLoopback reports whether the name of a host, or its address, means this
// machine.
func IsLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}
