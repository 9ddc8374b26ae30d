package config

import (
	"net/netip"
	"net/url"
	"reflect"
	"strings"

	"pushbox/internal/clientip"
	"pushbox/internal/secret"
)

// check notes problems between settings. It leaves out settings that are wrong by
// themselves: one mistake is one problem.
func (l *loader) check(cfg Config) {
	for _, s := range l.settings {
		if file, ok := l.byKey[s.Key+"_file"]; ok {
			both := !isEmpty(field(&cfg, s)) && !isEmpty(field(&cfg, file))
			l.relation(both, s.Key, "cannot be given together with", file.Key)
		}
	}
	l.relation(cfg.Limits.BodyMemory < cfg.Limits.MaxBody, "limits.body_memory", "must not be less than", "limits.max_body")
	l.relation(cfg.Files.AnonymousMaxSize > cfg.Files.MaxFileSize, "files.anonymous_max_size", "must not be greater than", "files.max_file_size")
	l.relation(cfg.Sessions.IdleTimeout > cfg.Sessions.MaxAge, "sessions.idle_timeout", "must not be greater than", "sessions.max_age")
	l.checkTLS(cfg)
	l.checkListeners(cfg)
	w := cfg.Webhooks
	l.relation(!w.URL.IsZero() && w.SecretFile == "" && w.Secret.IsZero(), "webhooks.url", "must not be given without", "webhooks.secret_file")
	l.relation(!w.URL.IsZero() && len(w.Events) == 0, "webhooks.url", "receives nothing without", "webhooks.events")
	l.checkSignIn(cfg)
	if cfg.Mail.Enabled() {
		l.checkMail(cfg.Mail, cfg.BaseURL)
	}
	if cfg.LDAP.Enabled() {
		l.checkLDAP(cfg.LDAP)
	}
	for _, k := range cfg.kindBounds() {
		t := k.terms
		l.checkRange(k.section+".expire_after_days_", t.ExpireAfterDaysDefault, t.ExpireAfterDaysMin, t.ExpireAfterDaysMax)
		l.checkRange(k.section+".expire_after_views_", t.ExpireAfterViewsDefault, t.ExpireAfterViewsMin, t.ExpireAfterViewsMax)
	}
	l.checkPolicies(cfg)
}

// relation notes a problem between a setting and others if isProblem is set, with the place
// that each of the others comes from. One that was not given and is empty comes from none.
func (l *loader) relation(isProblem bool, key, text string, others ...string) {
	if !isProblem || l.wrong[key] {
		return
	}
	for _, o := range others {
		if l.wrong[o] {
			return
		}
		text += " " + o
		if s := l.byKey[o]; l.given[o].place != OriginDefault || !isEmpty(reflect.ValueOf(s.initial)) {
			text += " (" + l.given[o].place + ")"
		}
	}
	l.problem(key, l.given[key].place, "%s", text)
}

func (l *loader) checkRange(prefix string, initial, least, most int) {
	lower, upper := prefix+"min", prefix+"max"
	l.relation(least > most, lower, "must not be greater than", upper)
	if least <= most {
		l.relation(initial < least, prefix+"default", "must not be less than", lower)
		l.relation(initial > most, prefix+"default", "must not be greater than", upper)
	}
}

// checkTLS notes settings of TLS that do not fit together: half a configuration
// must not end in plain HTTP.
func (l *loader) checkTLS(cfg Config) {
	const domains, directory = "tls.acme.domains", "tls.acme.directory_url"
	t := cfg.TLS
	hasCert, hasKey, byACME := t.CertFile != "", t.KeyFile != "", len(t.ACME.Domains) > 0
	l.relation(hasCert && !hasKey, "tls.cert_file", "cannot be given without", "tls.key_file")
	l.relation(hasKey && !hasCert, "tls.key_file", "cannot be given without", "tls.cert_file")
	l.relation(hasCert && hasKey && byACME, "tls.cert_file", "cannot be given together with", domains)
	own := t.ACME.DirectoryURL != l.byKey[directory].initial
	l.relation(!byACME && own, directory, "means nothing without "+domains)
	l.relation(!byACME && t.ACME.CAFile != "", "tls.acme.ca_file", "means nothing without "+domains)
	l.relation(!byACME && t.ACME.Email != "", "tls.acme.email", "means nothing without "+domains)
	lonely := t.RedirectListen != "" && !t.Enabled() && !hasKey
	l.relation(lonely, "tls.redirect_listen", "means nothing without tls.cert_file or "+domains)
	inForce := "tls.cert_file"
	if byACME {
		inForce = domains
	}
	l.relation(t.Enabled() && strings.HasPrefix(cfg.BaseURL, "http://"), "base_url", "must begin with https:// together with", inForce)
}

func (l *loader) checkListeners(cfg Config) {
	same := cfg.PublicListen == cfg.Listen && !strings.HasSuffix(cfg.Listen, ":0")
	l.relation(same, "public_listen", "must not be the same as", "listen")
	u, err := url.Parse(cfg.BaseURL)
	other := cfg.BaseURL != "" && err == nil && u.Path != cfg.BasePath
	l.relation(other && cfg.BasePath == "", "base_url", "has a path; set the same one as", "base_path")
	l.relation(other && cfg.BasePath != "", "base_url", "must end with "+cfg.BasePath+" as said by", "base_path")
}

func (l *loader) checkSignIn(cfg Config) {
	s := cfg.SignIn
	noWay := !s.Passwords && len(s.OIDC) == 0 && s.Proxy.Header == "" && !cfg.LDAP.Enabled()
	l.relation(noWay, "sign_in.passwords", "is false, so no account can sign in without", "sign_in.oidc")
	l.relation(s.Proxy.Header != "" && len(cfg.TrustedProxies) == 0, "sign_in.proxy.header", "counts only in requests of", "trusted_proxies")
	groups := s.Proxy.GroupsHeader == "" && len(s.Proxy.AllowedGroups)+len(s.Proxy.AdminGroups) > 0
	l.relation(groups, "sign_in.proxy.groups_header", "must be set together with", "sign_in.proxy.allowed_groups", "sign_in.proxy.admin_groups")
}

// checkMail notes problems of the mail settings. The links in mail must not come from a
// request: a sender could give them any host.
func (l *loader) checkMail(m Mail, baseURL string) {
	_, from := m.Sender()
	_, notIP := netip.ParseAddr(m.Host)
	odd := strings.ContainsAny(m.Host, " /@[]") || strings.Contains(m.Host, ":") && notIP != nil
	l.relation(baseURL == "", "mail.host", "needs the base address for links in mail: set", "base_url")
	l.relation(odd, "mail.host", "must be a host name or an address, without a port, which is", "mail.port")
	l.relation(m.From == "", "mail.from", "must be set together with", "mail.host")
	l.relation(m.From != "" && !from, "mail.from", "must be an address such as pushbox@example.com, for", "mail.host")
	l.checkLogin("mail.user", m.User, "mail.password", m.Password, m.PasswordFile)
	l.relation(m.TLS == MailNoTLS && !clientip.IsLoopback(m.Host), "mail.tls",
		"is none, which is only for a mail server on this machine; to send links unencrypted to another one, say cleartext:", "mail.host")
	l.relation(m.DailyLimit > m.DailyLimitTotal, "mail.daily_limit", "must not be greater than", "mail.daily_limit_total")
	l.relation(m.MaxRecipients > m.DailyLimit, "mail.max_recipients", "must not be greater than", "mail.daily_limit")
}

func (l *loader) checkLDAP(d LDAP) {
	isURL := strings.HasPrefix(d.URL, "ldap://") || strings.HasPrefix(d.URL, "ldaps://")
	l.relation(!isURL, "ldap.url", "must begin with ldaps:// or ldap://")
	l.relation(d.Base == "", "ldap.base", "must be set together with", "ldap.url")
	l.relation(len(d.LoginAttributes) == 0, "ldap.login_attributes", "must not be empty: it names the attribute that users type, for", "ldap.url")
	l.checkLogin("ldap.bind_dn", d.BindDN, "ldap.bind_password", d.BindPassword, d.BindPasswordFile)
}

func (l *loader) checkLogin(userKey, user, passwordKey string, password secret.Text, file string) {
	const together = "must be set together with"
	l.relation(user != "" && file == "" && password.IsZero(), passwordKey+"_file", together, userKey)
	l.relation(user == "" && file != "", userKey, together, passwordKey+"_file")
	l.relation(user == "" && !password.IsZero(), userKey, together, passwordKey)
}
