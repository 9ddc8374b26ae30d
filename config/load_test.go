package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

// sample returns a value of a setting that is not its default.
func sample(k config.Setting) string {
	special := map[string]string{
		"listen": "[::1]:0", "metrics.listen": "[::1]:0", "default_locale": "de", "base_url": "https://push.example.com", "security_contact": "mailto:security@example.com", "trusted_proxies": "10.0.0.0/8,192.0.2.1",
		"public_listen": "unix:/run/public.sock", "listen_mode": "0600", "allowed_hosts": "push.example.com", "create_networks": "10.0.0.0/8",
		"purge_after": "90d", "reload_window": "30s", "brand.imprint": "https://example.com/imprint", "brand.privacy": "https://example.com/privacy", "brand.abuse": "mailto:abuse@example.com", "max_store_size": "1GiB", "client_encryption": "required", "compat.edition": "commercial", "policy.reveal": "type", "database_url": "postgres:///box", "log.level": "debug", "log.format": "json", "privacy.ipv4_prefix": "24", "privacy.ipv6_prefix": "48",
		"limits.max_body": "1MiB", "limits.body_memory": "1GiB", "limits.clients": "1000", "limits.downloads": "8", "limits.connections": "16", "limits.min_free_space": "0", "limits.anonymous_bytes": "1GiB", "limits.account_bytes": "1GiB",
		"limits.request_timeout": "5m", "limits.drain_timeout": "1m", "limits.stop_delay": "5s", "limits.stall_timeout": "5m",
		"files.max_file_size": "400MiB", "files.anonymous_max_size": "1MiB", "files.download_window": "1h",
		"backup.schedule": "1d", "backup.recipients": "age1abc,age1pq1def", "backup.after": "/bin/true,{}",
		"require_mfa_tokens_from": "2027-01-31", "sessions.idle_timeout": "2d", "sessions.max_age": "90d",
		"tls.redirect_listen": ":80", "tls.hsts": "1h", "tls.acme.domains": "a.example", "tls.acme.email": "ann@example.com",
		"tls.acme.directory_url": "https://ca.example/acme/acme/directory",
		"webhooks.events":        "view,expire", "webhooks.allow": "public,10.1.0.0/16,*.example.com", "ldap.url": "ldaps://dc.example.com", "ldap.check_every": "1h", "webhooks.queue": "100", "webhooks.form": "slack", "webhooks.give_up": "1h",
		"sign_in.break_glass": "ann@example.com", "sign_in.oidc": `[{name: office, issuer: "https://id.example.com", client_id: pushbox}]`,
		"sign_in.proxy.header": "Remote-Email", "sign_in.proxy.groups_header": "Remote-Groups",
		"policy.kinds": "text,file", "policy.max_file_size": "1MiB", "policy.account_bytes": "1MiB", "policies": "[{name: office, groups: [staff], kinds: [text], require_passphrase: true}]",
		"mail.host": "mail.example.com", "mail.tls": "implicit", "mail.give_up": "1h",
	}
	if v, ok := special[k.Key]; ok {
		return v
	}
	switch {
	case k.Default == "true":
		return "false"
	case k.Default == "false":
		return "true"
	case strings.HasPrefix(k.Default, `"`):
		return "/some/where"
	default:
		return "3"
	}
}

// beside is the settings that a setting cannot be given without.
func beside(k config.Setting) []string {
	switch {
	case k.Key == "tls.cert_file":
		return []string{"PUSHBOX_TLS_KEY_FILE=k"}
	case k.Key == "tls.key_file":
		return []string{"PUSHBOX_TLS_CERT_FILE=c"}
	case k.Key == "tls.redirect_listen", strings.HasPrefix(k.Key, "tls.acme.") && k.Key != "tls.acme.domains":
		return []string{"PUSHBOX_TLS_ACME_DOMAINS=b.example"}
	case k.Key == "sign_in.passwords":
		return []string{"PUSHBOX_SIGN_IN_PROXY_HEADER=Remote-Email"}
	case strings.HasPrefix(k.Key, "sign_in.proxy.") && strings.HasSuffix(k.Key, "_groups"):
		return []string{"PUSHBOX_SIGN_IN_PROXY_GROUPS_HEADER=Remote-Groups"}
	case k.Key == "mail.host":
		return []string{"PUSHBOX_MAIL_FROM=push@example.com", "PUSHBOX_BASE_URL=https://push.example.com"}
	case k.Key == "webhooks.url":
		return []string{"PUSHBOX_WEBHOOKS_SECRET_FILE=/some/where"}
	case k.Key == "ldap.url":
		return []string{"PUSHBOX_LDAP_BASE=dc=example"}
	case strings.HasSuffix(k.Key, "_max"):
		return []string{strings.TrimSuffix(k.Env, "_MAX") + "_DEFAULT=2"}
	default:
		return nil
	}
}

func TestEverySettingCanBeGivenInTheEnvironment(t *testing.T) {
	t.Parallel()
	keys := config.Keys()
	if len(keys) < 60 {
		t.Fatalf("only %d settings were found", len(keys))
	}
	for _, k := range keys {
		t.Run(k.Env, func(t *testing.T) {
			t.Parallel()
			src := config.Source{Environ: append(beside(k), k.Env+"="+sample(k))}
			l := mustLoad(t, src)
			if v := valueOf(t, l, k.Key); v.Value == k.Default || v.Origin != "environment "+k.Env {
				t.Errorf("got %+v", v)
			}
			for i, v := range l.Values {
				given := strings.Contains(strings.Join(src.Environ, " "), keys[i].Env+"=")
				if v.Key != keys[i].Key || !given && (v.Value != keys[i].Default || v.Origin != "default") {
					t.Errorf("another setting changed: %+v", v)
				}
			}
		})
	}
}

func TestKeysAndVariablesAreUnique(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{"PUSHBOX_CONFIG": true}
	for _, k := range config.Keys() {
		if seen[k.Key] || seen[k.Env] {
			t.Errorf("%s or %s is used twice", k.Key, k.Env)
		}
		seen[k.Key], seen[k.Env] = true, true
		if want := "PUSHBOX_" + strings.ToUpper(strings.ReplaceAll(k.Key, ".", "_")); k.Env != want {
			t.Errorf("%s is %s, want %s", k.Key, k.Env, want)
		}
	}
}

// The example has the default and the allowed values of each.
func TestSectionsHaveOnlyTheirOwnSettings(t *testing.T) {
	t.Parallel()
	for _, k := range config.Keys() {
		section, name, _ := strings.Cut(k.Key, ".")
		if section == "url" && strings.Contains(name, "deletable") {
			t.Errorf("viewers never delete url pushes, but there is %s", k.Key)
		}
		if section != "files" && section != "policy" && (strings.Contains(name, "max_file") || name == "download_window") {
			t.Errorf("no other push carries files, but there is %s", k.Key)
		}
	}
}

// In ExecReload= of a unit, systemd names a directory of credentials that cannot be read.
func TestWhoNeedsNoKeyDoesNotLookForItsFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	env.OK(t, os.WriteFile(file, nil, 0o600))
	src := config.Source{Environ: []string{"CREDENTIALS_DIRECTORY=" + filepath.Join(file, "below")}}
	if _, err := config.Load(src); err == nil {
		t.Error("a credential that cannot be read is no error")
	}
	src.NoKey = true
	if l, err := config.Load(src); err != nil || l.Config.MasterKeyFile != "" {
		t.Errorf("without a need for the key: %v", err)
	}
}

// writeFile returns the name of a file with that text.
func writeFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pushbox.yaml")
	env.OK(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func mustLoad(t *testing.T, src config.Source) *config.Loaded {
	t.Helper()
	return env.Must(config.Load(src))(t)
}

// problems returns the problems of a source, one a line, without the directory of the
// file.
func problems(t *testing.T, src config.Source) []string {
	t.Helper()
	l, err := config.Load(src)
	var all *config.ProblemsError
	if !errors.As(err, &all) || len(all.Problems) == 0 || l != nil {
		t.Fatalf("Load = %v, %v; want problems", l, err)
	}
	dir := ""
	if src.File != "" {
		dir = filepath.Dir(src.File) + string(filepath.Separator)
	}
	return strings.Split(strings.ReplaceAll(err.Error(), dir, ""), "\n")
}

// wantProblem wants a source to have this problem alone.
func wantProblem(t *testing.T, src config.Source, want string) {
	t.Helper()
	if got := problems(t, src); len(got) != 1 || got[0] != want {
		t.Errorf("%q %q: %q, not %q", src.File, src.Environ, got, want)
	}
}

func valueOf(t *testing.T, l *config.Loaded, key string) config.Value {
	t.Helper()
	for _, v := range l.Values {
		if v.Key == key {
			return v
		}
	}
	t.Fatalf("there is no value of %s", key)
	return config.Value{}
}

func TestWithoutSettingsTheDefaultsHold(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, config.Source{Environ: []string{"HOME=/root", "pushbox_listen=x", "BROKEN", "XPUSHBOX_A=1"}})
	if !reflect.DeepEqual(l.Config, config.Default()) {
		t.Errorf("got %+v", l.Config)
	}
	for _, v := range l.Values {
		if v.Origin != "default" {
			t.Errorf("%s comes from %s", v.Key, v.Origin)
		}
	}
}

func TestTheExampleHasTheDefaults(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, config.Source{File: "../config.example.yaml"})
	text, err := os.ReadFile("../config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if !reflect.DeepEqual(l.Config, config.Default()) {
		t.Errorf("got %+v", l.Config)
	}
	for _, v := range l.Values {
		if v.Origin != "file ../config.example.yaml" {
			t.Errorf("%s is not in the example", v.Key)
		}
		name := v.Key[strings.LastIndexByte(v.Key, '.')+1:]
		if v.Line < 1 || v.Line > len(lines) || !strings.HasPrefix(strings.TrimSpace(lines[v.Line-1]), name+":") {
			t.Errorf("%s is not in line %d", v.Key, v.Line)
		}
	}
}

func TestLaterSourcesOverrideEarlierOnes(t *testing.T) {
	t.Parallel()
	name := writeFile(t, "log:\n  level: warn\n")
	environ := []string{"PUSHBOX_LOG_LEVEL=error"}
	flags := map[string]config.Flag{"log.level": {Name: "--log-level", Value: "debug"}}
	for _, test := range []struct {
		name        string
		src         config.Source
		level, from string
	}{
		{"nothing", config.Source{}, "info", "default"},
		{"file", config.Source{File: name}, "warn", "file " + name},
		{"environment", config.Source{Environ: environ}, "error", "environment PUSHBOX_LOG_LEVEL"},
		{"flag", config.Source{Flags: flags}, "debug", "flag --log-level"},
		{"file, environment", config.Source{File: name, Environ: environ}, "error", "environment PUSHBOX_LOG_LEVEL"},
		{"file, flag", config.Source{File: name, Flags: flags}, "debug", "flag --log-level"},
		{"environment, flag", config.Source{Environ: environ, Flags: flags}, "debug", "flag --log-level"},
		{"all", config.Source{File: name, Environ: environ, Flags: flags}, "debug", "flag --log-level"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := mustLoad(t, test.src)
			if got := valueOf(t, l, "log.level"); l.Config.Log.Level != test.level || got.Value != test.level || got.Origin != test.from || (got.Line > 0) != strings.HasPrefix(test.from, "file ") {
				t.Errorf("got %q and %+v, want %s from %s", l.Config.Log.Level, got, test.level, test.from)
			}
			if got := valueOf(t, l, "log.format"); got.Value != "auto" || got.Origin != "default" {
				t.Errorf("a neighbour changed: %+v", got)
			}
		})
	}
}

func TestAHigherSourceCanUnsetAValue(t *testing.T) {
	t.Parallel()
	name := writeFile(t, "base_url: https://a.example\ntrusted_proxies: [10.0.0.0/8]\nmaster_key_file: /k\nmaster_key: \"\"\n")
	l := mustLoad(t, config.Source{File: name, Environ: []string{
		"PUSHBOX_BASE_URL=", "PUSHBOX_TRUSTED_PROXIES=", "PUSHBOX_MASTER_KEY_FILE=", "PUSHBOX_MASTER_KEY=k",
	}})
	c := l.Config
	if c.BaseURL != "" || len(c.TrustedProxies) != 0 || c.MasterKeyFile != "" || c.MasterKey.Reveal() != "k" {
		t.Errorf("got %+v", c)
	}
}

func TestWhichFileIsRead(t *testing.T) {
	t.Parallel()
	one, two := writeFile(t, "listen: :1\n"), writeFile(t, "listen: :2\n")
	for _, test := range []struct {
		name   string
		src    config.Source
		listen string
	}{
		{"the flag's", config.Source{File: one}, ":1"},
		{"the environment's", config.Source{Environ: []string{"PUSHBOX_CONFIG=" + two}}, ":2"},
		{"the flag's before the environment's", config.Source{File: one, Environ: []string{"PUSHBOX_CONFIG=" + two}}, ":1"},
		{"the flag's before an unreadable one", config.Source{File: one, Environ: []string{"PUSHBOX_CONFIG=/nowhere/x"}}, ":1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			env.Equal(t, "listen is", mustLoad(t, test.src).Config.Listen, test.listen)
		})
	}
}

func TestNoFileIsReadUnlessItIsNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"pushbox.yaml", "config.yaml"} {
		env.OK(t, os.WriteFile(name, []byte("listen: :1\n"), 0o600))
	}
	t.Setenv("PUSHBOX_LISTEN", ":2") // only the caller's environment counts
	env.Equal(t, "listen is", mustLoad(t, config.Source{}).Config.Listen, config.Default().Listen)
}

func TestTheDataDirectoryIsKnownDespiteMistakesElsewhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want, wrong string
	}{
		{"", "./data", ""},
		{"data_dir: /srv/box\nlog: {level: loud}\nbox: 1\n", "/srv/box", ""},
		{"data_dir: \"\"\n", "", "data_dir"},
		{"data_dir: [a\n", "", "is not valid YAML"},
	} {
		got, err := config.DataDir(config.Source{File: writeFile(t, c.text)})
		if got != c.want || (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%q: %q, %v", c.text, got, err)
		}
	}
	got, err := config.DataDir(config.Source{Environ: []string{"PUSHBOX_DATA_DIR=/env"}, Flags: map[string]config.Flag{"data_dir": {Name: "--data-dir", Value: "/flag"}}})
	if got != "/flag" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}
