package clientip

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"unicode"
)

// peer is the other end of a connection.
type peer struct {
	addr    netip.Addr // the zero Addr if it has none
	trusted bool
}

func (p Proxies) peer(remoteAddr string) peer {
	addr, _ := parseAddr(remoteAddr)
	return peer{addr, p.trusts(addr)}
}

// trusts reports whether the address is that of a trusted proxy. The zero Addr
// is not.
func (p Proxies) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(p.trusted, func(prefix netip.Prefix) bool { return prefix.Contains(addr) })
}

// tail returns the part of a list that is read, without an entry that was cut.
func tail(list string) string {
	if len(list) <= maxBytes {
		return list
	}
	_, list, _ = strings.Cut(list[len(list)-maxBytes:], ",")
	return list
}

// cutLast takes the last entry from a list; more says that there are others.
func cutLast(list string) (rest, entry string, more bool) {
	if i := strings.LastIndexByte(list, ','); i >= 0 {
		return list[:i], list[i+1:], true
	}
	return "", list, false
}

// MaxNetworks is how many networks ParseNetworks reads.
const MaxNetworks = 16

// ParseNetworks reads networks, and addresses as networks of one, with commas or white space between
// them. It returns each of them once, without the bits beyond its prefix length; an IPv4-mapped IPv6
// network as the IPv4 network. Its error completes a sentence about the text.
func ParseNetworks(text string) (all []netip.Prefix, err error) {
	for i, part := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' || unicode.IsSpace(c) }) {
		if i == MaxNetworks {
			return nil, fmt.Errorf("has more than %d entries: at most %d are possible", MaxNetworks, MaxNetworks)
		}
		p, err := netip.ParsePrefix(part)
		if addr, isAddr := netip.ParseAddr(part); isAddr == nil {
			p, err = netip.PrefixFrom(addr.WithZone(""), addr.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("has no address or network as entry %d: write such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32", i+1)
		}
		if p = unmapped(p).Masked(); !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all, nil
}

// unmapped returns an IPv4-mapped IPv6 network as the IPv4 network.
func unmapped(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p
}

// parseEntry reads an entry of X-Forwarded-For, which some proxies quote.
func parseEntry(s string) (netip.Addr, bool) {
	s = strings.Trim(s, " \t")
	if len(s) > 2 && s[0] == '"' && s[len(s)-1] == '"' {
		s = s[1 : len(s)-1]
	}
	return parseAddr(s)
}

// parseAddr reads an IP address, with a port or without. IPv6 may be in
// brackets, and must be before a port. The zone is dropped.
func parseAddr(s string) (netip.Addr, bool) {
	if !strings.HasPrefix(s, "[") && strings.Count(s, ":") != 1 {
		addr, err := netip.ParseAddr(s)
		return addr.Unmap().WithZone(""), err == nil
	}
	if strings.HasSuffix(s, "]") {
		s += ":0"
	}
	addr, err := netip.ParseAddrPort(s)
	return addr.Addr().Unmap().WithZone(""), err == nil
}
