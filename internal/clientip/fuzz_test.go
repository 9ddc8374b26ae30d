package clientip_test

import (
	"encoding/binary"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pushbox/internal/clientip"
)

// FuzzWalk compares the walk over X-Forwarded-For with one that first makes a list of
// all that it reads.
func FuzzWalk(f *testing.F) {
	f.Add("127.0.0.1:1", "203.0.113.7, 10.1.1.1", "10.2.2.2")
	f.Add("[::1]:1", "[2001:db8::1]:443", `"[fd00::1]"`)
	f.Add("203.0.113.9:1", "10.1.1.1", "")
	f.Add("127.0.0.1:1", "10.0.0.1,10.0.0.1", strings.Repeat(",10.0.0.1", 32)[1:])
	f.Add("127.0.0.1:1", "x, 10.3.3.3", strings.Repeat(" ", 4080)+"10.0.0.1")
	f.Add("@", "fe80::1%a,b%c", "::ffff:1.2.3.4")
	f.Fuzz(func(t *testing.T, peer, first, second string) {
		got := proxies().Client(peer, forwardedFor(first, second))
		if want := walk(peer, first+","+second); got.Addr != want {
			t.Errorf("%v, want %v", got.Addr, want)
		}
		if got.Addr.Zone() != "" || got.Addr.Is4In6() || len(got.Key()) > 64 {
			t.Errorf("%v is not in its plain form", got.Addr)
		}
	})
}

// walk is the oracle. It lists the addresses from the peer leftward, up to the first
// that cannot be read, and returns the last one before the first that is not trusted.
func walk(peer, list string) netip.Addr {
	chain := []netip.Addr{plainAddr(peer)}
	entries := strings.Split(list, ",")
	slices.Reverse(entries)
	size := -1
	for i, entry := range entries {
		size += len(entry) + 1
		whole := size < 4<<10 || size == 4<<10 && i == len(entries)-1
		a := plainAddr(unquote(strings.Trim(entry, " \t")))
		if i == 32 || !whole || !a.IsValid() {
			break
		}
		chain = append(chain, a)
	}
	i := slices.IndexFunc(chain, func(a netip.Addr) bool { return !inside(a) })
	if i < 0 {
		i = len(chain) - 1
	}
	return chain[i]
}

func inside(a netip.Addr) bool {
	return a.IsLoopback() || a.Is4() && a.As4()[0] == 10 || a.Is6() && a.As16()[0] == 0xfd
}

// plainAddr reads an address in each of its forms, without its zone.
func plainAddr(s string) netip.Addr {
	for _, form := range []string{s, s + ":0", "[" + s + "]:0"} {
		if ap, err := netip.ParseAddrPort(form); err == nil {
			return ap.Addr().Unmap().WithZone("")
		}
	}
	return netip.Addr{}
}

func unquote(s string) string {
	if inner, ok := strings.CutPrefix(s, `"`); ok && len(inner) > 1 {
		if inner, ok := strings.CutSuffix(inner, `"`); ok {
			return inner
		}
	}
	return s
}

// FuzzAttacker puts any text to the left of what proxies added, in the same line and in
// lines of its own. The client must stay the same.
func FuzzAttacker(f *testing.F) {
	f.Add("127.0.0.1", uint32(0xCB007107), uint8(0))
	f.Add("10.1.1.1, \"", uint32(0xC6336401), uint8(3))
	f.Add(strings.Repeat("127.0.0.1,", 40), uint32(0xCB007107), uint8(30))
	f.Fuzz(func(t *testing.T, sent string, client uint32, hops uint8) {
		addr := netip.AddrFrom4([4]byte(binary.BigEndian.AppendUint32(nil, client)))
		if inside(addr) {
			return
		}
		added := addr.String() + strings.Repeat(", 10.1.1.1", int(hops%31))
		p := proxies()
		for name, c := range map[string]clientip.Client{
			"alone":            p.Client("127.0.0.1:1", forwardedFor(added)),
			"in the same line": p.Client("127.0.0.1:1", forwardedFor(sent+", "+added)),
			"in its own line":  p.Client("127.0.0.1:1", forwardedFor(sent, added)),
			"in more lines":    p.Client("127.0.0.1:1", forwardedFor(sent, sent, added)),
			"from a stranger":  p.Client(netip.AddrPortFrom(addr, 1).String(), forwardedFor(sent)),
		} {
			if c.Addr != addr {
				t.Errorf("%s: %+v, want %v", name, c, addr)
			}
		}
	})
}

// FuzzHost checks that a host which may go into a link is, to net/url, the host and
// nothing else of the link, and that it comes from the header only behind a trusted
// proxy.
func FuzzHost(f *testing.F) {
	for _, host := range []string{
		"push.example.com", "push.example.com:8443", "[2001:db8::1]:443", "192.0.2.1", "a/b", "a?b", "a#b", "a@b", "a:b", "a:", ":80", "[::1", "[::1%25en0]",
		"a\\b", "a b", "a,b", "xn--bcher-kva.example", "_dmarc.example", "a..b", "[127.0.0.1]", "[::ffff:1.2.3.4]:1", "",
	} {
		f.Add(host, host)
	}
	f.Fuzz(func(t *testing.T, own, told string) {
		for peer, asked := range map[string]string{"203.0.113.9:1": own, "127.0.0.1:1": nearest(own, told)} {
			r := &http.Request{RemoteAddr: peer, Host: own, Header: http.Header{"X-Forwarded-Host": {told}, "X-Forwarded-Proto": {told}}}
			host, ok := proxies().Host(r)
			if ok && host != asked || !ok && host != "" {
				t.Fatalf("%s, which asks for %q and forwards %q, gets %q, %t", peer, own, told, host, ok)
			}
			if scheme := proxies().Scheme(r); scheme != "http" && scheme != "https" || peer[0] == '2' && scheme != "http" {
				t.Fatalf("the scheme is %q", scheme)
			}
			if u, err := url.Parse("https://" + host + "/p/x"); ok && (err != nil || u.Host != host || u.User != nil || u.EscapedPath() != "/p/x" || u.RawQuery != "" || u.Fragment != "") {
				t.Fatalf("%q makes the link %v, %v", host, u, err)
			}
		}
	})
}

// nearest is the host that the nearest proxy forwarded, or else the request's own.
func nearest(own, told string) string {
	list := strings.Split(told, ",")
	if last := strings.Trim(list[len(list)-1], " \t"); last != "" {
		return last
	}
	return own
}
