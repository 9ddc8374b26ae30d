package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A Policy says where messages may be sent. The zero value allows nothing.
type Policy struct {
	Public   bool           // any host with a public address, over https
	Hosts    []string       // names in lower case, or *. and a name for all below it; also over http, and with addresses of private networks
	Networks []netip.Prefix // any addresses; also over http if the URL has the address itself
}

// A DeniedError says that messages may not be sent somewhere. It does not quote the
// URL, which may have a secret in it.
type DeniedError struct{ Reason string }

func (e *DeniedError) Error() string { return e.Reason }

func denied(format string, args ...any) error { return &DeniedError{fmt.Sprintf(format, args...)} }

var errURL = errors.New("it is not a URL such as https://hooks.example.com/pushbox")

// Check reads the URL of a webhook. It refuses a URL that the policy forbids, whatever its
// host resolves to, with a *DeniedError; another error says what a URL must be. The address
// that the host resolves to is checked for each connection.
func (p Policy) Check(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Opaque != "" || u.Host == "" {
		return nil, errURL // err may quote it
	}
	host := hostOf(u)
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("it must begin with https:// or http://")
	case u.User != nil:
		return nil, errors.New("it must not have a user name or a password: put a secret into its path or its query")
	case u.Fragment != "":
		return nil, errors.New("it must not have a fragment (#)")
	case !isHost(host):
		return nil, errors.New("its host must be a name of letters, digits, dots and hyphens (others as punycode: xn--…), or an address")
	case strings.HasSuffix(u.Host, ":") || u.Port() != "" && !isPort(u.Port()):
		return nil, errors.New("its port must be from 1 to 65535")
	}
	return u, p.checkHost(u.Scheme, host)
}

// checkHost refuses a host that the policy forbids whatever its name resolves to.
func (p Policy) checkHost(scheme, host string) error {
	addr, err := netip.ParseAddr(host)
	isAddress := err == nil
	named := p.names(host)
	if isAddress {
		named = p.network(plain(addr))
	}
	switch {
	case scheme == "http" && !named:
		return denied("it must be https: http is only for hosts that webhooks.allow names")
	case isAddress && !p.permits(host, addr):
		return denied("webhooks.allow does not permit its address")
	case !isAddress && !named && !p.Public && len(p.Networks) == 0:
		return denied("webhooks.allow does not name its host")
	}
	return nil
}

func (p Policy) names(host string) bool {
	for _, pattern := range p.Hosts {
		if below, wild := strings.CutPrefix(pattern, "*"); host == pattern || wild && strings.HasSuffix(host, below) && host != below[1:] {
			return true
		}
	}
	return false
}

func (p Policy) network(addr netip.Addr) bool { return within(p.Networks, addr) }

func (p Policy) permits(host string, addr netip.Addr) bool {
	addr = plain(addr)
	switch {
	case p.network(addr):
		return true
	case p.names(host):
		return nearby(addr) || public(addr)
	default:
		return p.Public && public(addr)
	}
}

func hostOf(u *url.URL) string { return cleanHost(u.Hostname()) }

func cleanHost(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

// isHost reports whether a text is an address without a zone, or a name in ASCII. It
// refuses numbers: some resolvers take 2130706433 and 0x7f.1 for 127.0.0.1.
func isHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Zone() == ""
	}
	if host == "" || len(host) > 253 {
		return false
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if !isLabel(label) {
			return false
		}
	}
	last := labels[len(labels)-1]
	return strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(last, "0x")
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

func isLabel(label string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789_-"
	return label != "" && len(label) <= 63 && strings.Trim(label, letters) == "" && label[0] != '-' && label[len(label)-1] != '-'
}

// Prefixes of IPv6.
var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052
	sixTo4 = netip.MustParsePrefix("2002::/16")    // RFC 3056
	global = netip.MustParsePrefix("2000::/3")     // all routed addresses of IPv6
)

// special are the networks that are not public: those in IANA's registries of
// special-purpose addresses that are not globally reachable, and multicast.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20",
)

// near are private networks and loopback: a host that the administrator named may have an
// address there.
var near = prefixes("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")

// metadata are addresses at which clouds serve credentials to a machine, beside link-local
// ones.
var metadata = prefixes("100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::/32", "fd20:ce::254/128")

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// plain returns the IPv4 address that an address represents: as mapped to IPv6, by NAT64, or
// by 6to4. It returns any other address without its zone.
func plain(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if !a.Is6() {
		return a
	}
	b := a.As16()
	switch {
	case nat64.Contains(a):
		return netip.AddrFrom4([4]byte(b[12:]))
	case sixTo4.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6]))
	default:
		return a
	}
}

func public(a netip.Addr) bool {
	if a.Is6() && !global.Contains(a) {
		return false
	}
	return a.IsValid() && !within(special, a) && !within(metadata, a)
}

// nearby reports whether a plain address is on a private network or loopback, and does not
// serve the metadata of a cloud.
func nearby(a netip.Addr) bool { return within(near, a) && !within(metadata, a) }

func within(networks []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) })
}
