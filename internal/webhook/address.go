package webhook

import (
	"net/netip"
	"slices"
)

// Prefixes of IPv6 that stand for an IPv4 address, and where in them it is.
var (
	nat64  = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052
	sixTo4 = netip.MustParsePrefix("2002::/16")    // RFC 3056
	global = netip.MustParsePrefix("2000::/3")     // all of IPv6 that is given out to be routed
)

// special are the networks that are not for everybody: those of IANA's registries of
// special-purpose addresses that are not globally reachable, and multicast.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20",
)

// near are the networks of an office or a machine: where a host that the operator has
// named may be, although it is not public.
var near = prefixes("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")

// metadata are addresses at which clouds tell a machine its credentials, beside those
// that are link-local.
var metadata = prefixes("100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::/32", "fd20:ce::254/128")

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// plain is the address that is reached by way of another: IPv4 behind its form as IPv6,
// behind a NAT64, or by 6to4.
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

// public reports whether a plain address is one that everybody on the internet can
// reach.
func public(a netip.Addr) bool {
	if a.Is6() && !global.Contains(a) {
		return false
	}
	return a.IsValid() && !within(special, a) && !within(metadata, a)
}

// nearby reports whether a plain address is on a private network or this machine, and
// nothing that a machine trusts blindly.
func nearby(a netip.Addr) bool { return within(near, a) && !within(metadata, a) }

func within(networks []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(a) })
}
