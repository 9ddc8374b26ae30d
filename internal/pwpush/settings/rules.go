package settings

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"pushbox/config"
)

// A rule converts a variable, or several that belong together.
type rule struct {
	from []string // the variables; none: Password Pusher has no such setting
	key  string   // the setting of pushbox; empty: there is none

	// A remark about the setting, or about pushbox's replacement of the variables.
	says   string
	decide bool // see Remark

	// Password Pusher's default, where pushbox has another one that people would notice.
	initial string

	// How to compute the setting from the variables. nil: the first given one unchanged, or else
	// initial.
	to convert

	// Whether the remark is needed. nil: always.
	when func(given) bool
}

// A convert returns the value of a setting from the variables of its rule, as a text that
// config reads. An empty one means that there is nothing to set.
type convert func(g given, from []string) (string, error)

func (r rule) value(g given) (string, error) {
	if r.to != nil {
		return r.to(g, r.from)
	}
	text, _ := g.first(r.from...)
	return cmp.Or(text, r.initial), nil
}

func (r rule) text(g given) string {
	if r.when != nil && !r.when(g) {
		return ""
	}
	return r.says
}

// rules is the table of all variables of Password Pusher. Settings are in the order of config's.
func rules() []rule {
	return slices.Concat(serverRules(), accessRules(), brandRules(), limitRules(), mailRules(),
		termRules("PW", "pw", true), termRules("URL", "url", false), termRules("FILES", "files", true), termRules("QR", "qr", true),
		fileRules(), keyRules(), lostRules())
}

func known() map[string]bool {
	all := make(map[string]bool)
	for _, r := range rules() {
		for _, name := range r.from {
			all[name] = true
		}
	}
	return all
}

// isIcon reports whether a variable names an icon. There are about twenty of them.
func isIcon(name string) bool {
	return strings.HasPrefix(name, "PWP__BRAND__ICON_") || strings.HasPrefix(name, "PWP__BRAND__MS_ICON_")
}

// byHand names the settings that a variable decides; empty: none, so that its value does not matter.
func byHand(name string) string {
	var keys []string
	for _, r := range rules() {
		if r.key != "" && slices.Contains(r.from, name) {
			keys = append(keys, r.key)
		}
	}
	if keys == nil {
		return ""
	}
	return "set " + strings.Join(keys, " and ") + " yourself"
}

func pwp(names ...string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = "PWP__" + name
	}
	return all
}

func serverRules() []rule {
	return []rule{
		{
			from: []string{"TLS_DOMAIN", "PORT"}, key: "listen", to: listen,
			says: "Port 443 and port 80 must be open to this machine, or to its container.", when: whenGiven("TLS_DOMAIN"),
		},
		{from: []string{"TLS_DOMAIN"}, key: "tls.redirect_listen", to: constant(":80")},
		{from: []string{"TLS_DOMAIN"}, key: "tls.acme.domains", says: "pushbox fetches the certificate, too. With this you accept the terms of the authority."},
		{
			from: pwp("OVERRIDE_BASE_URL", "HOST_DOMAIN", "HOST_PROTOCOL"), key: "base_url", to: baseURL,
		},
		{
			from: pwp("ALLOWED_HOSTS"), key: "allowed_hosts", to: allowedHosts,
			says: "Checks of this machine that use another name, such as localhost, need that name here.",
		},
		{
			from: pwp("OVERRIDE_BASE_URL", "HOST_DOMAIN"), when: whenNotGiven("PWP__ALLOWED_HOSTS"), decide: true,
			says: "requests for other hosts than that of base_url and this machine get 421, where Password Pusher takes every host: if programs use another name, list it in allowed_hosts",
		},
		{
			from: pwp("TRUSTED_PROXIES"), key: "trusted_proxies", to: trustedProxies, initial: privateNetworks,
			says: "Password Pusher trusts all private networks. If only your proxy is in this list, no other machine can pretend to be a client.",
		},
		{
			from: pwp("CLOUDFLARE_PROXY"), decide: true, when: whenTrue("PWP__CLOUDFLARE_PROXY"),
			says: "pushbox fetches no list of Cloudflare's networks: add them to trusted_proxies, or all clients of Cloudflare share one limit",
		},
		{from: []string{"FORCE_SSL"}, says: "pushbox tells browsers to stay with HTTPS where it has a certificate (tls.hsts); behind a proxy, the proxy does"},
		{from: []string{"PWP_PUBLIC_GATEWAY"}, decide: true, says: "one pushbox serves recipients alone at a second address: set public_listen, and do not start a second server"},
		{from: pwp("RELATIVE_ROOT"), key: "base_path", to: basePath},
	}
}

func accessRules() []rule {
	return []rule{
		{from: pwp("ALLOW_ANONYMOUS"), key: "allow_anonymous", to: boolean},
		{from: pwp("ENABLE_URL_PUSHES"), key: "enable_url_pushes", to: boolean},
		{from: pwp("ENABLE_QR_PUSHES"), key: "enable_qr_pushes", to: boolean},
		{from: pwp("ENABLE_FILE_PUSHES"), key: "enable_file_pushes", to: boolean},
		{
			from: pwp("DISABLE_SIGNUPS", "DISABLE_LOGINS", "ENABLE_LOGINS"), key: "enable_signups", to: signups, initial: "true",
			says: "Password Pusher lets people sign up unless it is told otherwise. Without this line only administrators make accounts.", when: whenNotGiven("PWP__DISABLE_SIGNUPS"),
		},
		{
			from: pwp("DISABLE_LOGINS"), when: whenTrue("PWP__DISABLE_LOGINS"),
			says: "the page to sign in stays; with public_listen, recipients have an address without it",
		},
		{from: pwp("SIGNUP_EMAIL_REGEXP"), key: "signup_email_regexp"},
		{from: pwp("REQUIRE_MFA"), key: "require_mfa", to: boolean},
		{from: pwp("DEFAULT_LOCALE"), key: "default_locale", to: locale},
		{from: pwp("PURGE_AFTER"), key: "purge_after", initial: "0", to: durationOr("0", "disabled")},
		{
			from: pwp("LOGIN_SESSION_TIMEOUT"), key: "sessions.idle_timeout", initial: "2h", to: durationOr("2h", ""),
		},
		{
			from: pwp("ENABLE_USER_ACCOUNT_EMAILS", "ENABLE_EMAIL_DEVISE_MODULES"), when: whenTrue("PWP__ENABLE_USER_ACCOUNT_EMAILS", "PWP__ENABLE_EMAIL_DEVISE_MODULES"), decide: true,
			says: "if mail.host is set, pushbox mails links for new passwords, and codes that confirm addresses. A new account can sign in before its address is confirmed, but sends no mail",
		},
	}
}

func brandRules() []rule {
	return []rule{
		{from: pwp("BRAND__TITLE"), key: "brand.title"},
		{from: pwp("BRAND__TAGLINE"), key: "brand.tagline"},
		{from: pwp("BRAND__DISCLAIMER"), key: "brand.footer"},
		{
			from: pwp("BRAND__LIGHT_LOGO", "BRAND__DARK_LOGO"), decide: true,
			says: "pushbox has one logo, from a file on this machine: name it in brand.logo_file",
		},
	}
}

func limitRules() []rule {
	return []rule{
		{from: pwp("LOG_LEVEL"), key: "log.level", to: logLevel},
		{
			key: "limits.anonymous_pushes", initial: "0",
			says: "Password Pusher lets a client without an account have any number of live pushes. pushbox's default is " + strconv.Itoa(config.Default().Limits.AnonymousPushes) +
				"; limits.anonymous_bytes and limits.anonymous_share also bound the space of such pushes.",
		},
		{from: pwp("THROTTLING__MINUTE"), key: "limits.anonymous_per_minute", says: "It counts anonymous clients; limits.token_per_minute is for those with a token."},
		{from: pwp("THROTTLING__SECOND", "THROTTLING__HOURLY", "THROTTLING__DAILY"), says: "limits are per minute: limits.anonymous_per_minute and limits.token_per_minute"},
	}
}
