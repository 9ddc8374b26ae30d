package server

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"pushbox/config"
	"pushbox/internal/clientip"
	"pushbox/server/action"
)

// hosts are the hosts that the server accepts. If there are none, it accepts every host.
type hosts struct {
	names []string // in lower case; addresses as netip writes them
	below []string // such as .example.com, for every name with that suffix
	local bool     // also names and addresses of this machine, through proxies too
}

// newHosts returns the hosts that the configuration allows, and that of base_url. Without
// allowed_hosts, it adds the hosts of this machine to that of base_url, since other sites cannot
// make a browser use one of these.
func newHosts(cfg config.Config) hosts {
	var h hosts
	for _, name := range cfg.AllowedHosts {
		if tail, ok := strings.CutPrefix(name, "*"); ok {
			h.below = append(h.below, tail)
		} else {
			h.names = append(h.names, name)
		}
	}
	if u, err := url.Parse(cfg.BaseURL); err == nil && u.Host != "" {
		h.names = append(h.names, hostName(u.Host))
		h.local = len(cfg.AllowedHosts) == 0
	}
	return h
}

// any reports whether the server accepts every host.
func (h hosts) any() bool { return len(h.names)+len(h.below) == 0 }

// has reports whether a host, with or without its port, is one of them.
func (h hosts) has(host string) bool {
	name := hostName(host)
	return slices.Contains(h.names, name) ||
		slices.ContainsFunc(h.below, func(tail string) bool { return len(name) > len(tail) && strings.HasSuffix(name, tail) })
}

// hostName returns a host without its port, in a form that can be compared.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.String()
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// answersTo reports whether the request is for one of the server's hosts. Its Host header and the
// host that a trusted proxy passes on must both be one, since a script in a browser on the proxy's
// machine could forge the latter. Programs on this machine may also use a loopback name.
func (s *Server) answersTo(r *action.Request) bool {
	if s.hosts.any() || r.Route != nil && r.Route.Has(action.IsHealthCheck) {
		return true
	}
	if r.Client.Direct && clientip.IsLoopback(hostName(r.Host)) {
		return true
	}
	told, ok := s.proxies.Host(r.Request)
	return ok && s.hosts.include(r.Host, r.Request) && s.hosts.include(told, r.Request)
}

// include reports whether a host is one of them, or means this machine if that is allowed. The
// address that the client connected to means this machine.
func (h hosts) include(host string, r *http.Request) bool {
	if found := h.has(host); found || !h.local {
		return found
	}
	name := hostName(host)
	at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return clientip.IsLoopback(name) || ok && at.AddrPort().Addr().Unmap().WithZone("").String() == name
}

// isAddress reports whether a host, with or without its port, is an address or localhost. Other
// sites cannot have such a host.
func isAddress(host string) bool {
	name := hostName(host)
	_, err := netip.ParseAddr(name)
	return err == nil || name == "localhost"
}

// base returns the beginning of links: base_url if it is set, else the address that
// the client used.
func (s *Server) base(r *action.Request) (string, error) {
	if s.cfg.BaseURL != "" {
		return s.cfg.BaseURL, nil
	}
	return r.RequestBase()
}
