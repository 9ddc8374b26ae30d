package limit

import "net/netip"

// A client is named by its IPv4 address, or by the /64 of its IPv6 address (see
// clientip.Client.Key). Many have more than that: a home line has a /56 or a /48, and a
// rented server may have a /24 of IPv4. So what a client does counts for each network
// around its address, too, and such a network may do a multiple of what one client may.
//
// A Step is one of these networks, or the client itself.
type Step struct {
	Key   string
	Times int // how many times as much as one client it may do
}

// network4 and networks6 are the steps beyond the client itself.
var (
	network4  = struct{ bits, times int }{24, 8}
	networks6 = [...]struct{ bits, times int }{{56, 4}, {48, 16}}
)

// Steps returns the client and the networks around it, the widest last. A name that is no
// address has no networks.
func Steps(client string) []Step {
	all := append(make([]Step, 0, 1+len(networks6)), Step{client, 1})
	if addr, err := netip.ParseAddr(client); err == nil && addr.Is4() {
		return append(all, Step{around(addr, network4.bits), network4.times})
	}
	if p, err := netip.ParsePrefix(client); err == nil && p.Addr().Is6() {
		for _, n := range networks6 {
			all = append(all, Step{around(p.Addr(), n.bits), n.times})
		}
	}
	return all
}

func around(a netip.Addr, bits int) string { return netip.PrefixFrom(a, bits).Masked().String() }

// network returns the widest network of a client: a /24 of IPv4, or a /48 of IPv6.
func network(client string) string {
	all := Steps(client)
	return all[len(all)-1].Key
}
