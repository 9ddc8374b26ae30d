package clientip_test

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"pushbox/internal/clientip"
	"pushbox/internal/testkit/env"
)

// proxies trusts loopback and a private network of either family.
func proxies(prefixes ...string) clientip.Proxies {
	if prefixes == nil {
		prefixes = []string{"127.0.0.0/8", "::1/128", "10.0.0.0/8", "fd00::/8"}
	}
	var list []netip.Prefix
	for _, p := range prefixes {
		list = append(list, netip.MustParsePrefix(p))
	}
	return clientip.New(list)
}

func header(pairs ...string) http.Header {
	h := make(http.Header)
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

// forwardedFor is a header with these lines of X-Forwarded-For.
func forwardedFor(lines ...string) http.Header {
	h := make(http.Header)
	for _, line := range lines {
		h.Add("X-Forwarded-For", line)
	}
	return h
}

func TestTheClientIsTheRightmostAddressThatIsNoTrustedProxy(t *testing.T) {
	t.Parallel()
	const proxy = "127.0.0.1:4000"
	for _, c := range []struct {
		name, peer string
		lines      []string
		want       string
	}{
		{"no header", proxy, nil, "127.0.0.1"},
		{"one hop", proxy, []string{"203.0.113.7"}, "203.0.113.7"},
		{"two hops", proxy, []string{"203.0.113.7, 10.1.1.1"}, "203.0.113.7"},
		{"what the client sent itself", proxy, []string{"198.51.100.1, 203.0.113.7, 10.1.1.1"}, "203.0.113.7"},
		{"a client that claims to be a proxy", proxy, []string{"10.9.9.9, 203.0.113.7"}, "203.0.113.7"},
		{"several lines are one list", proxy, []string{"198.51.100.1", "203.0.113.7,10.2.2.2", "10.1.1.1"}, "203.0.113.7"},
		{"all trusted", proxy, []string{"10.3.3.3, 10.2.2.2", "10.1.1.1"}, "10.3.3.3"},
		{"no space and tabs", proxy, []string{"198.51.100.1,203.0.113.7\t,\t10.1.1.1 "}, "203.0.113.7"},
		{"IPv6", "[::1]:4000", []string{"2001:db8::1, fd00::2"}, "2001:db8::1"},
		{"an untrusted peer", "203.0.113.9:4000", []string{"198.51.100.1"}, "203.0.113.9"},
		{"an untrusted peer that names proxies", "203.0.113.9:4000", []string{"127.0.0.1"}, "203.0.113.9"},
		{"a mapped peer is an IPv4 peer", "[::ffff:127.0.0.1]:4000", []string{"::ffff:203.0.113.7"}, "203.0.113.7"},
		{"a peer with a zone", "[fe80::1%eth0]:4000", []string{"198.51.100.1"}, "fe80::1"},
		{"garbage at the right end", proxy, []string{"203.0.113.7, unknown"}, "127.0.0.1"},
		{"garbage after a proxy", proxy, []string{"203.0.113.7, _hidden, 10.1.1.1"}, "10.1.1.1"},
		{"garbage beyond the client", proxy, []string{"<script>, 203.0.113.7, 10.1.1.1"}, "203.0.113.7"},
		{"an empty line", proxy, []string{""}, "127.0.0.1"},
		{"an empty entry is garbage", proxy, []string{"198.51.100.1, ", "10.1.1.1"}, "10.1.1.1"},
		{"a comma alone", proxy, []string{","}, "127.0.0.1"},
		{"a peer that is no address", "somewhere", []string{"198.51.100.1"}, ""},
		{"a Unix socket", "@", []string{"198.51.100.1"}, ""},
		{"a Unix socket without a name", "", []string{"198.51.100.1"}, ""},
		{"a Unix socket with a path", "/run/x", []string{"198.51.100.1"}, ""},
	} {
		got := proxies().Client(c.peer, forwardedFor(c.lines...))
		env.Equal(t, c.name, got.IP(), c.want)
	}
}

func TestTheFormsOfAnAddress(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"203.0.113.7": "203.0.113.7", "203.0.113.7:5678": "203.0.113.7", "  203.0.113.7 ": "203.0.113.7",
		"2001:db8::1": "2001:db8::1", "[2001:db8::1]": "2001:db8::1", "[2001:db8::1]:443": "2001:db8::1",
		`"[2001:db8::1]:443"`: "2001:db8::1", `"203.0.113.7"`: "203.0.113.7", "2001:DB8:0:0:0:0:0:1": "2001:db8::1",
		"fe80::1%eth0": "fe80::1", "[fe80::1%eth0]:443": "fe80::1", "::ffff:203.0.113.7": "203.0.113.7",
		"[::ffff:203.0.113.7]:443": "203.0.113.7", "::ffff:cb00:7107": "203.0.113.7",

		"203.0.113": "", "203.0.113.256": "", "203.0.113.07": "", "203.0.113.7/32": "", "3405803783": "",
		"203.0.113.7:": "", "203.0.113.7:x": "", "203.0.113.7:65536": "", "[203.0.113.7]": "", "[203.0.113.7]:80": "",
		"[2001:db8::1": "", "2001:db8::1]": "", "[[2001:db8::1]]": "", "[]": "", "]": "", "2001:db8::1::": "",
		`"203.0.113.7`: "", `""`: "", `"`: "", `""203.0.113.7""`: "", "for=203.0.113.7": "", "localhost": "", "203.0.113.7 203.0.113.8": "",
		"203.0.113.7\x00": "",
	} {
		if want == "" {
			want = "127.0.0.1" // the proxy itself
		}
		if got := proxies().Client("127.0.0.1:1", forwardedFor(entry)); got.IP() != want {
			t.Errorf("%q: %s, want %s", entry, got.IP(), want)
		}
	}
}

func TestOnlyTheRightEndOfTheListIsRead(t *testing.T) {
	t.Parallel()
	const client, proxy = "203.0.113.7", ", 10.1.1.1"
	pad := strings.Repeat(" ", 4<<10)
	for _, c := range []struct {
		name, list, want string
	}{
		{"32 entries", client + strings.Repeat(proxy, 31), client},
		{"33 entries", client + strings.Repeat(proxy, 32), "10.1.1.1"},
		{"4 KiB", client + pad[:4<<10-len(client+proxy)] + proxy, client},
		{"a byte more than 4 KiB", client + pad[:4<<10-len(client+proxy)+1] + proxy, "10.1.1.1"},
		{"4 KiB and half an entry", "198.51.100.203.0.113.7" + pad[:4<<10-len(client+proxy)] + proxy, "10.1.1.1"},
		{"more than 4 KiB of one entry", client + pad, "127.0.0.1"},
		{"far too much before the client", strings.Repeat("x", 1<<20) + ", " + client + proxy, client},
	} {
		if got := proxies().Client("127.0.0.1:1", forwardedFor(c.list)); got.IP() != c.want {
			t.Errorf("%s: %s, want %s", c.name, got.IP(), c.want)
		}
	}
}

func TestWhoIsTrusted(t *testing.T) {
	t.Parallel()
	const forwarded = "198.51.100.1"
	for _, c := range []struct {
		p       clientip.Proxies
		peer    string
		trusted bool
	}{
		{clientip.Proxies{}, "127.0.0.1:1", false},
		{proxies(), "127.255.255.255:1", true},
		{proxies(), "126.255.255.255:1", false},
		{proxies(), "128.0.0.0:1", false},
		{proxies("10.0.0.7/8"), "10.255.0.1:1", true}, // host bits are dropped
		{proxies("::ffff:10.0.0.0/104"), "10.255.0.1:1", true},
		{proxies("::ffff:10.0.0.0/104"), "11.0.0.1:1", false},
		{proxies("0.0.0.0/0"), "203.0.113.7:1", true},
		{proxies("0.0.0.0/0"), "[2001:db8::1]:1", false},
		{proxies("::/0"), "[2001:db8::1]:1", true},
		{proxies("::/0"), "203.0.113.7:1", false},
		{proxies("0.0.0.0/0", "::/0"), "@", false},
		{proxies("0.0.0.0/0", "::/0"), "no address", false},
		{proxies("fe80::/10"), "[fe80::1%eth0]:1", true},
	} {
		if got := c.p.Client(c.peer, forwardedFor(forwarded)); (got.IP() == forwarded) != c.trusted {
			t.Errorf("%s: the client is %q", c.peer, got.IP())
		}
	}
}

func TestAPeerWithoutAnAddressIsNoClient(t *testing.T) {
	t.Parallel()
	for _, peer := range []string{"", "@", "@name", "/run/client.sock"} {
		if c := proxies().Client(peer, nil); c.Addr.IsValid() || c.IP() != "" || c.Key() != "" || c.Direct {
			t.Errorf("%q: %+v", peer, c)
		}
	}
}

func TestDirectIsLoopbackWithoutAForwardingHeader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		peer string
		h    http.Header
		want bool
	}{
		{"127.0.0.1:1", nil, true},
		{"127.9.9.9:1", nil, true},
		{"[::1]:1", nil, true},
		{"[::ffff:127.0.0.1]:1", nil, true},
		{"127.0.0.1:1", header("User-Agent", "curl", "Host", "x"), true},
		{"10.0.0.1:1", nil, false},
		{"203.0.113.7:1", nil, false},
		{"@", nil, false},
		{"127.0.0.1:1", header("X-Forwarded-For", "127.0.0.1"), false},
		{"127.0.0.1:1", header("X-Forwarded-For", ""), false},
		{"127.0.0.1:1", header("Forwarded", "for=127.0.0.1"), false},
		{"127.0.0.1:1", header("x-real-ip", "127.0.0.1"), false},
		{"127.0.0.1:1", header("Via", "1.1 x"), false},
		{"127.0.0.1:1", header("X-Forwarded-Proto", "https"), false},
		{"127.0.0.1:1", header("X-Forwarded-Host", "x"), false},
	} {
		if got := proxies().Client(c.peer, c.h).Direct; got != c.want {
			t.Errorf("the client %s with %v: direct is %v", c.peer, c.h, got)
		}
	}
}

func TestLimitsCountByIPv4AddressOrIPv6Network(t *testing.T) {
	t.Parallel()
	for addr, want := range map[string]string{
		"203.0.113.7":                "203.0.113.7",
		"::ffff:203.0.113.7":         "203.0.113.7",
		"2001:db8:1:2:3:4:5:6":       "2001:db8:1:2::/64",
		"2001:db8:1:2::":             "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::ffff":    "2001:db8:1:2::/64",
		"2001:db8:1:3::":             "2001:db8:1:3::/64",
		"fe80::1%eth0":               "fe80::/64",
		"::1":                        "::/64",
		"2001:db8:1234:5678::%a/b%c": "2001:db8:1234:5678::/64",
	} {
		env.Equal(t, addr, proxies().Client(net.JoinHostPort(addr, "1"), nil).Key(), want)
	}
	env.Equal(t, "no address", (clientip.Client{}).Key(), "")
}

func TestAnAddressIsCutToItsNetwork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address    string
		ipv4, ipv6 int
		want       string
	}{
		{"203.0.113.77", 32, 0, "203.0.113.77"},
		{"203.0.113.77", 31, 0, "203.0.113.76"},
		{"203.0.113.77", 8, 0, "203.0.0.0"},
		{"203.0.113.77", 0, 128, ""},
		{"2001:db8::1", 0, 128, "2001:db8::1"},
		{"2001:db8::1", 32, 127, "2001:db8::"},
		{"2001:db8::1", 32, 0, ""},
	} {
		client := clientip.Client{Addr: netip.MustParseAddr(c.address)}
		env.Equal(t, c, client.Short(c.ipv4, c.ipv6), c.want)
	}
	env.Equal(t, "no address", (clientip.Client{}).Short(24, 48), "")
}
