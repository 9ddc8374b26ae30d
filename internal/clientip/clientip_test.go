package clientip_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"pushbox/internal/clientip"
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
		forwarded  bool
	}{
		{"no header", proxy, nil, "127.0.0.1", false},
		{"one hop", proxy, []string{"203.0.113.7"}, "203.0.113.7", true},
		{"two hops", proxy, []string{"203.0.113.7, 10.1.1.1"}, "203.0.113.7", true},
		{"what the client sent itself", proxy, []string{"198.51.100.1, 203.0.113.7, 10.1.1.1"}, "203.0.113.7", true},
		{"a client that claims to be a proxy", proxy, []string{"10.9.9.9, 203.0.113.7"}, "203.0.113.7", true},
		{"several lines are one list", proxy, []string{"198.51.100.1", "203.0.113.7,10.2.2.2", "10.1.1.1"}, "203.0.113.7", true},
		{"all trusted", proxy, []string{"10.3.3.3, 10.2.2.2", "10.1.1.1"}, "10.3.3.3", true},
		{"no space and tabs", proxy, []string{"198.51.100.1,203.0.113.7\t,\t10.1.1.1 "}, "203.0.113.7", true},
		{"IPv6", "[::1]:4000", []string{"2001:db8::1, fd00::2"}, "2001:db8::1", true},
		{"an untrusted peer", "203.0.113.9:4000", []string{"198.51.100.1"}, "203.0.113.9", false},
		{"an untrusted peer that names proxies", "203.0.113.9:4000", []string{"127.0.0.1"}, "203.0.113.9", false},
		{"a mapped peer is an IPv4 peer", "[::ffff:127.0.0.1]:4000", []string{"::ffff:203.0.113.7"}, "203.0.113.7", true},
		{"a peer with a zone", "[fe80::1%eth0]:4000", []string{"198.51.100.1"}, "fe80::1", false},
		{"garbage at the right end", proxy, []string{"203.0.113.7, unknown"}, "127.0.0.1", false},
		{"garbage after a proxy", proxy, []string{"203.0.113.7, _hidden, 10.1.1.1"}, "10.1.1.1", true},
		{"garbage beyond the client", proxy, []string{"<script>, 203.0.113.7, 10.1.1.1"}, "203.0.113.7", true},
		{"an empty line", proxy, []string{""}, "127.0.0.1", false},
		{"an empty entry is garbage", proxy, []string{"198.51.100.1, ", "10.1.1.1"}, "10.1.1.1", true},
		{"a comma alone", proxy, []string{","}, "127.0.0.1", false},
		{"a peer that is no address", "somewhere", []string{"198.51.100.1"}, "", false},
		{"a Unix socket", "@", []string{"198.51.100.1"}, "", false},
		{"a Unix socket without a name", "", []string{"198.51.100.1"}, "", false},
		{"a Unix socket with a path", "/run/x", []string{"198.51.100.1"}, "", false},
	} {
		got := proxies().Client(c.peer, forwardedFor(c.lines...))
		if got.IP() != c.want || got.Forwarded != c.forwarded {
			t.Errorf("%s: %s, forwarded %v; want %s, %v", c.name, got.IP(), got.Forwarded, c.want, c.forwarded)
		}
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
		got := proxies().Client("127.0.0.1:1", forwardedFor(entry))
		if want == "" && got.Forwarded || want != "" && got.IP() != want {
			t.Errorf("%q: %s, want %q", entry, got.IP(), want)
		}
	}
}

func TestOnlyTheRightEndOfTheListIsLookedAt(t *testing.T) {
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
	h := forwardedFor("198.51.100.1")
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
		if got := c.p.Client(c.peer, h); got.Forwarded != c.trusted {
			t.Errorf("%s: trusted is %v", c.peer, got.Forwarded)
		}
	}
}

func TestAPeerWithoutAnAddressIsNobody(t *testing.T) {
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
		if got := clientip.LoopbackDirect(c.peer, c.h); got != c.want {
			t.Errorf("%s with %v: %v", c.peer, c.h, got)
		}
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
		if got := clientip.Key(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
	if got := clientip.Key(netip.Addr{}); got != "" {
		t.Errorf("no address: %q", got)
	}
}
