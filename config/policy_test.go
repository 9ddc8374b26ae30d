package config_test

import (
	"reflect"
	"strings"
	"testing"

	"pushbox/config"
)

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
		"policies: [{name: none}]":                                                                    "policies: entry 1 has a name that means an account without a policy",
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
