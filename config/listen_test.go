package config_test

import (
	"slices"
	"strings"
	"testing"

	"pushbox/config"
)

// wantValues checks values of a setting in the environment: good ones by how they are
// printed, bad ones by their problem.
func wantValues(t *testing.T, key string, good, bad map[string]string, others ...string) {
	t.Helper()
	env := "PUSHBOX_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_")) + "="
	for text, want := range good {
		l, err := config.Load(config.Source{Environ: append(others, env+text)})
		if err != nil {
			t.Errorf("%s %q: %v", key, text, err)
		} else if got := valueOf(t, l, key).Value; got != want {
			t.Errorf("%s %q became %s, want %s", key, text, got, want)
		}
	}
	for text, want := range bad {
		got := problems(t, config.Source{Environ: append(others, env+text)})
		if len(got) != 1 || !strings.Contains(got[0], "): "+want) {
			t.Errorf("%s %q: got %q, want %q", key, text, got, want)
		}
	}
}

func TestAListenerCanBeAUnixSocketOrASocketOfSystemd(t *testing.T) {
	t.Parallel()
	const (
		path = "must have the path of a socket after unix:"
		name = "must have the FileDescriptorName of a socket after systemd:"
	)
	longest := strings.Repeat("n", 255)
	for _, key := range []string{"listen", "public_listen"} {
		wantValues(t, key, map[string]string{
			"unix:/run/pushbox/pushbox.sock": `"unix:/run/pushbox/pushbox.sock"`,
			"unix:relative.sock":             `"unix:relative.sock"`,
			"systemd:pushbox.socket":         `"systemd:pushbox.socket"`,
			"systemd:" + longest:             `"systemd:` + longest + `"`,
		}, map[string]string{
			"unix:":                    path,
			"unix:@abstract":           path,
			"unix:/run/\n":             "must not contain control characters",
			"systemd:":                 name,
			"systemd:a:b":              name,
			"systemd:a b":              name,
			"systemd:ä":                name,
			"systemd:" + longest + "n": name,
		})
	}
}

func TestThePublicListenerIsOptional(t *testing.T) {
	t.Parallel()
	wantValues(t, "public_listen",
		map[string]string{"": `""`, "127.0.0.1:5101": `"127.0.0.1:5101"`},
		map[string]string{"127.0.0.1:5100": "must not be the same as listen (default)", "5101": "must be an address and a port"})
	wantValues(t, "public_listen", map[string]string{"127.0.0.1:0": `"127.0.0.1:0"`}, nil, "PUSHBOX_LISTEN=127.0.0.1:0")
	wantValues(t, "public_listen", nil, map[string]string{"systemd:a": "must not be the same as listen (environment PUSHBOX_LISTEN)"}, "PUSHBOX_LISTEN=systemd:a")
}

func TestPermissionsOfSocketsAreOctal(t *testing.T) {
	t.Parallel()
	const octal, owner = "must be permissions in octal, such as 0660", "must let the owner read and write"
	wantValues(t, "listen_mode",
		map[string]string{"0600": `"0600"`, "600": `"0600"`, "0666": `"0666"`, "777": `"0777"`},
		map[string]string{"": "is empty", "0880": octal, "0o660": octal, "1660": octal, "-600": octal, "rw": octal, "0577": owner, "0060": owner})
	for _, text := range []string{"0600", "600", `"0600"`} {
		name := writeFile(t, "listen_mode: "+text+"\n")
		if got := mustLoad(t, config.Source{File: name}).Config.ListenMode; got != 0o600 {
			t.Errorf("%s in a file became %o", text, got)
		}
	}
}

func TestBasePaths(t *testing.T) {
	t.Parallel()
	const want = "must be a path such as /push"
	longest := "/" + strings.Repeat("p", 127)
	wantValues(t, "base_path",
		map[string]string{"": `""`, "/": `""`, "/push": `"/push"`, "/push/": `"/push"`, "/a.b/C-_~9": `"/a.b/C-_~9"`, longest: `"` + longest + `"`},
		map[string]string{
			"push": want, "/a//b": want, "/..": want, "/./a": want, "/a b": want, "/:a": want, "/*a": want, "/ä": want, "/a%20": want, "/a?b": want,
			longest + "p": want, "https://a.example/b": want,
		})
}

func TestBaseURLAndBasePathAgree(t *testing.T) {
	t.Parallel()
	wantValues(t, "base_url",
		map[string]string{"https://a.example/push": `"https://a.example/push"`, "https://a.example/push/": `"https://a.example/push"`, "": `""`},
		map[string]string{
			"https://a.example":         "must end with /push as said by base_path (environment PUSHBOX_BASE_PATH)",
			"https://a.example/push/in": "must end with /push as said by base_path",
		}, "PUSHBOX_BASE_PATH=/push")
	wantValues(t, "base_url", nil, map[string]string{"https://a.example/push": "has a path; set the same one as base_path"})
}

func TestAllowedHosts(t *testing.T) {
	t.Parallel()
	wantValues(t, "allowed_hosts", map[string]string{
		"":                                `[]`,
		"push.example.com":                `["push.example.com"]`,
		"Push.Example.COM., *.lan":        `["push.example.com", "*.lan"]`,
		"192.0.2.7,[2001:DB8::1],fd00::1": `["192.0.2.7", "2001:db8::1", "fd00::1"]`,
		"xn--bcher-kva.example,my_box":    `["xn--bcher-kva.example", "my_box"]`,
	}, map[string]string{
		"push.example.com:443":        "entry 1 must be a host without a port",
		"a.example,https://b.example": "entry 2 must be a host without a port",
		"*":                           "entry 1 must be",
		"a.*.example":                 "entry 1 must be",
		"bücher.example":              "entry 1 must be",
		"a..example":                  "entry 1 must be",
		strings.Repeat("a", 64):       "entry 1 must be",
		",":                           "entry 1 must be",
	})
}

func TestNetworksThatMayCreateAreNetworks(t *testing.T) {
	t.Parallel()
	wantValues(t, "create_networks",
		map[string]string{"": `[]`, "10.0.0.0/8, ::1": `["10.0.0.0/8", "::1/128"]`},
		map[string]string{"10.0.0.1/8": "entry 1 has bits beyond its prefix length", "inside": "entry 1 must be an address or a network"})
}

func TestTheMetricsListenerIsOptional(t *testing.T) {
	t.Parallel()
	wantValues(t, "metrics.listen", same("", "127.0.0.1:5101", "[::1]:0", ":5101"),
		refused("must be an address and a port, such as 127.0.0.1:5100", "5101", "127.0.0.1", "127.0.0.1:65536", "127.0.0.1:http", "http://127.0.0.1:5101", "a b:1"))
}

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
		wantProblem(t, config.Source{Environ: test.environ}, test.want)
	}
}

func TestDomainsOfCertificates(t *testing.T) {
	t.Parallel()
	const odd, address = "entry 1 must be a domain such as push.example.com", "entry 1 must be a name, not an address"
	wantValues(t, "tls.acme.domains", map[string]string{
		"a.example":             `["a.example"]`,
		"Push.Example.COM":      `["push.example.com"]`,
		"a.example, b.example":  `["a.example", "b.example"]`,
		"xn--bcher-kva.example": `["xn--bcher-kva.example"]`,
		"pushbox":               `["pushbox"]`,
	}, map[string]string{
		"a.example,*.example": "entry 2 must not have a star", "a.example,A.example": "entry 2 is in the list twice",
		"192.0.2.1": address, "::1": address,
		"https://a.example": odd, "a.example:443": odd, "a..example": odd, "-a.example": odd, "a-.example": odd, "../a": odd,
		"bücher.example": odd, "a_b.example": odd, strings.Repeat("a", 64): odd, strings.Repeat("a.", 126) + "long": odd, ",": odd,
	})
	if l := mustLoad(t, config.Source{Environ: []string{"PUSHBOX_TLS_ACME_DOMAINS=a.example"}}); !l.Config.TLS.Enabled() {
		t.Error("TLS is off")
	}
}

func TestSettingsOfACertificateAuthority(t *testing.T) {
	t.Parallel()
	wantValues(t, "tls.acme.directory_url", nil, refused("must", "http://ca.example/d", "ca.example", "https://", "https://a:b@ca.example/d", "https://ca .example"))
	wantValues(t, "tls.acme.email", nil, refused("must", "ann", "mailto:ann@example.com", "Ann <ann@example.com>", "a@b.example,c@d.example"))
	wantValues(t, "tls.redirect_listen", nil, refused("must", "80", ":http"))
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
		"tls:\n  acme: a.example\n":        "tls.acme (file pushbox.yaml, line 2): must be a section with keys",
		"tls:\n  acme.domains: []\n":       "tls.acme.domains (file pushbox.yaml, line 2): is not a setting: a section and its keys are written on lines of their own",
	} {
		wantProblem(t, config.Source{File: writeFile(t, text)}, want)
	}
}
