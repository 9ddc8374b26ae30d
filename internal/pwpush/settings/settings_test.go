package settings_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/pwpush/settings"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/golden"
)

// convert converts lines NAME=VALUE.
func convert(t *testing.T, text string) settings.Conversion {
	t.Helper()
	vars, notes, err := settings.Read(strings.NewReader(text))
	if err != nil || notes != nil {
		t.Fatal(notes, err)
	}
	return env.Must(settings.Convert(vars))(t)
}

// valueOf is the value of a setting; empty if it is not set.
func valueOf(c settings.Conversion, key string) string {
	for _, s := range c.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// remarkOn is the remark on a variable; empty if there is none.
func remarkOn(c settings.Conversion, name string) (text string, decide bool) {
	for _, r := range c.Remarks {
		if strings.Contains(", "+r.From+",", ", "+name+",") {
			return r.Text, r.Decide
		}
	}
	return "", false
}

func TestValuesAreConverted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, key, want string }{
		{"TLS_DOMAIN=a.example.com,b.example.com", "tls.acme.domains", `["a.example.com", "b.example.com"]`},
		{"TLS_DOMAIN=a.example.com\nPORT=5000", "listen", `":443"`},
		{"TLS_DOMAIN=a.example.com", "tls.redirect_listen", `":80"`},
		{"PORT=5000", "listen", `":5000"`},
		{"PORT=5000", "tls.redirect_listen", ""},
		{"PWP__HOST_DOMAIN=a.example.com", "base_url", `"https://a.example.com"`},
		{"PWP__HOST_DOMAIN=a.example.com\nPWP__HOST_PROTOCOL=http", "base_url", `"http://a.example.com"`},
		{"PWP__HOST_DOMAIN=a.example.com\nPWP__OVERRIDE_BASE_URL=https://b.example.com:8443", "base_url", `"https://b.example.com:8443"`},
		{"PWP__HOST_PROTOCOL=https", "base_url", ""},
		{"PWP__RELATIVE_ROOT=push/", "base_path", `"/push"`},
		{"PWP__ALLOWED_HOSTS=a.example.com .b.example.com", "allowed_hosts", `["a.example.com", "b.example.com", "*.b.example.com"]`},
		{"PWP__X=1", "trusted_proxies", `["::1/128", "127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "100.64.0.0/10"]`},
		{"PWP__ALLOW_ANONYMOUS=false", "allow_anonymous", "false"},
		{"PWP__X=1", "enable_signups", "true"},
		{"PWP__DISABLE_SIGNUPS=true", "enable_signups", "false"},
		{"PWP__DISABLE_SIGNUPS=false\nPWP__DISABLE_LOGINS=true", "enable_signups", "false"},
		{"PWP__ENABLE_LOGINS=false", "enable_signups", "false"},
		{"PWP__ENABLE_LOGINS=true", "enable_signups", "true"},
		{"PWP__DEFAULT_LOCALE=zh-CN", "default_locale", "zh"},
		{"PWP__DEFAULT_LOCALE=:de", "default_locale", "de"},
		{"PWP__PURGE_AFTER=disabled", "purge_after", "0"},
		{"PWP__PURGE_AFTER=3 months", "purge_after", "90d"},
		{"PWP__PURGE_AFTER=2 Years", "purge_after", "730d"},
		{"PWP__PURGE_AFTER=1 week", "purge_after", "7d"},
		{"PWP__X=1", "sessions.idle_timeout", "2h"},
		{"PWP__LOGIN_SESSION_TIMEOUT=15 minutes", "sessions.idle_timeout", "15m"},
		{"PWP__LOG_LEVEL=:fatal", "log.level", "error"},
		{"PWP__THROTTLING__MINUTE=60", "limits.anonymous_per_minute", "60"},
		{"PWP__X=1", "limits.anonymous_pushes", "0"},
		{"PWP__PW__EXPIRE_AFTER_DAYS_DEFAULT=3", "pw.expire_after_days_default", "3"},
		{"PWP__EXPIRE_AFTER_DAYS_DEFAULT=3", "pw.expire_after_days_default", "3"},
		{"PWP__PW__EXPIRE_AFTER_DAYS_MAX=3", "pw.expire_after_days_default", "3"},
		{"PWP__PW__EXPIRE_AFTER_DAYS_MAX=7", "pw.expire_after_days_default", ""},
		{"PWP__PW__EXPIRE_AFTER_VIEWS_MIN=6", "pw.expire_after_views_default", "6"},
		{"PWP__QR__EXPIRE_AFTER_VIEWS_DEFAULT=9\nPWP__QR__EXPIRE_AFTER_VIEWS_MAX=8", "qr.expire_after_views_default", "8"},
		{"PWP__pw__Expire_After_Days_Default=3", "pw.expire_after_days_default", "3"},
		{"PWP__RETRIEVAL_STEP_DEFAULT=false", "pw.retrieval_step_default", "false"},
	} {
		if got := valueOf(convert(t, c.text), c.key); got != c.want {
			t.Errorf("%q: %s is %s, not %s", c.text, c.key, got, c.want)
		}
	}
}

func TestMailIsConverted(t *testing.T) {
	t.Parallel()
	const (
		named  = "PWP__MAIL__SMTP_ADDRESS=mx.example.com\nPWP__MAIL__MAILER_SENDER=a@example.com\n"
		server = named + "PWP__HOST_DOMAIN=push.example.com\n"
	)
	for _, c := range []struct{ text, key, want string }{
		{server, "mail.host", `"mx.example.com"`},
		{named, "mail.host", ""},
		{server, "mail.daily_limit", "500"},
		{server, "mail.daily_limit_total", ""},
		{server, "mail.tls", "starttls"},
		{server + "PWP__NOTIFY_BY_EMAIL__ENABLED=false", "mail.host", ""},
		{server + "PWP__NOTIFY_BY_EMAIL__DAILY_LIMIT=2000", "mail.daily_limit_total", "2000"},
		{server + "PWP__NOTIFY_BY_EMAIL__DAILY_LIMIT=3", "mail.max_recipients", "3"},
		{server + "PWP__MAIL__SMTP_PORT=465", "mail.tls", "implicit"},
		{server + "PWP__MAIL__SMTP_ENABLE_STARTTLS_AUTO=false", "mail.tls", "cleartext"},
		{server + "PWP__MAIL__SMTP_ENABLE_STARTTLS_AUTO=false\nPWP__MAIL__SMTP_STARTTLS=true", "mail.tls", "starttls"},
		{strings.Replace(server, "mx.example.com", "127.0.0.1", 1) + "PWP__MAIL__SMTP_ENABLE_STARTTLS_AUTO=false", "mail.tls", "none"},
		{server + "PWP__MAIL__SMTP_USER_NAME=u\nPWP__MAIL__SMTP_PASSWORD=p", "mail.password_file", `"/etc/pushbox/mail.password"`},
		{server + "PWP__MAIL__SMTP_USER_NAME=u\nPWP__MAIL__SMTP_PASSWORD", "mail.user", `"u"`},
		{server + "PWP__MAIL__SMTP_PASSWORD=p", "mail.password_file", ""},
		{server + "PWP__MAIL__SMTP_USER_NAME=u", "mail.user", ""},
		{"PWP__MAIL__SMTP_ADDRESS=mx.example.com", "mail.host", ""},
	} {
		if got := valueOf(convert(t, c.text), c.key); got != c.want {
			t.Errorf("%q: %s is %s, not %s", c.text, c.key, got, c.want)
		}
	}
}

func TestRemarksSayWhatToDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, name, want string
		decide           bool
	}{
		{"PWP__THEME=cosmo", "PWP__THEME", "there is one look", false},
		{"PWP__BRAND__ICON_96x96=x", "PWP__BRAND__ICON_96X96", "icons", false},
		{"PWP__COLOUR=x", "PWP__COLOUR", "is not a variable of Password Pusher", true},
		{"PWP__ENABLE_QR_PUSHES=False", "PWP__ENABLE_QR_PUSHES", "is neither true nor false", true},
		{"PWP__DISABLE_SIGNUPS=1", "PWP__DISABLE_SIGNUPS", "is neither true nor false", true},
		{"PWP__BRAND__TITLE=${TITLE}", "PWP__BRAND__TITLE", "set brand.title yourself", true},
		{"PWP__DEFAULT_LOCALE=ru", "PWP__DEFAULT_LOCALE", "default_locale must be en, de", true},
		{"PWP__PW__EXPIRE_AFTER_DAYS_DEFAULT=often", "PWP__PW__EXPIRE_AFTER_DAYS_DEFAULT", "must be a whole number", true},
		{"PWP__PW__EXPIRE_AFTER_DAYS_MIN=300", "PWP__PW__EXPIRE_AFTER_DAYS_MIN", "must not be greater than", true},
		{"PWP__FILES__MAX_FILE_UPLOADS=100", "PWP__FILES__MAX_FILE_UPLOADS", "", false},
		{"PWP__FILES__MAX_FILE_UPLOADS=101", "PWP__FILES__MAX_FILE_UPLOADS", "must be from 1 to 100", true},
		{"PWP__PURGE_AFTER=soon", "PWP__PURGE_AFTER", "is not a time such as", true},
		{"PWP__PURGE_AFTER=100000 minutes", "PWP__PURGE_AFTER", "", false},
		{"PWP__PURGE_AFTER=100001 minutes", "PWP__PURGE_AFTER", "is not a time such as", true},
		{"PWP__CLOUDFLARE_PROXY=true", "PWP__CLOUDFLARE_PROXY", "add them to trusted_proxies", true},
		{"PWP__CLOUDFLARE_PROXY=false", "PWP__CLOUDFLARE_PROXY", "", false},
		{"PWP__MAIL__SMTP_ADDRESS=mx.example.com", "PWP__MAIL__SMTP_ADDRESS", "mail.from", true},
		{"PWP__MAIL__SMTP_USER_NAME=u\nPWP__MAIL__SMTP_ADDRESS=mx.example.com", "PWP__MAIL__SMTP_USER_NAME", "mail.password_file", true},
		{"PWP__MAIL__SMTP_USER_NAME=u", "PWP__MAIL__SMTP_USER_NAME", "", false},
		{"PWP__MAIL__SMTP_ADDRESS=mx.example.com\nPWP__NOTIFY_BY_EMAIL__ENABLED=false", "PWP__NOTIFY_BY_EMAIL__ENABLED", "sends no mail about accounts", false},
		{"PWP__MAIL__SMTP_OPENSSL_VERIFY_MODE=none", "PWP__MAIL__SMTP_OPENSSL_VERIFY_MODE", "mail.ca_file", true},
		{"PWP__SIGNUP_EMAIL_REGEXP=(?<!x)y", "PWP__SIGNUP_EMAIL_REGEXP", "must be a regular expression", true},
		{"PWP__THEME=", "PWP__THEME", "", false},
		{"PWP__HOST_DOMAIN=a.example.com", "PWP__HOST_DOMAIN", "list it in allowed_hosts", true},
		{"PWP__OVERRIDE_BASE_URL=https://a.example.com\nPWP__ALLOWED_HOSTS=b.example.com", "PWP__OVERRIDE_BASE_URL", "", false},
		{"PWP__ENABLE_USER_ACCOUNT_EMAILS=true", "PWP__ENABLE_USER_ACCOUNT_EMAILS", "mails links for new passwords", true},
		{"PWP__ENABLE_USER_ACCOUNT_EMAILS=false", "PWP__ENABLE_USER_ACCOUNT_EMAILS", "", false},
		{"DATABASE_URL=postgres://x", "DATABASE_URL", "(database_url)", false},
	} {
		text, decide := remarkOn(convert(t, c.text), c.name)
		if !strings.Contains(text, c.want) || (c.want == "") != (text == "") || decide != c.decide {
			t.Errorf("%q: the remark is %q (decide: %v)", c.text, text, decide)
		}
	}
}

// A variable whose value is refused can need a decision, too: the report says both.
func TestARefusedValueIsNamedBesideWhatIsToBeDecided(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, r := range convert(t, "PWP__OVERRIDE_BASE_URL=nonsense").Remarks {
		texts = append(texts, r.Text)
	}
	if all := strings.Join(texts, "\n"); len(texts) != 2 || !strings.Contains(all, "was left out: in pushbox base_url") || !strings.Contains(all, "allowed_hosts") {
		t.Errorf("the remarks are %q", texts)
	}
}

func TestNoKeyAndNoPasswordIsWritten(t *testing.T) {
	t.Parallel()
	const marker = "hunter2-marker"
	names := env.Read(t, "testdata/variables.txt")
	texts := map[string]bool{ // settings that show their text
		"PWP__BRAND__TITLE": true, "PWP__BRAND__TAGLINE": true, "PWP__BRAND__DISCLAIMER": true, "PWP__SIGNUP_EMAIL_REGEXP": true,
		"PWP__ALLOWED_HOSTS": true, "PWP__HOST_DOMAIN": true, "PWP__RELATIVE_ROOT": true, "PWP__MAIL__SMTP_ADDRESS": true, "PWP__MAIL__SMTP_USER_NAME": true,
		"TLS_DOMAIN": true, // it may be a host
	}
	for _, name := range append(strings.Fields(string(names)), "PWP__UNKNOWN", "OTHER") {
		c := convert(t, name+"="+marker+"\nPWP__MAIL__SMTP_ADDRESS=mx.example.com\nPWP__MAIL__MAILER_SENDER=a@example.com\nPWP__MAIL__SMTP_USER_NAME=u")
		var out bytes.Buffer
		env.Must(c.WriteTo(&out))(t)
		if strings.Contains(out.String(), marker) != texts[name] && name != "PWP__MAIL__SMTP_ADDRESS" && name != "PWP__MAIL__SMTP_USER_NAME" {
			t.Errorf("%s is shown: %v", name, !texts[name])
		}
	}
}

func TestAComposeFileBecomesASettingsFile(t *testing.T) {
	t.Parallel()
	f := env.Must(os.Open("testdata/compose.yml"))(t)
	t.Cleanup(func() { _ = f.Close() })
	vars, notes, err := settings.Read(f)
	env.OK(t, err)
	if len(notes) != 2 || !strings.Contains(notes[0], "worker also reads an env_file") || !strings.Contains(notes[1], "differ in PWP__LOG_LEVEL") {
		t.Errorf("the notes are %q", notes)
	}
	c := env.Must(settings.Convert(vars))(t)
	golden.File(t, "testdata/compose.golden.yaml", written(t, c))
	loads(t, c)
}

func written(t *testing.T, c settings.Conversion) string {
	t.Helper()
	var out bytes.Buffer
	if n, err := c.WriteTo(&out); err != nil || n != int64(out.Len()) {
		t.Fatal(n, err)
	}
	return out.String()
}

// loads fails the test unless the written settings load with the values of a conversion.
func loads(t *testing.T, c settings.Conversion) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "config.yaml")
	env.OK(t, os.WriteFile(name, []byte(written(t, c)), 0o600))
	loaded, err := config.Load(config.Source{File: name})
	if err != nil {
		t.Fatalf("%v\n%s", err, written(t, c))
	}
	n := 0
	for _, v := range loaded.Values {
		if v.Origin != "default" {
			n++
			if want := valueOf(c, v.Key); v.Value != want {
				t.Errorf("%s is %s, not %s", v.Key, v.Value, want)
			}
		}
	}
	if n != len(c.Settings) {
		t.Errorf("%d settings were loaded, not %d", n, len(c.Settings))
	}
}

// FuzzConvert checks that whatever can be read becomes settings that load.
func FuzzConvert(f *testing.F) {
	names := env.Read(f, "testdata/variables.txt")
	for _, value := range []string{"1", "true", "a.example.com", "2 hours", "'\"\\\n"} {
		f.Add(strings.Join(strings.Fields(string(names)), "="+value+"\n") + "=" + value)
	}
	compose := env.Read(f, "testdata/compose.yml")
	f.Add(string(compose))
	f.Fuzz(func(t *testing.T, text string) {
		vars, _, err := settings.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		c := env.Must(settings.Convert(vars))(t)
		loads(t, c)
	})
}
