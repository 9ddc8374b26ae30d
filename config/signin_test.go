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
