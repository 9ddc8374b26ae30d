package config_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
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

func TestPrintShowsValuesAndOrigins(t *testing.T) {
	t.Parallel()
	name := writeFile(t, "purge_after: 24h\nlog:\n  level: warn\n")
	var out strings.Builder
	l := mustLoad(t, config.Source{
		File:    name,
		Environ: []string{"PUSHBOX_MAX_STORE_SIZE=2048MiB", "PUSHBOX_TRUSTED_PROXIES=10.1.2.3, fd00::/8", "PUSHBOX_MASTER_KEY=k"},
		Flags:   map[string]config.Flag{"listen": {Name: "--listen", Value: ":80"}},
	})
	env.OK(t, l.Print(&out))
	want := `listen: ":80"                                    # flag --listen; needs a restart
public_listen: ""                                # default; needs a restart
listen_mode: "0660"                              # default; needs a restart
base_path: ""                                    # default; needs a restart
allowed_hosts: []                                # default
create_networks: []                              # default
data_dir: "./data"                               # default; needs a restart
database_url: ""                                 # default; needs a restart
database_url_file: ""                            # default; needs a restart
master_key_file: ""                              # default; needs a restart
master_key: [redacted]                           # environment PUSHBOX_MASTER_KEY; needs a restart
base_url: ""                                     # default
security_contact: ""                             # default
tls:
  cert_file: ""                                  # default; needs a restart
  key_file: ""                                   # default; needs a restart
  redirect_listen: ""                            # default; needs a restart
  hsts: 180d                                     # default; needs a restart
  acme:
    domains: []                                  # default; needs a restart
    directory_url: "https://acme-v02.api.letsencrypt.org/directory"  # default; needs a restart
    ca_file: ""                                  # default; needs a restart
    email: ""                                    # default; needs a restart
trusted_proxies: ["10.1.2.3/32", "fd00::/8"]     # environment PUSHBOX_TRUSTED_PROXIES
allow_anonymous: true                            # default
enable_api_v1: true                              # default
api_v1_cors: true                                # default
enable_url_pushes: true                          # default
enable_qr_pushes: true                           # default
enable_file_pushes: true                         # default
client_encryption: offered                       # default
enable_requests: false                           # default
enable_signups: false                            # default
signup_email_regexp: ".+"                        # default
require_mfa: false                               # default
require_mfa_tokens_from: ""                      # default
sign_in:
  passwords: true                                # default; needs a restart
  break_glass: []                                # default; needs a restart
  oidc: []                                       # default; needs a restart
  proxy:
    header: ""                                   # default; needs a restart
    groups_header: ""                            # default; needs a restart
    create_accounts: false                       # default; needs a restart
    allowed_groups: []                           # default; needs a restart
    admin_groups: []                             # default; needs a restart
default_locale: en                               # default
purge_after: 1d                                  # file ` + name + `
max_store_size: 2GiB                             # environment PUSHBOX_MAX_STORE_SIZE
backup:
  schedule: 0                                    # default; needs a restart
  dir: ""                                        # default; needs a restart
  keep: 7                                        # default; needs a restart
  recipients: []                                 # default; needs a restart
  after: []                                      # default; needs a restart
brand:
  title: "pushbox"                               # default
  tagline: ""                                    # default
  logo_file: ""                                  # default
  footer: ""                                     # default
log:
  level: warn                                    # file ` + name + `
  format: auto                                   # default; needs a restart
  client: true                                   # default
metrics:
  listen: ""                                     # default; needs a restart
  token_file: ""                                 # default; needs a restart
  token: ""                                      # default; needs a restart
privacy:
  ipv4_prefix: 32                                # default
  ipv6_prefix: 128                               # default
limits:
  max_body: 8MiB                                 # default
`
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("got\n%s\nwant it to begin\n%s", out.String(), want)
	}
	if n := strings.Count(out.String(), "  # "); n != len(config.Keys()) {
		t.Errorf("%d of %d settings were printed", n, len(config.Keys()))
	}
}

func TestALongLineDoesNotMoveComments(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	long := "/" + strings.Repeat("d", 200)
	env.OK(t, mustLoad(t, config.Source{Environ: []string{"PUSHBOX_DATA_DIR=" + long}}).Print(&out))
	lines := strings.Split(out.String(), "\n")
	if want := `data_dir: "` + long + `"  # environment PUSHBOX_DATA_DIR; needs a restart`; !slices.Contains(lines, want) {
		t.Errorf("got %s", out.String())
	}
	if want := `listen: "127.0.0.1:5100"                         # default; needs a restart`; lines[0] != want {
		t.Errorf("got %s", lines[0])
	}
}

func TestPrintReportsAFailedWrite(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	broken := errors.New("broken")
	_ = r.CloseWithError(broken)
	if err := mustLoad(t, config.Source{}).Print(w); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestPrintedSettingsLoadAgain(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{`a "quoted" path`, `back\slash`, "naïve/日本", "# no comment", "[redacted]", "a: b", "\u00a0\ufeff\u2028", "'"} {
		l := mustLoad(t, config.Source{Environ: []string{"PUSHBOX_DATA_DIR=" + dir, "PUSHBOX_LIMITS_DRAIN_TIMEOUT=1.5s", "PUSHBOX_LIMITS_MAX_BODY=1MB"}})
		if l.Config.DataDir != dir {
			t.Errorf("%q became %q", dir, l.Config.DataDir)
		}
		wantSameAgain(t, l, writeFile(t, ""))
	}
}

// wantSameAgain prints a configuration to a file and checks that the file loads to the
// same. It adds the key, which is not printed.
func wantSameAgain(t *testing.T, l *config.Loaded, file string) {
	t.Helper()
	var out bytes.Buffer
	env.OK(t, l.Print(&out))
	key := "\nmaster_key: " + strconv.Quote(l.Config.MasterKey.Reveal())
	text := bytes.Replace(out.Bytes(), []byte("\nmaster_key: [redacted]"), []byte(key), 1)
	env.OK(t, os.WriteFile(file, text, 0o600))
	again, err := config.Load(config.Source{File: file})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !reflect.DeepEqual(again.Config, l.Config) {
		t.Errorf("got  %+v\nwant %+v\n%s", again.Config, l.Config, text)
	}
}
