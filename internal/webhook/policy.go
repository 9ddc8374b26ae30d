package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// A Policy says where messages may be sent. The zero value allows nothing.
type Policy struct {
	Public   bool           // any host with a public address, over https
	Hosts    []string       // names in lower case, or *. and a name for all below it: over http, too, and with addresses of private networks
	Networks []netip.Prefix // addresses, whatever they are; over http where the URL has the address itself
}

// A DeniedError says that messages may not be sent somewhere. It does not quote the
// URL, which may have a secret in it.
type DeniedError struct{ Reason string }

func (e *DeniedError) Error() string { return e.Reason }

func denied(format string, args ...any) error { return &DeniedError{fmt.Sprintf(format, args...)} }

var errURL = errors.New("it is not a URL such as https://hooks.example.com/pushbox")

// Check reads the address of a webhook and refuses one that the policy cannot allow,
// whatever its name resolves to: with a *DeniedError, or an error that says what an
// address has to be. What it resolves to is checked again for each connection.
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

// checkHost refuses what is refused before a name is resolved.
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

// names reports whether the policy names that host.
func (p Policy) names(host string) bool {
	for _, pattern := range p.Hosts {
		if below, wild := strings.CutPrefix(pattern, "*"); host == pattern || wild && strings.HasSuffix(host, below) && host != below[1:] {
			return true
		}
	}
	return false
}

// network reports whether a network of the policy has that address.
func (p Policy) network(addr netip.Addr) bool {
	for _, n := range p.Networks {
		if n.Contains(addr) {
			return true
		}
	}
	return false
}

// permits reports whether a connection for a host may be made to an address.
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

// hostOf is the host of a URL as the policy looks at it: in lower case, without the
// dot of a name that is complete.
func hostOf(u *url.URL) string { return cleanHost(u.Hostname()) }

func cleanHost(host string) string { return strings.TrimSuffix(strings.ToLower(host), ".") }

// isHost reports whether a text is an address without a zone, or a name in ASCII that
// is not a number in disguise: some resolvers take 2130706433 and 0x7f.1 for
// 127.0.0.1.
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
