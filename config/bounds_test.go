package config_test

import (
	"strings"
	"testing"

	"pushbox/config"
)

type bounds struct {
	good, bad []string
	want      string // the problem of the bad values
}

// allBounds has both sides of every bound, as figures of its own.
func allBounds() map[string]bounds {
	atMost := func(most, over string) bounds {
		return bounds{[]string{"1", most}, []string{"-1", "0", over}, "must be from 1 to " + most}
	}
	orOff := bounds{[]string{"0", "1", "1000000"}, []string{"-1", "1000001"}, "must be 0 or from 1 to 1000000"}
	all := map[string]bounds{
		"reload_window":                    {[]string{"0", "0s", "1s", "10m"}, []string{"999ms", "10m1s"}, "must be 0 or from 1s to 10m"},
		"purge_after":                      {[]string{"0", "0s", "1h", "36500d"}, []string{"59m59s", "1s"}, "must be 0 or at least 1h"},
		"max_store_size":                   {[]string{"0", "1MiB", "8388607TiB"}, []string{"1", "1048575"}, "must be 0 or at least 1MiB"},
		"backup.schedule":                  {[]string{"0", "1h", "24h", "366d"}, []string{"59m59s", "366d1ns"}, "must be 0 or from 1h to 366d"},
		"backup.keep":                      atMost("10000", "10001"),
		"backup.recipients":                {[]string{"", "age1qz,age1pq1qz"}, []string{"age1", "age1B", "AGE-SECRET-KEY-1X", "age1q,,age1q"}, "entry "},
		"limits.min_free_space":            {[]string{"0", "1", "8388607TiB"}, []string{"-1"}, "must not be negative"},
		"limits.max_body":                  {[]string{"64KiB", "64MiB"}, []string{"0", "65535", "67108865"}, "must be from 64KiB to 64MiB"},
		"limits.body_memory":               {[]string{"64KiB", "8388607TiB"}, []string{"0", "65535"}, "must be at least 64KiB"},
		"limits.anonymous_pushes":          orOff,
		"limits.anonymous_bytes":           {[]string{"0", "1MiB", "8388607TiB"}, []string{"1", "1048575"}, "must be 0 or at least 1MiB"},
		"limits.anonymous_share":           {[]string{"0", "1", "100"}, []string{"-1", "101"}, "must be 0 or from 1 to 100"},
		"limits.account_pushes":            {[]string{"0", "1", "10000000"}, []string{"-1", "10000001"}, "must be 0 or from 1 to 10000000"},
		"limits.account_bytes":             {[]string{"0", "1MiB", "8388607TiB"}, []string{"1", "1048575"}, "must be 0 or at least 1MiB"},
		"limits.anonymous_per_minute":      orOff,
		"limits.token_per_minute":          orOff,
		"limits.unknown_tokens_per_minute": atMost("100000", "100001"),
		"limits.passphrases_per_client":    atMost("1000", "1001"),
		"limits.passphrases_per_push":      atMost("10000", "10001"),
		"limits.passphrase_queue":          atMost("10000", "10001"),
		"limits.sign_ins_per_client":       atMost("1000", "1001"),
		"limits.sign_ins_per_account":      atMost("10000", "10001"),
		"sessions.idle_timeout":            {[]string{"5m", "90d"}, []string{"0", "4m59s", "90d1ns"}, "must be from 5m to 90d"},
		"sessions.max_age":                 {[]string{"5m", "365d"}, []string{"0", "4m59s", "365d1ns"}, "must be from 5m to 365d"},
		"tls.hsts":                         {[]string{"0", "5m", "730d"}, []string{"4m59s", "730d1ns"}, "must be 0 or from 5m to 730d"},
		"ldap.check_every":                 {[]string{"10s", "1d"}, []string{"0", "9s", "1d1ns"}, "must be from 10s to 1d"},
		"webhooks.queue":                   {[]string{"100", "1000000"}, []string{"-1", "0", "99", "1000001"}, "must be from 100 to 1000000"},
		"webhooks.give_up":                 {[]string{"1m", "30d"}, []string{"0", "59s", "30d1ns"}, "must be from 1m to 30d"},
		"mail.port":                        {[]string{"0", "1", "65535"}, []string{"-1", "65536"}, "must be 0 or from 1 to 65535"},
		"webhooks.form":                    {[]string{"standard", "slack", "teams", "discord", "ntfy", "text"}, []string{"Slack", "irc"}, "must be standard, slack, teams, discord, ntfy or text"},
		"mail.tls":                         {[]string{"starttls", "implicit", "none", "cleartext"}, []string{"STARTTLS", "opportunistic"}, "must be starttls, implicit, none or cleartext"},
		"mail.daily_limit":                 {[]string{"5", "1000"}, []string{"-1", "0", "1000001"}, "must be from 1 to 1000000"},
		"mail.daily_limit_total":           {[]string{"100", "1000000"}, []string{"-1", "0", "1000001"}, "must be from 1 to 1000000"},
		"mail.recipient_per_day":           orOff,
		"mail.max_recipients":              {[]string{"1", "100"}, []string{"-1", "0", "101"}, "must be from 1 to 100"},
		"mail.give_up":                     {[]string{"1m", "30d"}, []string{"0", "59s", "30d1ns"}, "must be from 1m to 30d"},
		"limits.downloads":                 {[]string{"8", "100000"}, []string{"-1", "0", "7", "100001"}, "must be from 8 to 100000"},
		"limits.connections":               {[]string{"16", "1000000"}, []string{"-1", "0", "15", "1000001"}, "must be from 16 to 1000000"},
		"limits.connections_per_client":    {[]string{"2", "1000000"}, []string{"-1", "0", "1", "1000001"}, "must be from 2 to 1000000"},
		"limits.passphrases_per_life":      {[]string{"1", "100000"}, []string{"-1", "0", "100001"}, "must be from 1 to 100000"},
		"limits.clients":                   {[]string{"1000", "1000000"}, []string{"-1", "0", "999", "1000001"}, "must be from 1000 to 1000000"},
		"limits.request_timeout":           {[]string{"1s", "30m"}, []string{"0", "999ms", "30m1ns"}, "must be from 1s to 30m"},
		"limits.stall_timeout":             {[]string{"1s", "30m"}, []string{"0", "999ms", "30m1ns"}, "must be from 1s to 30m"},
		"limits.stop_delay":                {[]string{"0", "1s", "5m"}, []string{"999ms", "301s"}, "must be 0 or from 1s to 5m"},
		"limits.drain_timeout":             {[]string{"1s", "10m"}, []string{"0", "999ms", "601s"}, "must be from 1s to 10m"},
		"files.max_file_uploads":           atMost("100", "101"),
		"policy.max_file_uploads":          {[]string{"0", "1", "100"}, []string{"-1", "101"}, "must be 0 or from 1 to 100"},
		"policy.max_file_size":             {[]string{"0", "1KiB", "1TiB"}, []string{"1", "1023", "1099511627777"}, "must be 0 or from 1KiB to 1TiB"},
		"policy.account_pushes":            orOff,
		"policy.account_bytes":             {[]string{"0", "1MiB", "8388607TiB"}, []string{"1", "1048575"}, "must be 0 or at least 1MiB"},
		"files.anonymous_max_size":         {[]string{"0", "1KiB", "1GiB"}, []string{"1023", "1099511627777"}, "must be 0 or from 1KiB to 1TiB"},
		"files.max_file_size":              {[]string{"1KiB", "400MiB", "1TiB"}, []string{"0", "1023", "1099511627777"}, "must be from 1KiB to 1TiB"},
		"files.download_window":            {[]string{"1m", "1d"}, []string{"0", "59s", "24h1ns"}, "must be from 1m to 24h"},
		"default_locale":                   {[]string{"en", "zh"}, []string{"EN", "xx"}, "must be en, de, fr, es, it, nl, pt, pl, cs, sv, ja or zh"},
		"signup_email_regexp":              {[]string{".+", `.+@(a|b)\.example`}, []string{"(", "a{2000}"}, "must be a regular expression such as .+@example\\.com"},
		"require_mfa_tokens_from":          {[]string{"2027-01-31", "2028-02-29"}, []string{"2027-02-29", "2027-1-31", "tomorrow", "2027-01-31T00:00:00Z"}, "must be a day such as 2027-01-31"},
		"client_encryption":                {[]string{"off", "offered", "default", "required"}, []string{"on", "Off"}, "must be off, offered, default or required"},
		"policy.reveal":                    {[]string{"press", "type"}, []string{"click", "Type"}, "must be press or type"},
		"compat.edition":                   {[]string{"oss", "commercial"}, []string{"OSS", "pro"}, "must be oss or commercial"},
		"log.level":                        {[]string{"debug", "info", "warn", "error"}, []string{"Debug", "warning"}, "must be debug, info, warn or error"},
		"privacy.ipv4_prefix":              {[]string{"0", "8", "24", "32"}, []string{"-1", "1", "7", "33"}, "must be 0 or from 8 to 32"},
		"privacy.ipv6_prefix":              {[]string{"0", "16", "48", "128"}, []string{"-1", "1", "15", "129"}, "must be 0 or from 16 to 128"},
		"log.format":                       {[]string{"auto", "json", "console"}, []string{"text", "JSON"}, "must be auto, json or console"},
	}
	for _, section := range []string{"pw.", "url.", "files.", "qr."} {
		for _, end := range []string{"default", "min", "max"} {
			all[section+"expire_after_days_"+end] = atMost("3650", "3651")
			all[section+"expire_after_views_"+end] = atMost("100000", "100001")
		}
	}
	for _, n := range []string{"days", "views"} {
		most, over := "3650", "3651"
		if n == "views" {
			most, over = "100000", "100001"
		}
		for _, end := range []string{"default", "max"} {
			all["policy.expire_after_"+n+"_"+end] = bounds{[]string{"0", "1", most}, []string{"-1", over}, "must be 0 or from 1 to " + most}
		}
	}
	return all
}

// fitting is an environment that sets a key, and the other settings that the key's
// value needs.
func fitting(key, value string) []string {
	env := func(key, value string) string {
		return "PUSHBOX_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_")) + "=" + value
	}
	if key == "limits.body_memory" {
		return []string{env(key, value), env("limits.max_body", "64KiB")}
	}
	switch key {
	case "sessions.idle_timeout":
		return []string{env(key, value), env("sessions.max_age", "365d")}
	case "sessions.max_age":
		return []string{env(key, value), env("sessions.idle_timeout", "5m")}
	}
	i := strings.LastIndex(key, "_")
	if of, ok := strings.CutPrefix(key, "policy."); ok { // within what the other settings allow
		all := []string{env(key, value), env("files.max_file_uploads", "100"), env("files.max_file_size", "1TiB")}
		if strings.HasPrefix(of, "expire_after_") {
			j := strings.LastIndex(of, "_")
			all = append(all, env("pw."+of[:j]+"_max", map[bool]string{true: "3650", false: "100000"}[strings.Contains(of, "days")]))
		}
		return all
	}
	if !strings.Contains(key, ".expire_after_") {
		return []string{env(key, value)}
	}
	all := []string{env(key[:i]+"_min", "1"), env(key[:i]+"_default", value), env(key[:i]+"_max", value)}
	if strings.HasSuffix(key, "_min") {
		all[0] = env(key, value)
	}
	return all
}

func TestBothSidesOfEveryBound(t *testing.T) {
	t.Parallel()
	all := allBounds()
	for _, k := range config.Keys() {
		if _, ok := all[k.Key]; k.Accepts != "" && !ok {
			t.Errorf("the bounds of %s are not tested", k.Key)
		}
	}
	envs := make(map[string]string)
	for _, k := range config.Keys() {
		envs[k.Key] = k.Env
	}
	for key, b := range all {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			for _, v := range b.good {
				if _, err := config.Load(config.Source{Environ: fitting(key, v)}); err != nil {
					t.Errorf("%s: %v", v, err)
				}
			}
			for _, v := range b.bad {
				want := key + " (environment " + envs[key] + "): " + b.want
				if v == "-1" && !strings.Contains(key, "min_free") {
					want = key + " (environment " + envs[key] + "): must be"
				}
				got := problems(t, config.Source{Environ: []string{envs[key] + "=" + v}})
				if len(got) != 1 || !strings.HasPrefix(got[0], want) {
					t.Errorf("%s: got %q, want %q", v, got, want)
				}
			}
		})
	}
}

func TestDefaultsAreWithinTheirBounds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, yaml, want string
	}{
		{"all the same", "min: 5 default: 5 max: 5", ""},
		{"at the minimum", "min: 5 default: 5 max: 6", ""},
		{"at the maximum", "min: 4 default: 5 max: 5", ""},
		{"below", "min: 6 default: 5 max: 9", "KEYdefault (file pushbox.yaml, line 3): must not be less than KEYmin (file pushbox.yaml, line 2)"},
		{"above", "min: 1 default: 5 max: 4", "KEYdefault (file pushbox.yaml, line 3): must not be greater than KEYmax (file pushbox.yaml, line 4)"},
		{"crossed", "min: 6 default: 5 max: 5", "KEYmin (file pushbox.yaml, line 2): must not be greater than KEYmax (file pushbox.yaml, line 4)"},
	} {
		for _, key := range []string{
			"pw.expire_after_days_", "url.expire_after_days_", "files.expire_after_days_", "qr.expire_after_days_",
			"pw.expire_after_views_", "url.expire_after_views_", "files.expire_after_views_", "qr.expire_after_views_",
		} {
			t.Run(key+test.name, func(t *testing.T) {
				t.Parallel()
				section, prefix, _ := strings.Cut(key, ".")
				text := section + ":\n"
				for i, word := range strings.Fields(test.yaml) {
					if i%2 == 0 {
						text += "  " + prefix + word
					} else {
						text += " " + word + "\n"
					}
				}
				src := config.Source{File: writeFile(t, text)}
				if test.want == "" {
					mustLoad(t, src)
					return
				}
				wantProblem(t, src, strings.ReplaceAll(test.want, "KEY", key))
			})
		}
	}
}

func TestAMaximumBelowTheDefaultNamesBothOrigins(t *testing.T) {
	t.Parallel()
	wantProblem(t, config.Source{Environ: []string{"PUSHBOX_PW_EXPIRE_AFTER_DAYS_MAX=6"}},
		"pw.expire_after_days_default (default): must not be greater than pw.expire_after_days_max (environment PUSHBOX_PW_EXPIRE_AFTER_DAYS_MAX)")
}

// Limits that another setting limits. A place is that of the setting before it.
func TestSettingsThatLimitEachOther(t *testing.T) {
	t.Parallel()
	const (
		memory = "limits.body_memory (PLACE): must not be less than limits.max_body (PLACE)"
		idle   = "sessions.idle_timeout (PLACE): must not be greater than sessions.max_age (PLACE)"
		place  = "file pushbox.yaml, line 1"
	)
	for yaml, want := range map[string]string{
		"limits: {max_body: 1MiB, body_memory: 1MiB}":            "",
		"limits: {max_body: 1MiB, body_memory: 1048575}":         strings.ReplaceAll(memory, "PLACE", place),
		"limits: {body_memory: 8MiB}":                            "", // as much as the default
		"limits: {body_memory: 8388607}":                         "limits.body_memory (" + place + "): must not be less than limits.max_body (default)",
		"limits: {max_body: 64MiB}":                              "",
		"limits: {max_body: 1, body_memory: 64KiB}":              "limits.max_body (" + place + "): must be from 64KiB to 64MiB",
		"sessions: {idle_timeout: 1h, max_age: 1h}":              "",
		"sessions: {idle_timeout: 1h1ns, max_age: 1h}":           strings.ReplaceAll(idle, "PLACE", place),
		"sessions: {idle_timeout: 30d}":                          "", // as long as the default
		"files: {max_file_size: 1MiB, anonymous_max_size: 2MiB}": "files.anonymous_max_size (" + place + "): must not be greater than files.max_file_size (" + place + ")",
		"sessions: {idle_timeout: 31d}":                          "sessions.idle_timeout (" + place + "): must not be greater than sessions.max_age (default)",
		"sessions: {max_age: 1m}":                                "sessions.max_age (" + place + "): must be from 5m to 365d",
	} {
		src := config.Source{File: writeFile(t, yaml+"\n")}
		if want == "" {
			mustLoad(t, src)
			continue
		}
		wantProblem(t, src, want)
	}
}

// Without quotes YAML takes a day for a time.
func TestADayNeedsNoQuotes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"2027-01-31", `"2027-01-31"`} {
		l := mustLoad(t, config.Source{File: writeFile(t, "require_mfa_tokens_from: "+text+"\n")})
		if got := l.Config.RequireMFATokensFrom; got != "2027-01-31" {
			t.Errorf("%s is read as %q", text, got)
		}
	}
}
