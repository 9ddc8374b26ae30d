package config

import (
	"net/netip"
	"time"
)

// Default returns the configuration without any settings given.
func Default() Config {
	terms := defaultTerms()
	deletable := DeletableTerms{Terms: terms, EnableDeletablePushes: true, DeletablePushesDefault: true}
	return Config{
		Listen:            "127.0.0.1:5100",
		ListenMode:        0o660,
		AllowedHosts:      []string{},
		CreateNetworks:    []netip.Prefix{},
		DataDir:           "./data",
		TLS:               defaultTLS(),
		TrustedProxies:    []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
		AllowAnonymous:    true,
		EnableAPIv1:       true,
		APIv1CORS:         true,
		EnableURLPushes:   true,
		EnableQRPushes:    true,
		EnableFilePushes:  true,
		ClientEncryption:  "offered",
		DefaultLocale:     "en",
		SignupEmailRegexp: ".+",
		SignIn:            defaultSignIn(),
		Backup:            defaultBackup(),
		Brand:             Brand{Title: "pushbox"},
		PurgeAfter:        365 * day,
		Log:               Log{Level: "info", Format: "auto", Client: true},
		Privacy:           Privacy{IPv4Prefix: 32, IPv6Prefix: 128},
		Limits:            defaultLimits(),
		Sessions:          Sessions{IdleTimeout: 12 * time.Hour, MaxAge: 30 * day},
		LDAP:              defaultLDAP(),
		Webhooks:          defaultWebhooks(),
		Mail:              defaultMail(),
		PW:                deletable,
		URL:               terms,
		Files: FileTerms{
			DeletableTerms: deletable,
			MaxFileUploads: 10,
			MaxFileSize:    gibibyte,
			DownloadWindow: 15 * time.Minute,
		},
		QR:       deletable,
		Policy:   defaultPolicy(),
		Policies: []NamedPolicy{},
	}
}

func defaultLimits() Limits {
	return Limits{
		MaxBody:                8 * mebibyte,
		BodyMemory:             64 * mebibyte,
		MinFreeSpace:           64 * mebibyte,
		AnonymousPushes:        1000,
		AnonymousBytes:         50 * mebibyte,
		AnonymousShare:         50,
		AnonymousPerMinute:     120,
		TokenPerMinute:         1200,
		UnknownTokensPerMinute: 20,
		PassphrasesPerClient:   5,
		PassphrasesPerPush:     20,
		PassphrasesPerLife:     50,
		SignInsPerClient:       5,
		SignInsPerAccount:      10,
		PassphraseQueue:        64,
		Clients:                65536,
		Connections:            4096,
		ConnectionsPerClient:   256,
		Downloads:              256,
		RequestTimeout:         60 * time.Second,
		StallTimeout:           60 * time.Second,
		DrainTimeout:           10 * time.Second,
	}
}

func defaultTerms() Terms {
	return Terms{
		ExpireAfterDaysDefault:  7,
		ExpireAfterDaysMin:      1,
		ExpireAfterDaysMax:      90,
		ExpireAfterViewsDefault: 5,
		ExpireAfterViewsMin:     1,
		ExpireAfterViewsMax:     100,
		EnableRetrievalStep:     true,
		RetrievalStepDefault:    true,
	}
}
