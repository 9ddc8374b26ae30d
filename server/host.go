package server

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"pushbox/config"
)

// hosts are the hosts that requests may be for. Without any, all are.
type hosts struct {
	names []string // in lower case; addresses as netip writes them
	below []string // such as .example.com, for every name that ends so
}

// newHosts are the hosts that the configuration allows, and that of base_url.
func newHosts(cfg config.Config) hosts {
	var h hosts
	for _, name := range cfg.AllowedHosts {
		if tail, ok := strings.CutPrefix(name, "*"); ok {
			h.below = append(h.below, tail)
		} else {
			h.names = append(h.names, name)
		}
	}
	if u, err := url.Parse(cfg.BaseURL); err == nil && u.Host != "" && len(cfg.AllowedHosts) > 0 {
		h.names = append(h.names, hostName(u.Host))
	}
	return h
}

// has reports whether a host, with its port or without, is one of them.
func (h hosts) has(host string) bool {
	name := hostName(host)
	return slices.Contains(h.names, name) ||
		slices.ContainsFunc(h.below, func(tail string) bool { return len(name) > len(tail) && strings.HasSuffix(name, tail) })
}

// hostName is a host without its port, in the form in which hosts are compared.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.String()
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}

// answersTo reports whether the request is for one of the hosts that there are: by
// its own header and by what a trusted proxy tells, since a script in a browser on
// the proxy's machine could add that. Programs on this machine may ask for the
// machine itself.
func (s *Server) answersTo(r *request) bool {
	if len(s.hosts.names)+len(s.hosts.below) == 0 || r.route != nil && r.route.probe {
		return true
	}
	if r.client.Direct && isLoopback(hostName(r.Host)) {
		return true
	}
	told, ok := s.proxies.Host(r.Request)
	return ok && s.hosts.has(r.Host) && s.hosts.has(told)
}

func isLoopback(name string) bool {
	addr, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && addr.IsLoopback()
}
