package webhook

import (
	"errors"
	"net/netip"
	"testing"
)

func office() Policy {
	return Policy{
		Public:   true,
		Hosts:    []string{"hooks.lan", "*.internal.example.com"},
		Networks: prefixes("10.1.0.0/16", "127.0.0.1/32", "fd00:1::/64"),
	}
}

func TestOnlyAddressesThatThePolicyPermitsAreTaken(t *testing.T) {
	t.Parallel()
	usual := Policy{Public: true}
	for _, c := range []struct {
		policy Policy
		url    string
		ok     bool
	}{
		{usual, "https://hooks.example.com/a?b=c", true},
		{usual, "https://hooks.example.com:8443", true},
		{usual, "https://HOOKS.example.com./", true},
		{usual, "https://8.8.8.8/", true},
		{usual, "https://[2606:4700::1111]/", true},
		{usual, "https://localhost/", true}, // which its address then refuses
		{usual, "http://hooks.example.com/", false},
		{usual, "http://8.8.8.8/", false},
		{usual, "https://127.0.0.1/", false},
		{usual, "https://10.0.0.1/", false},
		{usual, "https://100.64.0.1/", false},
		{usual, "https://169.254.169.254/latest/meta-data/", false},
		{usual, "https://0.0.0.0/", false},
		{usual, "https://255.255.255.255/", false},
		{usual, "https://[::]/", false},
		{usual, "https://[::1]/", false},
		{usual, "https://[::ffff:127.0.0.1]/", false},
		{usual, "https://[::ffff:a9fe:a9fe]/", false},
		{usual, "https://[::127.0.0.1]/", false},
		{usual, "https://[64:ff9b::7f00:1]/", false},
		{usual, "https://[64:ff9b:1::7f00:1]/", false},
		{usual, "https://[2002:7f00:1::]/", false},
		{usual, "https://[2001::1]/", false},
		{usual, "https://[fe80::1]/", false},
		{usual, "https://[fe80::1%25eth0]/", false},
		{usual, "https://[2606:4700::1111%25eth0]/", false},
		{usual, "https://[fd00::1]/", false},
		{usual, "https://[ff02::1]/", false},
		{usual, "https://2130706433/", false},
		{usual, "https://0x7f000001/", false},
		{usual, "https://0x7f.1/", false},
		{usual, "https://0177.0.0.1/", false},
		{usual, "https://127.1/", false},
		{usual, "https://hooks.example.com@127.0.0.1/", false},
		{usual, "https://me:x@hooks.example.com/", false},
		{usual, "https://hooks.example.com#@127.0.0.1/", false},
		{usual, "https://hooks.example.com\\@127.0.0.1/", false},
		{usual, "https://127.0.0.1%2f.example.com/", false},
		{usual, "https://hooks.example.com:0/", false},
		{usual, "https://hooks.example.com:65536/", false},
		{usual, "https://hooks.example.com:65535/", true},
		{usual, "https://hooks.example.com:/", false},
		{usual, "https:///path", false},
		{usual, "https:hooks.example.com", false},
		{usual, "//hooks.example.com/", false},
		{usual, "ftp://hooks.example.com/", false},
		{usual, "file:///etc/passwd", false},
		{usual, "unix:///run/x.sock", false},
		{usual, "https://ho oks.example.com/", false},
		{usual, "https://hooks..example.com/", false},
		{usual, "https://-hooks.example.com/", false},
		{usual, "https://bücher.example/", false},
		{usual, "https://１２７.0.0.1/", false},
		{usual, "", false},
		{office(), "http://hooks.lan/x", true},
		{office(), "http://hooks.lan./x", true},
		{office(), "http://a.internal.example.com/", true},
		{office(), "http://internal.example.com/", false},
		{office(), "http://xinternal.example.com/", false},
		{office(), "http://hooks.lan.example.com/", false},
		{office(), "http://10.1.2.3/", true},
		{office(), "http://127.0.0.1:9000/", true},
		{office(), "http://[::ffff:10.1.2.3]/", true},
		{office(), "http://[fd00:1::5]/", true},
		{office(), "https://10.2.0.1/", false},
		{office(), "http://127.0.0.2/", false},
		{Policy{}, "https://hooks.example.com/", false},
		{Policy{}, "https://8.8.8.8/", false},
		{Policy{Hosts: []string{"hooks.lan"}}, "https://hooks.example.com/", false},
		{Policy{Hosts: []string{"hooks.lan"}}, "https://hooks.lan/", true},
		{Policy{Networks: prefixes("10.0.0.0/8")}, "https://hooks.example.com/", true}, // if it resolves to one of them
	} {
		if _, err := c.policy.Check(c.url); (err == nil) != c.ok {
			t.Errorf("%q: %v", c.url, err)
		}
	}
}

func TestConnectionsAreMadeToPermittedAddressesAlone(t *testing.T) {
	t.Parallel()
	usual := Policy{Public: true}
	for _, c := range []struct {
		policy Policy
		host   string
		addr   string
		ok     bool
	}{
		{usual, "a.example", "8.8.8.8", true},
		{usual, "a.example", "2606:4700::1111", true},
		{usual, "a.example", "::ffff:8.8.8.8", true},
		{usual, "a.example", "64:ff9b::808:808", true},
		{usual, "a.example", "127.0.0.1", false},
		{usual, "a.example", "127.255.255.254", false},
		{usual, "a.example", "10.255.255.255", false},
		{usual, "a.example", "11.0.0.0", true},
		{usual, "a.example", "100.63.255.255", true},
		{usual, "a.example", "100.64.0.0", false},
		{usual, "a.example", "100.127.255.255", false},
		{usual, "a.example", "100.128.0.0", true},
		{usual, "a.example", "172.15.255.255", true},
		{usual, "a.example", "172.16.0.0", false},
		{usual, "a.example", "172.31.255.255", false},
		{usual, "a.example", "172.32.0.0", true},
		{usual, "a.example", "192.168.0.1", false},
		{usual, "a.example", "169.254.169.254", false},
		{usual, "a.example", "168.63.129.16", false},
		{usual, "a.example", "192.0.0.192", false},
		{usual, "a.example", "0.0.0.0", false},
		{usual, "a.example", "224.0.0.1", false},
		{usual, "a.example", "255.255.255.255", false},
		{usual, "a.example", "::", false},
		{usual, "a.example", "::1", false},
		{usual, "a.example", "::ffff:10.0.0.1", false},
		{usual, "a.example", "64:ff9b::a00:1", false},
		{usual, "a.example", "2002:a00:1::", false},
		{usual, "a.example", "2001:db8::1", false},
		{usual, "a.example", "fc00::1", false},
		{usual, "a.example", "fd00:ec2::254", false},
		{office(), "hooks.lan", "fd00:ec2::23", false},
		{usual, "a.example", "fe80::1", false},
		{usual, "a.example", "4000::1", false},
		{usual, "a.example", "ff0e::1", false},
		{office(), "hooks.lan", "192.168.7.7", true},
		{office(), "hooks.lan", "127.0.0.1", true},
		{office(), "hooks.lan", "8.8.8.8", true},
		{office(), "hooks.lan", "fd12::1", true},
		{office(), "hooks.lan", "169.254.169.254", false},
		{office(), "hooks.lan", "100.100.100.200", false},
		{office(), "hooks.lan", "fd00:ec2::254", false},
		{office(), "hooks.lan", "0.0.0.0", false},
		{office(), "hooks.lan", "fe80::1", false},
		{office(), "hooks.lan", "224.0.0.1", false},
		{office(), "b.example", "192.168.7.7", false},
		{office(), "b.example", "10.1.2.3", true},
		{office(), "b.example", "10.2.2.3", false},
		{office(), "b.example", "::ffff:10.1.2.3", true},
		{Policy{Networks: prefixes("169.254.0.0/16")}, "c.example", "169.254.169.254", true},
		{Policy{Networks: prefixes("10.0.0.0/8")}, "c.example", "8.8.8.8", false},
		{Policy{}, "c.example", "8.8.8.8", false},
	} {
		addr := netip.MustParseAddr(c.addr)
		network := "tcp6"
		if addr.Is4() {
			network = "tcp4"
		}
		err := c.policy.admit(network, c.host, netip.AddrPortFrom(addr, 443).String())
		if (err == nil) != c.ok {
			t.Errorf("%s at %s: %v", c.host, c.addr, err)
		}
		if no := (*DeniedError)(nil); err != nil && !errors.As(err, &no) {
			t.Errorf("%s at %s: the error is a %T", c.host, c.addr, err)
		}
	}
	for _, resolved := range []string{"", "8.8.8.8", "/run/x.sock"} {
		if usual.admit("tcp4", "a.example", resolved) == nil {
			t.Errorf("%q is an address", resolved)
		}
	}
	if usual.admit("unix", "a.example", "8.8.8.8:443") == nil {
		t.Error("a socket of Unix is an address")
	}
}
