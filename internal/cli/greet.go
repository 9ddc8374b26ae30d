package cli

import (
	"fmt"
	"net"
	"net/netip"

	"pushbox/config"
)

// greet tells how to create a push on the server that is about to serve at addr,
// which url leads to.
func (a *app) greet(cfg config.Config, addr net.Addr, url string) {
	auth := ""
	if !cfg.AllowAnonymous || len(cfg.CreateNetworks) > 0 {
		auth = `-H "Authorization: Bearer $TOKEN" `
		a.say("make a token with `pushbox user add EMAIL` and `pushbox token create EMAIL`, and put it into TOKEN")
	}
	a.say("create a push with:")
	socket := ""
	if addr.Network() == "unix" {
		socket = "--unix-socket " + addr.String() + " "
	}
	fmt.Fprintf(a.stderr, "\n    curl %s%s--data-urlencode 'push[payload]=my secret' %s%s/api/v2/pushes\n\n", socket, auth, url, cfg.BasePath)
}

// localURL is a URL by which this machine reaches a listener; of a Unix socket, by
// a client that is told its path.
func localURL(addr net.Addr) string {
	ap, err := netip.ParseAddrPort(addr.String())
	switch {
	case addr.Network() == "unix":
		return "http://localhost"
	case err != nil:
		return "http://" + addr.String()
	case ap.Addr().IsUnspecified() && ap.Addr().Is4():
		ap = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), ap.Port())
	case ap.Addr().IsUnspecified():
		ap = netip.AddrPortFrom(netip.IPv6Loopback(), ap.Port())
	}
	return "http://" + ap.String()
}
