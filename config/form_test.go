package config_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/golden"
)

// same are texts that become themselves.
func same(texts ...string) map[string]string {
	all := make(map[string]string)
	for _, text := range texts {
		all[text] = strconv.Quote(text)
	}
	return all
}

// refused are texts with one problem.
func refused(problem string, texts ...string) map[string]string {
	all := make(map[string]string)
	for _, text := range texts {
		all[text] = problem
	}
	return all
}

func TestListenAddresses(t *testing.T) {
	t.Parallel()
	wantValues(t, "listen",
		same("127.0.0.1:5100", ":0", ":65535", "[::1]:80", "[fe80::1%eth0]:80", "localhost:1", "push.example.com:443"),
		refused("", "5100", "localhost", ":", ":http", ":65536", ":-1", ":080", "::1:80", "a b:80", "http://a:80", "Unix:/run/x", "a:1\n", "\xff:1"))
}

func TestBaseURLs(t *testing.T) {
	t.Parallel()
	const (
		begin  = "must begin with https:// or http:// and a host"
		user   = "must not have a user name or a password"
		query  = "must not have a query or a fragment"
		port   = "must have a port from 1 to 65535, or none"
		itself = "must be a URL such as https://push.example.com"
	)
	wantValues(t, "base_url", map[string]string{
		"":                           `""`,
		"https://push.example.com":   `"https://push.example.com"`,
		"https://push.example.com/":  `"https://push.example.com"`,
		"https://push.example.com//": `"https://push.example.com"`,
		"HTTP://push.example.com":    `"http://push.example.com"`,
		"http://localhost:5100":      `"http://localhost:5100"`,
		"http://[::1]:65535/":        `"http://[::1]:65535"`,
	}, map[string]string{
		"push.example.com": begin, "//push.example.com": begin, "/path": begin, "ftp://push.example.com": begin,
		"https:push.example.com": begin, "https://": begin, "https://:443": begin, "localhost:5100": begin,
		"https://a@push.example.com": user, "https://a:b@example.com": user,
		"https://push.example.com?": query, "https://push.example.com?a": query, "https://push.example.com#": query, "https://push.example.com/#a": query,
		"https://push.example.com:0": port, "https://example.com:65536": port,
		"https://push.example.com/a%20b": "must have the path of base_path, or none",
		"https://push.example.com:x":     itself, "https://push example.com": itself, "https://push.example.com/\n": itself,
	})
}

// An address of another kind of database is found here, and not by the first connection.
func TestAddressesOfDatabases(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "postgres:///box", "postgresql://ann:b@db.example.com/box?sslmode=verify-full", "host=/run/postgresql dbname=box"} {
		mustLoad(t, config.Source{Environ: []string{"PUSHBOX_DATABASE_URL=" + text}})
	}
	wantValues(t, "database_url", nil, refused("must be an address such as postgres://", "mysql://ann:b@db.example.com/box", "db.example.com", "://"))
}

func TestSecurityContacts(t *testing.T) {
	t.Parallel()
	const forms, ascii = "must be an address such as mailto:security@example.com or https://example.com/security", "must be in ASCII, without spaces"
	wantValues(t, "security_contact",
		same("", "mailto:security@example.com", "https://example.com/security?a=b#c", "HTTPS://example.com"),
		map[string]string{
			"security@example.com": forms, "mailto:": forms, "mailto:ann": forms, "mailto:a@b.example,c@d.example": forms,
			"http://example.com": forms, "https://": forms, "https://a:b@example.com": forms, "https://[::1": forms, "tel:+1-201-555-0123": forms,
			"https://example.com/ a": ascii, "https://bücher.example": ascii, "https://a.example\nContact: evil": ascii,
		})
}

func TestTrustedProxies(t *testing.T) {
	t.Parallel()
	const neither, mapped = "must be an address or a network such as 10.0.0.0/8", "must be written as IPv4"
	wantValues(t, "trusted_proxies", map[string]string{
		"":                         `[]`,
		"10.0.0.0/8":               `["10.0.0.0/8"]`,
		"192.0.2.1":                `["192.0.2.1/32"]`,
		"2001:DB8::1":              `["2001:db8::1/128"]`,
		"0.0.0.0/0, ::/0":          `["0.0.0.0/0", "::/0"]`,
		" 10.0.0.1 ,fd00::/8":      `["10.0.0.1/32", "fd00::/8"]`,
		"127.0.0.0/8,::1/128":      `["127.0.0.0/8", "::1/128"]`,
		"10.255.255.254/31":        `["10.255.255.254/31"]`,
		"fe80::/10,169.254.0.0/16": `["fe80::/10", "169.254.0.0/16"]`,
	}, map[string]string{
		",": "entry 1 " + neither, "10.0.0.1,": "entry 2 " + neither, "10.0.0.1 10.0.0.2": "entry 1 " + neither,
		"10.0.0.0/33": "entry 1 " + neither, "::1/129": "entry 1 " + neither, "10.0.0": "entry 1 " + neither,
		"nginx": "entry 1 " + neither, "fe80::1%eth0": "entry 1 " + neither, "10.0.0.1:80": "entry 1 " + neither,
		"::1,10.1.0.0/8":  "entry 2 has bits beyond its prefix length; did you mean 10.0.0.0/8?",
		"::ffff:10.0.0.1": "entry 1 " + mapped, "::ffff:10.0.0.0/104": "entry 1 " + mapped,
	})
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
	golden.File(t, "testdata/printed.yaml", strings.ReplaceAll(out.String(), filepath.Dir(name)+string(filepath.Separator), ""))
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
	env.Equal(t, "got", lines[0], `listen: "127.0.0.1:5100"                         # default; needs a restart`)
}

func TestPrintReportsAFailedWrite(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	broken := errors.New("broken")
	_ = r.CloseWithError(broken)
	env.ErrorIs(t, "it", mustLoad(t, config.Source{}).Print(w), broken)
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
