package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"pushbox/internal/testkit/env"
)

const hour, day = time.Hour, 24 * time.Hour

func TestWhenACertificateIsRenewed(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name           string
		life           time.Duration
		obtained, wish time.Duration // after the start; negative: none
		want           time.Duration
	}{
		{"a third before the end", 90 * day, -1, -1, 60 * day},
		{"a month before the end", 365 * day, -1, -1, 335 * day},
		{"a short one", 6 * hour, 0, -1, 4 * hour},
		{"one that was old when it came", 90 * day, 80 * day, -1, 85 * day},
		{"as the authority wishes", 90 * day, 0, 50 * day, 50 * day},
		{"later than the authority may wish", 90 * day, 0, 80 * day, 60 * day},
		{"not as soon as it has come", 90 * day, 2 * hour, 0, 3 * hour},
		{"nor after a restart", 90 * day, -1, 0, hour},
		{"at once where it has long been there", 90 * day, -1, 10 * day, 10 * day},
		{"a short one that is wished away", 90 * time.Minute, 0, 0, hour},
	} {
		d, leaf := &domain{}, &x509.Certificate{NotBefore: start, NotAfter: start.Add(test.life)}
		if test.obtained >= 0 {
			d.obtained = start.Add(test.obtained)
		}
		if test.wish >= 0 {
			d.advice.SelectedTime = start.Add(test.wish)
		}
		env.Equal(t, test.name+": after", d.advised(leaf).Sub(start), test.want)
	}
}

func TestRetriesAreFewAndDoNotEnd(t *testing.T) {
	t.Parallel()
	d, now := &domain{name: "a.example"}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, want := range []time.Duration{2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, hour, hour} {
		d.failed(now, errors.New("down"))
		if got := d.next.Sub(now); got != want {
			t.Errorf("after failure %d it waits %v, want %v", i+1, got, want)
		}
	}
	d.served(&tls.Certificate{Leaf: &x509.Certificate{}}, now)
	if d.failed(now, errors.New("down")); d.next.Sub(now) != firstRetry {
		t.Errorf("after a success it waits %v", d.next.Sub(now))
	}
}

// A pushbox that replaces what the authority does not know would never get one.
func TestWhatFailedIsOrderedAsNew(t *testing.T) {
	t.Parallel()
	leaf := &x509.Certificate{}
	d := &domain{cert: &tls.Certificate{Leaf: leaf}}
	if d.replaces() != nil {
		t.Error("an authority without advice is told what is replaced")
	}
	d.advice.UniqueIdentifier = "id"
	if d.replaces() != leaf {
		t.Error("an authority with advice is not told what is replaced")
	}
	d.failures = 1
	if d.replaces() != nil {
		t.Error("after a failure it is told again")
	}
}

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
