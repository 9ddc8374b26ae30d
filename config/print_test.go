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
