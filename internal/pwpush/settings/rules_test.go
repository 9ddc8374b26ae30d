package settings

import (
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

// own are the settings and sections of pushbox that no variable of Password Pusher decides.
var own = []string{
	"enable_api_v1", "api_v1_cors", "client_encryption", "enable_requests", "compat.", "require_mfa_tokens_from", "public_listen", "listen_mode", "create_networks", "security_contact", "data_dir", "database_url", "database_url_file", "master_key_file", "master_key", "tls.cert_file", "tls.key_file", "tls.hsts", "tls.hsts_subdomains",
	"tls.acme.directory_url", "tls.acme.ca_file", "tls.acme.email", "max_store_size", "backup.", "brand.logo_file", "brand.imprint", "brand.privacy", "brand.abuse", "reload_window", "log.format", "log.client", "privacy.", "metrics.",
	"limits.", "policy.", "policies", "sign_in.", "sessions.max_age", "webhooks.", "ldap.", "mail.password", "mail.ca_file", "mail.give_up", "mail.recipient_per_day", "files.max_file_size", "files.anonymous_max_size", "files.download_window",
}

func TestEverySettingHasARuleOrIsPushboxsOwn(t *testing.T) {
	t.Parallel()
	ruled, keys := make(map[string]bool), make(map[string]bool)
	for _, r := range rules() {
		if r.key != "" && ruled[r.key] {
			t.Errorf("%s has two rules", r.key)
		}
		ruled[r.key] = true
	}
	delete(ruled, "")
	for _, k := range config.Keys() {
		keys[k.Key] = true
		isOwn := slices.ContainsFunc(own, func(name string) bool {
			return name == k.Key || strings.HasSuffix(name, ".") && strings.HasPrefix(k.Key, name) && !slices.Contains([]string{"limits.anonymous_per_minute", "limits.anonymous_pushes"}, k.Key)
		})
		if isOwn == ruled[k.Key] {
			t.Errorf("%s: is pushbox's own %v, has a rule %v", k.Key, isOwn, ruled[k.Key])
		}
	}
	for key := range ruled {
		if !keys[key] {
			t.Errorf("there is a rule for %s, which is no setting", key)
		}
	}
}

// The file has the variables in Password Pusher's source, of all its versions from 1.30.
func TestEveryVariableOfPasswordPusherHasARule(t *testing.T) {
	t.Parallel()
	text := env.Read(t, "testdata/variables.txt")
	names, rules := strings.Fields(string(text)), known()
	for _, name := range names {
		if !rules[name] && !isIcon(strings.ToUpper(name)) {
			t.Errorf("no rule has %s", name)
		}
	}
	for name := range rules {
		if !slices.Contains(names, name) {
			t.Errorf("%s has a rule, and is no variable", name)
		}
	}
}

func TestARuleWithoutASettingSaysWhatPushboxDoes(t *testing.T) {
	t.Parallel()
	for _, r := range rules() {
		if r.key == "" && (r.says == "" || r.to != nil || r.initial != "") {
			t.Errorf("the rule of %v has no setting, and says %q", r.from, r.says)
		}
		if r.key != "" && r.decide {
			t.Errorf("the rule of %v has a setting, so there is nothing to decide", r.from)
		}
	}
}
