package config_test

import (
	"strings"
	"testing"

	"pushbox/config"
)

func TestListenAddresses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"127.0.0.1:5100", ":0", ":65535", "[::1]:80", "[fe80::1%eth0]:80", "localhost:1", "push.example.com:443"} {
		if got := mustLoad(t, config.Source{Environ: []string{"PUSHBOX_LISTEN=" + text}}).Config.Listen; got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
	for _, text := range []string{"5100", "localhost", ":", ":http", ":65536", ":-1", ":080", "::1:80", "a b:80", "http://a:80", "Unix:/run/x", "a:1\n", "\xff:1"} {
		if got := problems(t, config.Source{Environ: []string{"PUSHBOX_LISTEN=" + text}}); len(got) != 1 {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

func TestBaseURLs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           "",
		"https://push.example.com":   "https://push.example.com",
		"https://push.example.com/":  "https://push.example.com",
		"https://push.example.com//": "https://push.example.com",
		"HTTP://push.example.com":    "http://push.example.com",
		"http://localhost:5100":      "http://localhost:5100",
		"http://[::1]:65535/":        "http://[::1]:65535",
	} {
		if got := mustLoad(t, config.Source{Environ: []string{"PUSHBOX_BASE_URL=" + text}}).Config.BaseURL; got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"push.example.com":               "must begin with https:// or http:// and a host",
		"//push.example.com":             "must begin with https:// or http:// and a host",
		"/path":                          "must begin with https:// or http:// and a host",
		"ftp://push.example.com":         "must begin with https:// or http:// and a host",
		"https:push.example.com":         "must begin with https:// or http:// and a host",
		"https://":                       "must begin with https:// or http:// and a host",
		"https://:443":                   "must begin with https:// or http:// and a host",
		"https://a@push.example.com":     "must not have a user name or a password",
		"https://a:b@example.com":        "must not have a user name or a password",
		"https://push.example.com?":      "must not have a query or a fragment",
		"https://push.example.com?a":     "must not have a query or a fragment",
		"https://push.example.com#":      "must not have a query or a fragment",
		"https://push.example.com/#a":    "must not have a query or a fragment",
		"https://push.example.com:0":     "must have a port from 1 to 65535, or none",
		"https://example.com:65536":      "must have a port from 1 to 65535, or none",
		"https://push.example.com/a%20b": "must not have this path: only that of base_path, or none",
		"https://push.example.com:x":     "must be a URL such as https://push.example.com",
		"https://push example.com":       "must be a URL such as https://push.example.com",
		"https://push.example.com/\n":    "must be a URL such as https://push.example.com",
		"localhost:5100":                 "must begin with https:// or http:// and a host",
	} {
		got := problems(t, config.Source{Environ: []string{"PUSHBOX_BASE_URL=" + text}})
		if len(got) != 1 || !strings.HasSuffix(got[0], "): "+want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// An address of another kind of database is found here, and not by the first connection.
func TestAddressesOfDatabases(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "postgres:///box", "postgresql://ann:b@db.example.com/box?sslmode=verify-full", "host=/run/postgresql dbname=box"} {
		mustLoad(t, config.Source{Environ: []string{"PUSHBOX_DATABASE_URL=" + text}})
	}
	for _, text := range []string{"mysql://ann:b@db.example.com/box", "db.example.com", "://"} {
		got := problems(t, config.Source{Environ: []string{"PUSHBOX_DATABASE_URL=" + text}})
		if len(got) != 1 || !strings.Contains(got[0], "must be an address such as postgres://") {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestSecurityContacts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "mailto:security@example.com", "https://example.com/security?a=b#c", "HTTPS://example.com"} {
		if got := mustLoad(t, config.Source{Environ: []string{"PUSHBOX_SECURITY_CONTACT=" + text}}).Config.SecurityContact; got != text {
			t.Errorf("%s became %s", text, got)
		}
	}
	const forms = "must be an address such as mailto:security@example.com or https://example.com/security"
	for text, want := range map[string]string{
		"security@example.com":             forms,
		"mailto:":                          forms,
		"mailto:ann":                       forms,
		"mailto:a@b.example,c@d.example":   forms,
		"http://example.com":               forms,
		"https://":                         forms,
		"https://a:b@example.com":          forms,
		"https://[::1":                     forms,
		"tel:+1-201-555-0123":              forms,
		"https://example.com/ a":           "must be in ASCII, without spaces",
		"https://bücher.example":           "must be in ASCII, without spaces",
		"https://a.example\nContact: evil": "must be in ASCII, without spaces",
	} {
		got := problems(t, config.Source{Environ: []string{"PUSHBOX_SECURITY_CONTACT=" + text}})
		if len(got) != 1 || !strings.HasSuffix(got[0], "): "+want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                         `[]`,
		"10.0.0.0/8":               `["10.0.0.0/8"]`,
		"192.0.2.1":                `["192.0.2.1/32"]`,
		"2001:DB8::1":              `["2001:db8::1/128"]`,
		"0.0.0.0/0, ::/0":          `["0.0.0.0/0", "::/0"]`,
		" 10.0.0.1 ,fd00::/8":      `["10.0.0.1/32", "fd00::/8"]`,
		"127.0.0.0/8,::1/128":      `["127.0.0.0/8", "::1/128"]`,
		"10.255.255.254/31":        `["10.255.255.254/31"]`,
		"fe80::/10,169.254.0.0/16": `["fe80::/10", "169.254.0.0/16"]`,
	} {
		l := mustLoad(t, config.Source{Environ: []string{"PUSHBOX_TRUSTED_PROXIES=" + text}})
		if got := valueOf(t, l, "trusted_proxies").Value; got != want {
			t.Errorf("%q became %s, want %s", text, got, want)
		}
	}
	const neither = "must be an address or a network such as 10.0.0.0/8"
	for text, want := range map[string]string{
		",":                   "entry 1 " + neither,
		"10.0.0.1,":           "entry 2 " + neither,
		"10.0.0.1 10.0.0.2":   "entry 1 " + neither,
		"10.0.0.0/33":         "entry 1 " + neither,
		"::1/129":             "entry 1 " + neither,
		"10.0.0":              "entry 1 " + neither,
		"nginx":               "entry 1 " + neither,
		"fe80::1%eth0":        "entry 1 " + neither,
		"10.0.0.1:80":         "entry 1 " + neither,
		"::1,10.1.0.0/8":      "entry 2 has bits beyond its prefix length; did you mean 10.0.0.0/8?",
		"::ffff:10.0.0.1":     "entry 1 must be written as IPv4",
		"::ffff:10.0.0.0/104": "entry 1 must be written as IPv4",
	} {
		got := problems(t, config.Source{Environ: []string{"PUSHBOX_TRUSTED_PROXIES=" + text}})
		if len(got) != 1 || !strings.HasSuffix(got[0], "): "+want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
