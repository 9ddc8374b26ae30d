package config

import "pushbox/internal/secret"

// check notes problems between settings. It leaves out settings that are wrong by
// themselves: one mistake is one problem.
func (l *loader) check(cfg Config) {
	for _, key := range []struct {
		of    secret.Text
		name  string
		other string
	}{
		{cfg.MasterKey, "master_key", cfg.MasterKeyFile},
		{cfg.DatabaseURL, "database_url", cfg.DatabaseURLFile},
		{cfg.Mail.Password, "mail.password", cfg.Mail.PasswordFile},
		{cfg.Webhooks.Secret, "webhooks.secret", cfg.Webhooks.SecretFile},
		{cfg.LDAP.BindPassword, "ldap.bind_password", cfg.LDAP.BindPasswordFile},
		{cfg.Metrics.Token, "metrics.token", cfg.Metrics.TokenFile},
	} {
		if !key.of.IsZero() && key.other != "" {
			l.relation(key.name, "cannot be given together with", key.name+"_file")
		}
	}
	if cfg.Limits.BodyMemory < cfg.Limits.MaxBody {
		l.relation("limits.body_memory", "must not be less than", "limits.max_body")
	}
	if cfg.Sessions.IdleTimeout > cfg.Sessions.MaxAge {
		l.relation("sessions.idle_timeout", "must not be greater than", "sessions.max_age")
	}
	l.checkTLS(cfg)
	l.checkListeners(cfg)
	l.checkWebhooks(cfg.Webhooks)
	l.checkSignIn(cfg)
	l.checkMail(cfg.Mail, cfg.BaseURL)
	l.checkLDAP(cfg.LDAP)
	l.checkTerms("pw", cfg.PW.Terms)
	l.checkTerms("url", cfg.URL)
	l.checkTerms("files", cfg.Files.Terms)
	l.checkTerms("qr", cfg.QR.Terms)
	l.checkPolicies(cfg)
}

func (l *loader) checkTerms(section string, t Terms) {
	l.checkRange(section+".expire_after_days_", t.ExpireAfterDaysDefault, t.ExpireAfterDaysMin, t.ExpireAfterDaysMax)
	l.checkRange(section+".expire_after_views_", t.ExpireAfterViewsDefault, t.ExpireAfterViewsMin, t.ExpireAfterViewsMax)
}

func (l *loader) checkRange(prefix string, initial, least, most int) {
	lower, upper := prefix+"min", prefix+"max"
	switch {
	case least > most:
		l.relation(lower, "must not be greater than", upper)
	case initial < least:
		l.relation(prefix+"default", "must not be less than", lower)
	case initial > most:
		l.relation(prefix+"default", "must not be greater than", upper)
	}
}

// relation notes a problem between a setting and others, with the place that each
// of the others comes from. One that was not given and is empty comes from none.
func (l *loader) relation(key, text string, others ...string) {
	wrong := l.wrong[key]
	for _, o := range others {
		wrong = wrong || l.wrong[o]
		text += " " + o
		if s := l.byKey[o]; l.given[o].place != OriginDefault || !s.isEmpty() {
			text += " (" + l.given[o].place + ")"
		}
	}
	if !wrong {
		l.problem(key, l.given[key].place, "%s", text)
	}
}
