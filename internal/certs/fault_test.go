package certs

import (
	"crypto/x509"
	"net"
	"strings"
	"testing"
)

func TestACertificateThatBrowsersRefuseIsNamed(t *testing.T) {
	t.Parallel()
	named := func(names ...string) *x509.Certificate { return &x509.Certificate{DNSNames: names} }
	address := &x509.Certificate{IPAddresses: []net.IP{net.IPv4(192, 0, 2, 7)}}
	for name, test := range map[string]struct {
		leaves []*x509.Certificate
		base   string
		want   string // empty: none
	}{
		"its host":           {[]*x509.Certificate{named("push.example.com")}, "https://push.example.com/box", ""},
		"a wildcard":         {[]*x509.Certificate{named("*.example.com")}, "https://push.example.com:8443", ""},
		"one of two":         {[]*x509.Certificate{named("a.example.com"), named("push.example.com")}, "https://push.example.com", ""},
		"an address":         {[]*x509.Certificate{address}, "https://192.0.2.7", ""},
		"no base_url":        {[]*x509.Certificate{named("push.example.com")}, "", ""},
		"not fetched yet":    {nil, "https://push.example.com", ""},
		"another host":       {[]*x509.Certificate{named("example.com")}, "https://push.example.com", "it is not for push.example.com"},
		"another address":    {[]*x509.Certificate{address}, "https://192.0.2.8", "it is not for 192.0.2.8"},
		"no name at all":     {[]*x509.Certificate{named()}, "https://push.example.com", "no name"},
		"no name, no base":   {[]*x509.Certificate{named()}, "", "no name"},
		"a common name only": {[]*x509.Certificate{{}}, "https://push.example.com", "subjectAltName"},
	} {
		err := faultOf(test.leaves, hostOf(test.base))
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
