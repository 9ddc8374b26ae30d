package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
)

// walked are values that settings are changed to, where they cannot be guessed.
// Numbers become 3, and switches are turned.
func walked(k config.Setting) string {
	special := map[string]string{
		"listen": "127.0.0.1:1", "data_dir": "/some/where", "default_locale": "de", "base_url": "https://push.example.com", "security_contact": "mailto:security@example.com", "brand.imprint": "https://example.com/imprint", "brand.privacy": "https://example.com/privacy", "brand.abuse": "mailto:abuse@example.com",
		"trusted_proxies": "[192.0.2.1]", "purge_after": "90d", "reload_window": "30s", "policy.reveal": "type", "max_store_size": "1MiB", "signup_email_regexp": `.+@example\.org`,
		"client_encryption": "off", "compat.edition": "commercial", "database_url": "postgres:///walked", "log.level": "error", "log.format": "console", "privacy.ipv4_prefix": "24", "privacy.ipv6_prefix": "48",
		"limits.max_body": "64KiB", "limits.body_memory": "1GiB", "limits.clients": "1000", "limits.downloads": "8", "limits.connections": "4000", "limits.min_free_space": "8388607TiB", "limits.anonymous_bytes": "1MiB", "limits.account_bytes": "1MiB",
		"limits.request_timeout": "5m", "limits.drain_timeout": "1m", "limits.stall_timeout": "5m",
		"files.max_file_size": "1KiB", "files.download_window": "1h",
		"public_listen": "127.0.0.1:2", "listen_mode": `"0600"`, "base_path": "/walked", "allowed_hosts": "[walked.example]",
		"tls.hsts": "1d", "mail.tls": "implicit", "mail.give_up": "1h", "mail.from": "push@walked.example", "metrics.listen": "127.0.0.1:3", "limits.stop_delay": "1m", "ldap.check_every": "1h", "webhooks.queue": "100", "webhooks.form": "slack", "webhooks.give_up": "1h", "backup.schedule": "24h", "backup.dir": "/some/where", "backup.recipients": "[age1abc]", "backup.after": "[/bin/true]",
		"sign_in.break_glass": "[ann@walked.example]",
		"policy.kinds":        "[text]", "policy.max_file_size": "1KiB", "files.anonymous_max_size": "1KiB", "policy.account_bytes": "1MiB", "policies": "[{name: walked, max_file_uploads: 1}]",
		"require_mfa_tokens_from": "2099-01-31", "sessions.idle_timeout": "2d", "sessions.max_age": "90d",
	}
	v, ok := special[k.Key]
	switch {
	case ok:
		return v
	case k.Default == "true":
		return "false"
	case k.Default == "false":
		return "true"
	case strings.HasSuffix(k.Key, "days_max"), strings.HasSuffix(k.Key, "views_max"):
		return "30"
	case strings.HasPrefix(k.Default, `"`):
		return `"Walked"`
	case strings.HasPrefix(k.Default, "["):
		return `["192.0.2.1"]`
	default:
		return "3"
	}
}

// together are settings that are not allowed without others, and a file that has both.
var together = map[string]string{
	"mail.host":                     "mail: {host: mail.example, from: push@walked.example}",
	"webhooks.url":                  "webhooks: {url: 'https://hooks.example/', secret_file: /s}",
	"webhooks.secret_file":          "webhooks: {url: 'https://hooks.example/', secret_file: /s}",
	"webhooks.events":               "webhooks: {events: [view]}",
	"webhooks.allow":                "webhooks: {allow: [10.1.0.0/16]}",
	"sign_in.passwords":             "sign_in: {passwords: false, proxy: {header: Remote-Email}}",
	"sign_in.oidc":                  "sign_in: {oidc: [{name: walked, issuer: 'https://id.walked.example', client_id: x}]}",
	"sign_in.proxy.header":          "sign_in: {proxy: {header: Remote-Email}}",
	"sign_in.proxy.groups_header":   "sign_in: {proxy: {groups_header: Remote-Groups}}",
	"sign_in.proxy.create_accounts": "sign_in: {proxy: {create_accounts: true}}",
	"sign_in.proxy.allowed_groups":  "sign_in: {proxy: {groups_header: Remote-Groups, allowed_groups: [a]}}",
	"sign_in.proxy.admin_groups":    "sign_in: {proxy: {groups_header: Remote-Groups, admin_groups: [a]}}",
	"tls.cert_file":                 "tls: {cert_file: /c.pem, key_file: /k.pem}",
	"tls.key_file":                  "tls: {cert_file: /c.pem, key_file: /k.pem}",
	"tls.redirect_listen":           "tls: {acme: {domains: [walked.example]}, redirect_listen: ':80'}",
	"tls.acme.domains":              "tls: {acme: {domains: [walked.example]}}",
	"tls.acme.directory_url":        "tls: {acme: {domains: [walked.example], directory_url: 'https://ca.example/directory'}}",
	"tls.acme.ca_file":              "tls: {acme: {domains: [walked.example], ca_file: /ca.pem}}",
	"tls.acme.email":                "tls: {acme: {domains: [walked.example], email: ann@walked.example}}",
	"ldap.url":                      "ldap: {url: 'ldaps://dc.walked.example', base: 'dc=walked,dc=example'}",
}

// yamlOf is a file that sets one key, and what has to come with it.
func yamlOf(key, value string) string {
	if all := together[key]; all != "" {
		return all + "\n"
	}
	if section, name, nested := strings.Cut(key, "."); nested {
		return section + ": {" + name + ": " + value + "}\n"
	}
	return key + ": " + value + "\n"
}

// unseen are the settings that no answer shows at once, each with the test or the reason
// that shows that it holds.
var unseen = map[string]string{
	"privacy.ipv4_prefix": "server: TestAddressesAreCutBeforeTheyAreKept", "privacy.ipv6_prefix": "server: TestAddressesAreCutBeforeTheyAreKept",
	"log.client":    "server: TestTheLogCanLeaveClientsOut",
	"reload_window": "server: TestAReloadShowsTheSameViewForAMoment", "purge_after": "store: TestOtherOptionsHoldAtOnce", "sessions.idle_timeout": "store: TestOtherOptionsHoldAtOnce",
	"allowed_hosts": "server: TestOnlyAllowedHostsAreAnswered", "require_mfa_tokens_from": "server: TestTokensHaveUntilADay",
	"log.level": "TestALevelChangesAtOnce", "limits.stall_timeout": "it is read of the configuration when a request begins",
	"limits.anonymous_per_minute": "TestAReloadDoesNotRenewAUsedLimit", "limits.token_per_minute": "TestAReloadDoesNotRenewAUsedLimit",
	"limits.unknown_tokens_per_minute": "TestAReloadDoesNotRenewAUsedLimit", "limits.passphrases_per_client": "TestAReloadDoesNotRenewAUsedLimit",
	"limits.passphrases_per_push": "TestAReloadDoesNotRenewAUsedLimit", "limits.sign_ins_per_client": "TestAReloadDoesNotRenewAUsedLimit",
	"limits.sign_ins_per_account": "TestAReloadDoesNotRenewAUsedLimit", "limits.passphrases_per_life": "store: TestALowerLimitOfWrongPassphrasesHoldsAtOnce",
	"limits.connections": "httpd: TestBoundsOfConnectionsCanBeChanged", "limits.connections_per_client": "httpd: TestBoundsOfConnectionsCanBeChanged",
	"limits.anonymous_pushes": roomTest, "limits.anonymous_bytes": roomTest, "limits.anonymous_share": roomTest, "limits.account_pushes": roomTest, "limits.account_bytes": roomTest, "policy.account_pushes": roomTest, "policy.account_bytes": roomTest,
	"policy.enable_mail": "store: TestAPolicyThatTheSettingsLackIsNone", "policy.reveal": "server: TestAPolicyCanAskForTypedNumbers", "policies": "TestGroupsOfTheDirectoryDecideThePolicy",
	"limits.passphrase_queue": "store: TestAQueueCanBeMadeShorterAndLonger", "limits.downloads": "server: TestSlotsCanBeMadeFewerAndMore",
}

const roomTest = "store: TestRoomIsBoundedAnewAtOnce"

// plain is the configuration in which the walk changes one setting at a time.
const plain = "enable_signups: true\n"

// TestEverySettingIsAppliedOrNamed changes each setting and reloads: either the
// server is another one from then on, or the setting is named as waiting for a
// restart and nothing has changed.
func TestEverySettingIsAppliedOrNamed(t *testing.T) {
	t.Parallel()
	l := live(t, plain)
	l.account()
	for i, k := range config.Keys() {
		value := walked(k)
		if k.Key == "brand.logo_file" {
			value = l.logo()
		}
		ground := plain
		if k.Key == "mail.host" { // which needs it
			ground += "base_url: http://walked.example\n"
		}
		text := ground + yamlOf(k.Key, value)
		if k.Key == "enable_signups" {
			text = "enable_signups: false\n"
		}
		l.mustReload(ground)
		seen := unseen[k.Key] == "" && (env.Long() || i%8 == 0) // elsewhere what the parts hear must do
		base, before := l.heard, l.lookIf(seen, k.Key)
		out := l.mustReload(text)
		after := l.lookIf(seen, k.Key)
		switch {
		case k.Reload:
			if !slices.Equal(out.Changed, []string{k.Key}) || len(out.Waiting) != 0 {
				t.Errorf("%s: changed %q, waiting %q", k.Key, out.Changed, out.Waiting)
			}
			if reflect.DeepEqual(l.heard, base) || seen && before == after {
				t.Errorf("%s: %s changes nothing:\n%s", k.Key, value, after)
			}
		default:
			alone := slices.Equal(out.Waiting, []string{k.Key}) || together[k.Key] != "" && slices.Contains(out.Waiting, k.Key)
			if !alone || len(out.Changed) != 0 {
				t.Errorf("%s: changed %q, waiting %q", k.Key, out.Changed, out.Waiting)
			}
			if !reflect.DeepEqual(l.heard, base) || before != after {
				t.Errorf("%s: something has changed before a restart", k.Key)
			}
		}
	}
}

// lookIf is look, or nothing.
func (l *living) lookIf(seen bool, key string) string {
	l.t.Helper()
	if !seen {
		return ""
	}
	return l.look(key)
}

func (l *living) logo() string {
	l.t.Helper()
	name := filepath.Join(l.t.TempDir(), "logo.png")
	env.OK(l.t, os.WriteFile(name, []byte("\x89PNG"), 0o600))
	return `"` + name + `"`
}

var changing = regexp.MustCompile(`[a-z2-7]{34}|"(created|updated)_at":"[^"]*"|20\d\d-[0-9T:.Z-]+|expires_on":"[^"]*"`)

// look returns what a client can see of the part of the server that a key is about,
// without tokens and times.
func (l *living) look(key string) string {
	l.t.Helper()
	var b strings.Builder
	see := func(status int, text string) {
		fmt.Fprintln(&b, status, changing.ReplaceAllString(text, "X"))
	}
	section, _, _ := strings.Cut(key, ".")
	switch key {
	case "signup_email_regexp":
		see(l.ask("POST", "/users/sign_up", "email=bob@example.com&password=correct+horse+battery"))
	case "trusted_proxies": // the one request that is counted: it shows a proxy
		see(l.ask("POST", "/api/v2/pushes", "push[payload]=x", "X-Forwarded-Proto: https"))
	case "max_store_size", "limits.max_body", "limits.min_free_space":
		see(l.ask("POST", "/api/v2/pushes", "push[payload]="+strings.Repeat("x", 1<<20)))
	case "require_mfa", "sessions.max_age":
		_, cookie := l.ask("POST", "/users/sign_in", "email="+alice+"&password=correct+horse+battery")
		see(0, regexp.MustCompile(`Expires=\w+, \d+ \w+ \d+`).FindString(cookie))
		see(l.ask("GET", "/p", "", "Cookie: "+regexp.MustCompile(`\w+=\w+`).FindString(cookie)))
	case "enable_api_v1", "api_v1_cors":
		see(l.ask("OPTIONS", "/p.json", "", "Origin: https://example.com"))
	case "files.download_window":
		_, made := l.upload(1, 1)
		see(l.ask("POST", "/p/"+regexp.MustCompile(`[a-z2-7]{34}`).FindString(made), "x=x"))
	case "security_contact":
		see(l.ask("GET", "/.well-known/security.txt", ""))
	default:
		switch section {
		case "pw", "url", "qr", "files":
			l.lookAtTerms(section, see)
		default:
			see(l.ask("GET", "/api/v2/version", ""))
			see(l.ask("GET", "/", ""))
			see(l.ask("GET", "/users/sign_up", ""))
			see(l.ask("POST", "/api/v2/pushes", "push[payload]=x"))
		}
	}
	return b.String()
}

// lookAtTerms pushes something of the section's kind, at each bound of the terms
// and without asking for anything.
func (l *living) lookAtTerms(section string, see func(int, string)) {
	l.t.Helper()
	kind := map[string]string{"pw": "text", "url": "url", "qr": "qr"}[section]
	for _, fields := range [][]string{
		nil,
		{"push[expire_after_days]", "90"},
		{"push[expire_after_views]", "100"},
		{"push[expire_after_days]", "1", "push[expire_after_views]", "1", "push[retrieval_step]", "true", "push[deletable_by_viewer]", "true"},
	} {
		if section == "files" {
			see(l.upload(1, 1, fields...))
			continue
		}
		form := "push[kind]=" + kind + "&push[payload]=https://example.com"
		for i := 0; i < len(fields); i += 2 {
			form += "&" + fields[i] + "=" + fields[i+1]
		}
		see(l.api("POST", "/api/v2/pushes", form))
	}
	if section == "files" {
		see(l.upload(4, 1))
		see(l.upload(1, 2000))
	}
}
