package config_test

import (
	"slices"
	"strings"
	"testing"

	"pushbox/config"
)

func TestHalfOfTLSIsRefused(t *testing.T) {
	t.Parallel()
	const cert, key, domains = "PUSHBOX_TLS_CERT_FILE=c.pem", "PUSHBOX_TLS_KEY_FILE=k.pem", "PUSHBOX_TLS_ACME_DOMAINS=a.example"
	for _, test := range []struct {
		environ []string
		want    string
	}{
		{[]string{cert}, "tls.cert_file (environment PUSHBOX_TLS_CERT_FILE): cannot be given without tls.key_file"},
		{[]string{key}, "tls.key_file (environment PUSHBOX_TLS_KEY_FILE): cannot be given without tls.cert_file"},
		{[]string{cert, key, domains}, "tls.cert_file (environment PUSHBOX_TLS_CERT_FILE): cannot be given together with tls.acme.domains (environment PUSHBOX_TLS_ACME_DOMAINS)"},
		{[]string{"PUSHBOX_TLS_ACME_EMAIL=a@example.com"}, "tls.acme.email (environment PUSHBOX_TLS_ACME_EMAIL): means nothing without tls.acme.domains"},
		{[]string{cert, key, "PUSHBOX_TLS_ACME_CA_FILE=r"}, "tls.acme.ca_file (environment PUSHBOX_TLS_ACME_CA_FILE): means nothing without tls.acme.domains"},
		{[]string{"PUSHBOX_TLS_ACME_DIRECTORY_URL=https://ca.example/d"}, "tls.acme.directory_url (environment PUSHBOX_TLS_ACME_DIRECTORY_URL): means nothing without tls.acme.domains"},
		{[]string{"PUSHBOX_TLS_REDIRECT_LISTEN=:80"}, "tls.redirect_listen (environment PUSHBOX_TLS_REDIRECT_LISTEN): means nothing without tls.cert_file or tls.acme.domains"},
		{[]string{domains, "PUSHBOX_BASE_URL=http://a.example"}, "base_url (environment PUSHBOX_BASE_URL): must begin with https:// together with tls.acme.domains (environment PUSHBOX_TLS_ACME_DOMAINS)"},
	} {
		got := problems(t, config.Source{Environ: test.environ})
		if !slices.Equal(got, []string{test.want}) {
			t.Errorf("%q: got %q", test.environ, got)
		}
	}
}

func TestDomainsOfCertificates(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a.example":             "a.example",
		"Push.Example.COM":      "push.example.com",
		"a.example, b.example":  "a.example b.example",
		"xn--bcher-kva.example": "xn--bcher-kva.example",
		"pushbox":               "pushbox",
	} {
		l := mustLoad(t, config.Source{Environ: []string{"PUSHBOX_TLS_ACME_DOMAINS=" + text}})
		if got := strings.Join(l.Config.TLS.ACME.Domains, " "); got != want || !l.Config.TLS.Enabled() {
			t.Errorf("%s became %s", text, got)
		}
	}
	const odd = "must be a domain such as push.example.com"
	for text, want := range map[string]string{
		"a.example,*.example":              "entry 2 must not have a star",
		"192.0.2.1":                        "entry 1 must be a name, not an address",
		"::1":                              "entry 1 must be a name, not an address",
		"https://a.example":                "entry 1 " + odd,
		"a.example:443":                    "entry 1 " + odd,
		"a..example":                       "entry 1 " + odd,
		"-a.example":                       "entry 1 " + odd,
		"a-.example":                       "entry 1 " + odd,
		"../a":                             "entry 1 " + odd,
		"bücher.example":                   "entry 1 " + odd,
		"a_b.example":                      "entry 1 " + odd,
		strings.Repeat("a", 64):            "entry 1 " + odd,
		strings.Repeat("a.", 126) + "long": "entry 1 " + odd,
		"a.example,A.example":              "entry 2 is there twice",
		",":                                "entry 1 " + odd,
	} {
		got := problems(t, config.Source{Environ: []string{"PUSHBOX_TLS_ACME_DOMAINS=" + text}})
		if len(got) != 1 || !strings.Contains(got[0], ": "+want) {
			t.Errorf("%s: got %q", text, got)
		}
	}
}

func TestSettingsOfACertificateAuthority(t *testing.T) {
	t.Parallel()
	for variable, bad := range map[string][]string{
		"PUSHBOX_TLS_ACME_DIRECTORY_URL": {"http://ca.example/d", "ca.example", "https://", "https://a:b@ca.example/d", "https://ca .example"},
		"PUSHBOX_TLS_ACME_EMAIL":         {"ann", "mailto:ann@example.com", "Ann <ann@example.com>", "a@b.example,c@d.example"},
		"PUSHBOX_TLS_REDIRECT_LISTEN":    {"80", ":http"},
	} {
		for _, text := range bad {
			if got := problems(t, config.Source{Environ: []string{variable + "=" + text}}); len(got) != 1 || !strings.Contains(got[0], "must") {
				t.Errorf("%s=%s: got %q", variable, text, got)
			}
		}
	}
}

func TestSectionsMayHaveSections(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, config.Source{File: writeFile(t, "tls:\n  hsts: 0\n  acme:\n    domains: [a.example, b.example]\n")})
	if got := l.Config.TLS; got.HSTS != 0 || !slices.Equal(got.ACME.Domains, []string{"a.example", "b.example"}) {
		t.Errorf("got %+v", got)
	}
	wantSameAgain(t, l, writeFile(t, ""))
	for text, want := range map[string]string{
		"tls:\n  acme:\n    domain: [a]\n": "tls.acme.domain (file pushbox.yaml, line 3): is not a setting; did you mean tls.acme.domains?",
		"tls:\n  acne:\n    domains: []\n": "tls.acne (file pushbox.yaml, line 2): is not a setting; did you mean tls.acme?",
		"acme:\n  domains: []\n":           "acme (file pushbox.yaml, line 1): is not a setting",
		"tls:\n  acme: a.example\n":        "tls.acme (file pushbox.yaml, line 2): must be a section with keys of its own",
		"tls:\n  acme.domains: []\n":       "tls.acme.domains (file pushbox.yaml, line 2): is not a setting: a section and its keys are written on lines of their own",
	} {
		if got := problems(t, config.Source{File: writeFile(t, text)}); len(got) != 1 || got[0] != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
}
