package config_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

const offices = `
sign_in:
  break_glass: [Root@Example.com]
  oidc:
    - name: office
      title: "Example, Inc."
      issuer: https://id.example.com/realms/office
      client_id: pushbox
      client_secret_file: /run/secrets/office
      allowed_domains: [example.com]
      admin_groups: ["push, admins"]
      link_by_email: true
    - {name: lab-2, issuer: "http://127.0.0.1:9000", client_id: "42", scopes: [email], groups_claim: ""}
`

func TestProvidersAreReadFromFileAndEnvironmentAndPrinted(t *testing.T) {
	t.Parallel()
	want := []config.OIDC{{
		Name: "office", Title: "Example, Inc.", Issuer: "https://id.example.com/realms/office", ClientID: "pushbox", ClientSecretFile: "/run/secrets/office",
		Scopes: []string{"profile", "email"}, AllowedDomains: []string{"example.com"}, GroupsClaim: "groups", AllowedGroups: []string{}, AdminGroups: []string{"push, admins"},
		LinkByEmail: true,
	}, {
		Name: "lab-2", Issuer: "http://127.0.0.1:9000", ClientID: "42",
		Scopes: []string{"email"}, AllowedDomains: []string{}, AllowedGroups: []string{}, AdminGroups: []string{},
	}}
	l := mustLoad(t, config.Source{File: writeFile(t, offices)})
	if got := l.Config.SignIn.OIDC; !reflect.DeepEqual(got, want) {
		t.Errorf("from a file:\n%+v\nwant\n%+v", got, want)
	}
	if got := l.Config.SignIn.BreakGlass; !reflect.DeepEqual(got, []string{"root@example.com"}) {
		t.Errorf("break_glass: %q", got)
	}
	if want[0].Shown() != "Example, Inc." || want[1].Shown() != "lab-2" {
		t.Error("pages call them otherwise")
	}
	printed := valueOf(t, l, "sign_in.oidc").Value
	again := mustLoad(t, config.Source{Environ: []string{"PUSHBOX_SIGN_IN_OIDC=" + printed}})
	if got := again.Config.SignIn.OIDC; !reflect.DeepEqual(got, want) {
		t.Errorf("from the environment, %s:\n%+v", printed, got)
	}
	wantSameAgain(t, l, writeFile(t, ""))
	json := `[{"name":"a","issuer":"https://id.example.com","client_id":"x","create_accounts":true}]`
	if got := mustLoad(t, config.Source{Environ: []string{"PUSHBOX_SIGN_IN_OIDC=" + json}}).Config.SignIn.OIDC; len(got) != 1 || !got[0].CreateAccounts {
		t.Errorf("from JSON: %+v", got)
	}
}

func TestAMistakeInAProviderIsNamed(t *testing.T) {
	t.Parallel()
	const one = "name: a, issuer: 'https://id.example.com', client_id: x"
	for text, want := range map[string]string{
		"{}":                                    "must be a list of providers, each with name, issuer and client_id",
		"text":                                  "must be a list of providers, each with name, issuer and client_id",
		"[text]":                                "entry 1 must have keys with values",
		"[{name: a}]":                           "entry 1 must have issuer",
		"[{" + one + ", isuer: b}]":             "entry 1 has isuer, which is not a setting; did you mean issuer?",
		"[{" + one + ", name: b}]":              "entry 1 has name twice",
		"[{" + one + "}, {" + one + "}]":        "entry 2 has the name of another one",
		"[{" + one + ", title: [b]}]":           "entry 1 has title, which must be text",
		"[{" + one + ", link_by_email: maybe}]": "entry 1 has link_by_email, which must be true or false",
		"[{" + one + ", scopes: ['a b']}]":      "entry 1 has scopes, which entry 1 must be a word",
		"[{" + one + ", client_secret: " + marker + ", client_secret_file: f}]":         "entry 1 has both client_secret and client_secret_file",
		"[{name: 'a b', issuer: x, client_id: x}]":                                      "entry 1 has name, which must be a word of at most 32 letters from a to z, digits and dashes",
		"[{name: a, issuer: 'http://id.example.com', client_id: x}]":                    "entry 1 has issuer, which must begin with https://",
		"[{name: a, issuer: 'https://id.example.com/?x=" + marker + "', client_id: x}]": "entry 1 has issuer, which must be a URL such as https://id.example.com, without a query",
		"[{name: a, issuer: '" + marker + "', client_id: x}]":                           "entry 1 has issuer, which must be a URL such as https://id.example.com, without a query",
	} {
		for _, src := range []config.Source{{File: writeFile(t, "sign_in: {oidc: "+text+"}")}, {Environ: []string{"PUSHBOX_SIGN_IN_OIDC=" + text}}} {
			got := problems(t, src)
			if len(got) != 1 || !strings.HasPrefix(got[0], "sign_in.oidc (") || !strings.HasSuffix(got[0], "): "+want) || strings.Contains(got[0], marker) {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		}
	}
}

func TestTheSecretOfAProviderIsNeverShown(t *testing.T) {
	t.Parallel()
	l := mustLoad(t, config.Source{File: writeFile(t, "sign_in: {oidc: [{name: a, issuer: 'https://id.example.com', client_id: x, client_secret: "+marker+"}]}")})
	if l.Config.SignIn.OIDC[0].ClientSecret.Reveal() != marker {
		t.Error("the secret did not arrive")
	}
	var out strings.Builder
	env.OK(t, l.Print(&out))
	fmt.Fprintf(&out, "%+v %#v %v", l, l.Config, l.Values)
	if strings.Contains(out.String(), marker) || !strings.Contains(out.String(), "client_secret: [redacted]") {
		t.Errorf("the secret was shown:\n%s", out.String())
	}
	name := writeFile(t, "")
	env.OK(t, os.WriteFile(name, []byte("sign_in:\n  oidc: "+valueOf(t, l, "sign_in.oidc").Value), 0o600))
	if got := problems(t, config.Source{File: name}); len(got) != 1 || !strings.HasSuffix(got[0], "has client_secret, which must be text") {
		t.Errorf("a printed secret: %q", got)
	}
}

func TestWaysToSignInFitTogether(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"sign_in: {passwords: false}":                                   "sign_in.passwords",
		"sign_in: {proxy: {header: Remote-Email}}\ntrusted_proxies: []": "sign_in.proxy.header",
		"sign_in: {proxy: {header: Remote-Email, admin_groups: [a]}}":   "sign_in.proxy.groups_header",
		"sign_in: {proxy: {header: 'Remote Email'}}":                    "sign_in.proxy.header",
		"sign_in: {break_glass: [nobody]}":                              "sign_in.break_glass",
	} {
		if got := problems(t, config.Source{File: writeFile(t, text)}); len(got) != 1 || !strings.HasPrefix(got[0], want+" (") {
			t.Errorf("%s: %q", text, got)
		}
	}
	mustLoad(t, config.Source{File: writeFile(t, "sign_in: {passwords: false, break_glass: [a@example.com], proxy: {header: Remote-Email, groups_header: Remote-Groups, allowed_groups: [a]}}")})
}

func TestSettingsThatMailNeeds(t *testing.T) {
	t.Parallel()
	const host, from, base = "PUSHBOX_MAIL_HOST=mail.example.com", "PUSHBOX_MAIL_FROM=push@example.com", "PUSHBOX_BASE_URL=https://push.example.com"
	_, without := config.Load(config.Source{Environ: []string{host, from}})
	if without == nil || !strings.Contains(without.Error(), "mail.host") || !strings.Contains(without.Error(), "base_url") {
		t.Errorf("without base_url: %v", without)
	}
	for name, test := range map[string]struct {
		environ []string
		want    string // the key and some words of its problem; empty: there is none
	}{
		"nothing":                    {[]string{"PUSHBOX_MAIL_USER=push", "PUSHBOX_MAIL_TLS=none"}, ""},
		"host and sender":            {[]string{host, from}, ""},
		"a sender with a name":       {[]string{host, "PUSHBOX_MAIL_FROM=Push ü <push@example.com>"}, ""},
		"no sender":                  {[]string{host}, "mail.from must be set"},
		"a sender without a host":    {[]string{host, "PUSHBOX_MAIL_FROM=push"}, "mail.from must be an address"},
		"two senders":                {[]string{host, "PUSHBOX_MAIL_FROM=a@example.com, b@example.com"}, "mail.from must be an address"},
		"a port with the host":       {[]string{"PUSHBOX_MAIL_HOST=mail.example.com:25", from}, "mail.host must be a host name"},
		"an IPv6 address":            {[]string{"PUSHBOX_MAIL_HOST=2001:db8::1", from}, ""},
		"a user without a password":  {[]string{host, from, "PUSHBOX_MAIL_USER=push"}, "mail.password_file must be set"},
		"a password without a user":  {[]string{host, from, "PUSHBOX_MAIL_PASSWORD_FILE=f"}, "mail.user must be set"},
		"both":                       {[]string{host, from, "PUSHBOX_MAIL_USER=push", "PUSHBOX_MAIL_PASSWORD_FILE=f"}, ""},
		"none, to another machine":   {[]string{host, from, "PUSHBOX_MAIL_TLS=none"}, "mail.tls is none"},
		"none, to this one":          {[]string{"PUSHBOX_MAIL_HOST=127.0.0.1", from, "PUSHBOX_MAIL_TLS=none"}, ""},
		"none, to this one by name":  {[]string{"PUSHBOX_MAIL_HOST=localhost", from, "PUSHBOX_MAIL_TLS=none"}, ""},
		"clear text":                 {[]string{host, from, "PUSHBOX_MAIL_TLS=cleartext"}, ""},
		"more for one than for all":  {[]string{host, from, "PUSHBOX_MAIL_DAILY_LIMIT=1001"}, "mail.daily_limit must not be greater"},
		"more at once than in a day": {[]string{host, from, "PUSHBOX_MAIL_DAILY_LIMIT=4"}, "mail.max_recipients must not be greater"},
	} {
		src := config.Source{Environ: append(test.environ, base)}
		if test.want == "" {
			mustLoad(t, src)
			continue
		}
		key, words, _ := strings.Cut(test.want, " ")
		if got := problems(t, src); len(got) != 1 || !strings.HasPrefix(got[0], key+" (") || !strings.Contains(got[0], words) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestThePortOfTheMailServer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tls        string
		port, want int
	}{
		{config.MailStartTLS, 0, 587},
		{config.MailImplicit, 0, 465},
		{config.MailNoTLS, 0, 25},
		{config.MailCleartext, 0, 25},
		{config.MailStartTLS, 2525, 2525},
	} {
		if got := (config.Mail{TLS: test.tls, Port: test.port}).PortInUse(); got != test.want {
			t.Errorf("%s with %d: %d", test.tls, test.port, got)
		}
	}
}

func TestPoliciesAreReadFromFileAndEnvironmentAndPrinted(t *testing.T) {
	t.Parallel()
	text := `
policy: {require_passphrase: true, expire_after_days_max: 30}
policies:
  - {name: finance, groups: [finance, "cn=finance,dc=example"], kinds: [text, file], require_encryption: true, max_file_size: 5MiB}
  - {name: long-term, require_passphrase: false, expire_after_days_max: 90}
`
	want := []config.NamedPolicy{
		{Name: "finance", Groups: []string{"finance", "cn=finance,dc=example"}, Policy: config.Policy{Kinds: []string{"text", "file"}, RequireEncryption: config.On, MaxFileSize: 5 << 20}},
		{Name: "long-term", Groups: []string{}, Policy: config.Policy{Kinds: []string{}, RequirePassphrase: config.Off, ExpireAfterDaysMax: 90}},
	}
	l := mustLoad(t, config.Source{File: writeFile(t, text)})
	if !reflect.DeepEqual(l.Config.Policies, want) {
		t.Errorf("from a file:\n%+v\nwant\n%+v", l.Config.Policies, want)
	}
	printed := valueOf(t, l, "policies").Value
	again := mustLoad(t, config.Source{Environ: []string{"PUSHBOX_POLICIES=" + printed, "PUSHBOX_POLICY_REQUIRE_PASSPHRASE=yes", "PUSHBOX_POLICY_ENABLE_MAIL="}})
	if !reflect.DeepEqual(again.Config.Policies, want) || again.Config.Policy.RequirePassphrase != config.On || again.Config.Policy.EnableMail != config.On {
		t.Errorf("from the environment, %s:\n%+v, %+v", printed, again.Config.Policies, again.Config.Policy)
	}
	wantSameAgain(t, l, writeFile(t, ""))
}

// What a policy leaves open is as for all.
func TestAPolicyHasWhatItLeavesOpenFromThatOfAll(t *testing.T) {
	t.Parallel()
	all := config.Policy{Kinds: []string{"text"}, RequirePassphrase: config.On, RequireEncryption: config.Off, EnableMail: config.Off, ExpireAfterDaysDefault: 1, ExpireAfterDaysMax: 2, ExpireAfterViewsDefault: 3, ExpireAfterViewsMax: 4, MaxFileUploads: 5, MaxFileSize: 6, AccountPushes: 7, AccountBytes: 8}
	if got := (config.Policy{Kinds: []string{}}).Over(all); !reflect.DeepEqual(got, all) {
		t.Errorf("nothing of its own: %+v", got)
	}
	own := config.Policy{Kinds: []string{"url"}, RequirePassphrase: config.Off, RequireEncryption: config.On, EnableMail: config.On, ExpireAfterDaysDefault: 11, ExpireAfterDaysMax: 12, ExpireAfterViewsDefault: 13, ExpireAfterViewsMax: 14, MaxFileUploads: 15, MaxFileSize: 16, AccountPushes: 17, AccountBytes: 18}
	if got := own.Over(all); !reflect.DeepEqual(got, own) {
		t.Errorf("all of its own: %+v", got)
	}
}

func TestAMistakeInAPolicyIsNamed(t *testing.T) {
	t.Parallel()
	const named = "policies: [{name: a, "
	for text, want := range map[string]string{
		"policies: [{groups: [a]}]":                                                                   "policies: entry 1 must have name",
		"policies: [{name: none}]":                                                                    "policies: entry 1 has a name that is reserved for accounts without a policy",
		"policies: [{name: a}, {name: a}]":                                                            "policies: entry 2 has the name of another one",
		named + "kinds: [mail]}]":                                                                     "policies: entry 1 has kinds, which entry 1 must be text, file, url or qr",
		named + "require_passphrase: maybe}]":                                                         "policies: entry 1 has require_passphrase, which must be true or false",
		named + "expire_after_days_max: 91}]":                                                         "policies: has the policy a, whose expire_after_days_max must not be greater than pw.expire_after_days_max (default)",
		named + "expire_after_days_max: 90}]":                                                         "",
		named + "expire_after_days_default: 91}]":                                                     "policies: has the policy a, whose expire_after_days_default must not be greater than pw.expire_after_days_max (default)",
		named + "expire_after_days_max: 3, expire_after_days_default: 4}]":                            "policies: has the policy a, whose expire_after_days_default must not be greater than its expire_after_days_max",
		named + "expire_after_days_max: 3, expire_after_days_default: 3}]":                            "",
		"pw: {expire_after_days_min: 4}\n" + named + "expire_after_days_max: 3}]":                     "policies: has the policy a, whose expire_after_days_max must not be less than pw.expire_after_days_min",
		"pw: {expire_after_days_min: 3}\n" + named + "expire_after_days_max: 3}]":                     "",
		"files: {expire_after_days_max: 10}\n" + named + "expire_after_days_max: 20}]":                "",
		"files: {expire_after_days_max: 10}\n" + named + "kinds: [file], expire_after_days_max: 20}]": "policies: has the policy a, whose expire_after_days_max must not be greater than files.expire_after_days_max",
		named + "expire_after_views_max: 101}]":                                                       "policies: has the policy a, whose expire_after_views_max must not be greater than pw.expire_after_views_max (default)",
		named + "max_file_uploads: 11}]":                                                              "policies: has the policy a, whose max_file_uploads must not be greater than files.max_file_uploads (default)",
		named + "max_file_uploads: 10}]":                                                              "",
		named + "max_file_size: 2GiB}]":                                                               "policies: has the policy a, whose max_file_size must not be greater than files.max_file_size (default)",
		named + "account_pushes: 1000000}]":                                                           "",
		"limits: {account_pushes: 5}\n" + named + "account_pushes: 6}]":                               "policies: has the policy a, whose account_pushes must not be greater than limits.account_pushes",
		"limits: {account_pushes: 5}\n" + named + "account_pushes: 5}]":                               "",
		"limits: {account_bytes: 1MiB}\n" + named + "account_bytes: 2MiB}]":                           "policies: has the policy a, whose account_bytes must not be greater than limits.account_bytes",
		"enable_qr_pushes: false\n" + named + "kinds: [qr]}]":                                         "policies: has the policy a, whose kinds must not have qr because of enable_qr_pushes",
		named + "kinds: [url], require_encryption: true}]":                                            "policies: has the policy a, whose kinds must not have url, which cannot be encrypted, where encryption is required",
		"client_encryption: off\n" + named + "require_encryption: true}]":                             "policies: has the policy a, whose require_encryption cannot be true because of client_encryption",
		"policy: {max_file_size: 2GiB}\npolicies: [{name: a}]":                                        "policy.max_file_size: must not be greater than files.max_file_size (default)",
		"policy: {expire_after_days_max: 7}\n" + named + "expire_after_days_max: 90}]":                "",
	} {
		src := config.Source{File: writeFile(t, text)}
		if want == "" {
			mustLoad(t, src)
			continue
		}
		got := problems(t, src)
		key, message, _ := strings.Cut(want, ": ")
		if len(got) != 1 || !strings.HasPrefix(got[0], key+" (") || !strings.Contains(got[0], "): "+message) {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}
