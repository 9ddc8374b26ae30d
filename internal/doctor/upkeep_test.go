package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/backup"
	"pushbox/internal/hint"
	"pushbox/internal/testkit/env"
	"pushbox/store/postgres"
)

// backedUp is a healthy installation with a backup a day, and some that were made so
// long ago.
func backedUp(t *testing.T, ago ...time.Duration) *Subject {
	t.Helper()
	s := healthy(t)
	s.Config.Backup.Schedule, s.Config.Backup.Dir = 24*time.Hour, filepath.Join(s.Config.DataDir, "kept")
	env.OK(t, os.Mkdir(s.Config.Backup.Dir, 0o700))
	for _, d := range ago {
		name := backup.Name(s.Clock().Add(-d), d > 48*time.Hour) // of both kinds
		env.OK(t, os.WriteFile(filepath.Join(s.Config.Backup.Dir, name), nil, 0o600))
	}
	return s
}

func TestTheNewestBackupIsToBeAsYoungAsTheScheduleSays(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		ago   []time.Duration
		grade Grade
		text  string
	}{
		"none yet":               {nil, Warning, "there is no backup"},
		"of an hour ago":         {[]time.Duration{9 * day, time.Hour}, OK, "2 backups in"},
		"at the limit":           {[]time.Duration{day + lateBackup}, OK, "the newest"},
		"beyond it":              {[]time.Duration{day + lateBackup + time.Second}, Problem, "25h0m1s ago; one is due every 24h0m0s"},
		"of long ago, encrypted": {[]time.Duration{12 * day, 9 * day}, Problem, "9 days ago"},
		"of a wrong clock":       {[]time.Duration{9 * day, -day}, Problem, "9 days ago"},
		"of a wrong clock alone": {[]time.Duration{-day}, Warning, "there is no backup"},
	} {
		f := of(t, backedUp(t, test.ago...), "backups")
		if wants(t, name, f, test.grade, test.text); f.Cure != "" && !strings.Contains(f.Cure, "a backup failed") {
			t.Errorf("%s: the cure is %q", name, f.Cure)
		}
	}
	stopped := backedUp(t, 9*day)
	stopped.Running = false
	if f := of(t, stopped, "backups"); !strings.Contains(f.Cure, "pushbox serve") {
		t.Errorf("without a server: %+v", f)
	}
	wants(t, "no schedule", of(t, healthy(t), "backups"), Warning, "the server makes none by itself")
	without := backedUp(t)
	without.Running, without.Config.Backup.Dir = false, filepath.Join(without.Config.DataDir, "missing")
	if f := of(t, without, "backups"); f.Grade != Warning || !strings.Contains(f.Text, "there is no directory") || !strings.Contains(f.Cure, "make it") {
		t.Errorf("without the directory: %+v", f)
	}
	byDefault := backedUp(t) // the server makes this one
	byDefault.Running, byDefault.Config.Backup.Dir = false, ""
	if f := of(t, byDefault, "backups"); !strings.Contains(f.Cure, "pushbox serve") {
		t.Errorf("without the directory of the server: %+v", f)
	}
	notOurs := backedUp(t)
	notOurs.Config.Backup.Dir = notOurs.File
	wants(t, "a file for a directory", of(t, notOurs, "backups"), Problem, "not a directory")
}

func TestFilesOfSecretsAreForTheServerToRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes tell nothing there")
	}
	s := healthy(t)
	wants(t, "none", of(t, s, "secret files"), Skipped, "no setting")
	path := filepath.Join(s.Config.DataDir, "secret")
	env.OK(t, os.WriteFile(path, nil, 0o600))
	for setting, field := range map[string]*string{
		"tls.key_file": &s.Config.TLS.KeyFile, "metrics.token_file": &s.Config.Metrics.TokenFile, "webhooks.secret_file": &s.Config.Webhooks.SecretFile,
	} {
		*field = path
		for mode, grade := range map[os.FileMode]Grade{0o600: OK, 0o640: OK, 0o644: Problem, 0o660: Problem, 0o604: Problem} {
			env.OK(t, os.Chmod(path, mode))
			wants(t, mode.String(), of(t, s, "secret files"), grade, setting+": ")
		}
		*field = path + ".none"
		wants(t, "no file", of(t, s, "secret files"), Problem, setting+": ")
		*field = ""
	}
}

func TestMetricsAreForPrometheus(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	wants(t, "off", of(t, s, "metrics"), Skipped, "off")
	for address, grade := range map[string]Grade{
		"127.0.0.1:5102": OK, "[::1]:5102": OK, "localhost:5102": OK, ":5102": Warning, "0.0.0.0:5102": Warning, "10.0.0.7:5102": Warning,
	} {
		s.Config.Metrics.Listen = address
		wants(t, address, of(t, s, "metrics"), grade, address)
	}
	s.Config.Metrics.TokenFile = s.File
	wants(t, "with a token", of(t, s, "metrics"), OK, "token")
}

func TestTheServersOwnCertificateIsJudgedWithoutAnAddress(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	s.Config.BaseURL = "https://push.example.com:8443/sub"
	wants(t, "without TLS", of(t, s, "certificate"), Skipped, "--url "+s.Config.BaseURL)
	s.Config.TLS.CertFile = s.File
	wants(t, "not fetched", of(t, s, "certificate"), Problem, "no HTTPS")
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		life, left time.Duration
		grade      Grade
		text       string
	}{
		"of three months":      {90 * day, 14 * day, OK, "valid until"},
		"to be renewed":        {90 * day, 14*day - 1, Warning, "13 days"},
		"of a day":             {day, 6 * time.Hour, OK, "valid until"},
		"of a day, at its end": {day, 6*time.Hour - time.Second, Warning, "5h59m59s"},
		"over":                 {90 * day, -time.Second, Problem, "it expired"},
	} {
		s.Facts.CertTo = s.Clock().Add(test.left)
		s.Facts.CertFrom = s.Facts.CertTo.Add(-test.life)
		wants(t, name, of(t, s, "certificate"), test.grade, test.text)
	}
	s.Running = false
	wants(t, "without a server", of(t, s, "certificate"), Skipped, "no server")
}

func TestFilesOfACertificateThatTheServerCannotUseAreNamed(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	now := s.Clock()
	s.Facts.CertFrom, s.Facts.CertTo = now.AddDate(0, -1, 0), now.AddDate(0, 2, 0)
	s.Config.TLS.CertFile, s.Config.TLS.KeyFile = filepath.Join(s.Config.DataDir, "cert.pem"), filepath.Join(s.Config.DataDir, "key.pem")
	cert, key := signed(t, "push.example.com", s.Facts.CertFrom, s.Facts.CertTo)
	over, itsKey := signed(t, "push.example.com", now.AddDate(0, -3, 0), now.Add(-time.Second))
	sealed := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("sealed")})
	for name, test := range map[string]struct {
		cert       *x509.Certificate
		key        []byte
		text, cure string // of a server that runs; empty: nothing is wrong
		stopped    Grade
		why        string
	}{
		"a pair":                    {cert, asPEM(t, key), "", "", Skipped, "no server is running"},
		"the key of another":        {cert, asPEM(t, itsKey), "private key does not match public key", "check tls.cert_file and tls.key_file", Problem, "cannot start with these files"},
		"a key with a passphrase":   {cert, sealed, "encrypted with a passphrase", "openssl pkey", Problem, "encrypted with a passphrase"},
		"no key":                    {cert, nil, "cert.pem", "check tls.cert_file and tls.key_file", Problem, "cannot start with these files"},
		"one that has expired":      {over, asPEM(t, itsKey), "expired at 2029-12-31T23:59:59Z", "put the new certificate there", Skipped, "no server is running"},
		"a key that cannot be read": {cert, []byte("none"), "", "", Skipped, "no server is running"},
	} {
		env.OK(t, os.WriteFile(s.Config.TLS.CertFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: test.cert.Raw}), 0o600))
		env.OK(t, os.WriteFile(s.Config.TLS.KeyFile, test.key, 0o600))
		if string(test.key) == "none" {
			env.OK(t, os.Remove(s.Config.TLS.KeyFile))
		}
		s.Running = true
		found := allOf(t, s, "certificate")
		wants(t, name+", in use", found[0], OK, "valid until")
		switch {
		case test.text == "" && len(found) == 1:
		case test.text == "" || len(found) != 2:
			t.Errorf("%s: found %+v", name, found)
		default:
			if wants(t, name, found[1], Warning, test.text); !strings.Contains(found[1].Cure, test.cure) || !strings.Contains(found[1].Text, "keeps the certificate that it has") {
				t.Errorf("%s: %+v", name, found[1])
			}
		}
		s.Running = false
		wants(t, name+", without a server", of(t, s, "certificate"), test.stopped, test.why)
	}
}

// asPEM is a private key as a server reads it.
func asPEM(t *testing.T, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der := env.Must(x509.MarshalPKCS8PrivateKey(key))(t)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func TestProvidersOfSignInsAreToAnswer(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	const name = "sign-in providers"
	wants(t, "none", of(t, s, name), Skipped, "docs/sign-in.md")
	s.Providers = []Provider{{Name: "office", Back: "/users/oidc/office/callback", Ask: func(context.Context) error { return nil }}}
	wants(t, "a good one", of(t, s, name), OK, "the address of this server and /users/oidc/office/callback")
	s.Config.BaseURL = "https://push.example.com"
	wants(t, "with base_url", of(t, s, name), OK, "https://push.example.com/users/oidc/office/callback")
	s.Providers[0].Ask = func(context.Context) error { return errors.New("it is asleep") }
	wants(t, "a bad one", of(t, s, name), Problem, "office: it is asleep")
	s.Providers[0].Ask = func(context.Context) error {
		return hint.With(errors.New("it does not know us"), "take another secret")
	}
	if f := of(t, s, name); f.Cure != "take another secret" {
		t.Errorf("the cure is %q", f.Cure)
	}
	s.ProvidersAre = errors.New("no such file")
	wants(t, "a file that is missing", of(t, s, name), Problem, "no such file")
}

func TestAProxyOnThisMachineThatNamesPeopleIsWarnedOf(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	const name = "sign-in providers"
	s.Config.SignIn.Proxy.Header = "Remote-Email"
	s.Config.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.5/32"), netip.MustParsePrefix("::1/128")}
	wants(t, "this machine", of(t, s, name), Warning, "every program on it can sign in")
	s.Config.TrustedProxies = s.Config.TrustedProxies[:1]
	wants(t, "another machine", of(t, s, name), OK, "Remote-Email")
}

func TestPoliciesThatTheSettingsLackAreWarnedOf(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	const name = "policies"
	wants(t, "none", of(t, s, name), Skipped, "docs/sign-in.md")
	s.Config.Policies = []config.NamedPolicy{{Name: "finance"}}
	wants(t, "one that is there", of(t, s, name), OK, "every policy")
	s.Facts.LostPolicies = []string{"staff"}
	wants(t, "one that is lost", of(t, s, name), Warning, "only the general settings apply to them: staff")
}

func TestPoliciesThatPeopleCanLeaveAreWarnedOf(t *testing.T) {
	t.Parallel()
	const name = "policies"
	s := healthy(t)
	s.Config.AllowAnonymous = true
	s.Config.Policies = []config.NamedPolicy{{Name: "as all"}, {Name: "roomy", Policy: config.Policy{AccountPushes: 9, RequirePassphrase: s.Config.Policy.RequirePassphrase}}}
	wants(t, "none asks for more", of(t, s, name), OK, "every policy")
	for what, p := range map[string]config.Policy{
		"a passphrase": {RequirePassphrase: config.On}, "encryption": {RequireEncryption: config.On}, "days": {ExpireAfterDaysMax: 2},
		"views": {ExpireAfterViewsMax: 2}, "kinds": {Kinds: []string{"text"}},
	} {
		s.Config.Policies = []config.NamedPolicy{{Name: "finance", Policy: p}}
		s.Config.AllowAnonymous, s.Config.CreateNetworks = true, nil
		wants(t, what, of(t, s, name), Warning, "the general settings: finance")
		s.Config.AllowAnonymous = false
		wants(t, what+", without anonymous clients", of(t, s, name), OK, "every policy")
		s.Config.CreateNetworks = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		wants(t, what+", with networks", of(t, s, name), Warning, "finance")
	}
}

// overPostgres returns an installation without problems whose database is PostgreSQL.
func overPostgres(t *testing.T) *Subject {
	t.Helper()
	s := healthy(t)
	s.Database = ""
	s.Postgres = &postgres.Inspection{
		Durability: postgres.Durability{Version: 170002, FSync: true, Commit: "on", Named: true, Standbys: 1, Synchronous: 1, StandbysKnown: true},
		FullPages:  true, Way: postgres.WayVerified, User: "pushbox", Size: 1 << 20, Schema: 1, Knows: 1,
	}
	return s
}

// Of an installation over PostgreSQL the disk of the data directory is not examined.
func TestNothingIsWrongWithAHealthyInstallationOverPostgres(t *testing.T) {
	t.Parallel()
	s := overPostgres(t)
	all := Run(t.Context(), s)
	if Count(all, Problem) != 0 {
		t.Errorf("%+v", all)
	}
	want := checksOf(inPostgres)
	for _, f := range all {
		i := slices.Index(want, f.Check)
		if i < 0 {
			t.Errorf("%s is examined", f.Check)
			continue
		}
		want = slices.Delete(want, i, i+1)
	}
	if len(want) > 0 {
		t.Errorf("%v are not examined", want)
	}
}

func TestEachThingThatIsWrongWithPostgresIsFound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		harm        func(s *Subject, i *postgres.Inspection)
		check, text string
		grade       Grade
	}{
		"no answer":              {func(s *Subject, _ *postgres.Inspection) { s.Postgres, s.PostgresIs = nil, errors.New("it is gone") }, "database server", "it is gone", Problem},
		"nothing to judge":       {func(s *Subject, _ *postgres.Inspection) { s.Postgres, s.PostgresIs = nil, errors.New("it is gone") }, "durability", "was not reached", Skipped},
		"an old release":         {func(_ *Subject, i *postgres.Inspection) { i.Version = 140011 }, "database server", "it is PostgreSQL 14.11", Warning},
		"no tables":              {func(_ *Subject, i *postgres.Inspection) { i.Schema = 0 }, "database server", "has no tables of pushbox yet", Warning},
		"a later schema":         {func(_ *Subject, i *postgres.Inspection) { i.Schema, i.Oldest = 2, 2 }, "database server", "has schema 2, and this program knows 1", Problem},
		"a later schema, usable": {func(_ *Subject, i *postgres.Inspection) { i.Schema, i.Oldest = 2, 1 }, "database server", "newer than 1, the schema of this program, but compatible", Warning},
		"an earlier schema":      {func(_ *Subject, i *postgres.Inspection) { i.Knows = 2 }, "database server", "upgrades schema 1 to 2", Warning},
		"a move":                 {func(_ *Subject, i *postgres.Inspection) { i.Moved = true }, "database server", "servers refuse to use it", Problem},
		"a release":              {func(*Subject, *postgres.Inspection) {}, "database server", "it is PostgreSQL 17.2", OK},
		"no fsync":               {func(_ *Subject, i *postgres.Inspection) { i.FSync = false }, "durability", "unknown: fsync is off", Problem},
		"no synchronous commit":  {func(_ *Subject, i *postgres.Inspection) { i.Commit = "off" }, "durability", "unknown: synchronous_commit is off", Problem},
		"a standby that is gone": {func(_ *Subject, i *postgres.Inspection) { i.Standbys, i.Synchronous = 0, 0 }, "durability", "no standby that writes wait for is connected", Problem},
		"another standby":        {func(_ *Subject, i *postgres.Inspection) { i.Synchronous = 0 }, "durability", "no standby that writes wait for is connected", Problem},
		"a standby that the role may not see": {func(_ *Subject, i *postgres.Inspection) {
			i.Synchronous, i.StandbysKnown = 0, false
		}, "durability", "replicated: each write waits for a standby", OK},
		"a standby in memory":     {func(_ *Subject, i *postgres.Inspection) { i.Commit = "remote_write" }, "durability", "may lack the last writes", Warning},
		"an asynchronous standby": {func(_ *Subject, i *postgres.Inspection) { i.Named = false }, "durability", "single: no write waits for the 1 standby", Warning},
		"no standby": {func(_ *Subject, i *postgres.Inspection) {
			i.Named, i.Standbys = false, 0
		}, "durability", "single: each write is on the disk of one server", OK},
		"a clock":             {func(_ *Subject, i *postgres.Inspection) { i.Ahead = -2 * time.Second }, "clock of the database", "by 2s; above 5s", Warning},
		"a clock far away":    {func(_ *Subject, i *postgres.Inspection) { i.Ahead = 6 * time.Second }, "clock of the database", "above 5s no server starts", Problem},
		"no TLS":              {func(_ *Subject, i *postgres.Inspection) { i.Way = postgres.WayOpen }, "connection to the database", "it has no TLS", Problem},
		"TLS with anyone":     {func(_ *Subject, i *postgres.Inspection) { i.Way = postgres.WayUnverified }, "connection to the database", "no certificate is verified", Warning},
		"TLS without a name":  {func(_ *Subject, i *postgres.Inspection) { i.Way = postgres.WayUnnamed }, "connection to the database", "the name in the certificate is not verified", Warning},
		"a socket":            {func(_ *Subject, i *postgres.Inspection) { i.Way = postgres.WayLocal }, "connection to the database", "does not leave this machine", OK},
		"a superuser":         {func(_ *Subject, i *postgres.Inspection) { i.Superuser = true }, "role in the database", "pushbox is a superuser", Warning},
		"a limit":             {func(s *Subject, _ *postgres.Inspection) { s.Config.MaxStoreSize = 1 << 30 }, "size of the database", "holds 1 MiB of the 1 GiB", OK},
		"a limit that is met": {func(s *Subject, _ *postgres.Inspection) { s.Config.MaxStoreSize = 1 << 20 }, "size of the database", "nothing is created", Problem},
		"no limit":            {func(s *Subject, _ *postgres.Inspection) { s.Config.MaxStoreSize = 0 }, "size of the database", "does not report the free space of its disk", OK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := overPostgres(t)
			test.harm(s, s.Postgres)
			wants(t, name, of(t, s, test.check), test.grade, test.text)
		})
	}
	s := overPostgres(t)
	s.Postgres.FullPages = false
	if all := allOf(t, s, "durability"); len(all) != 2 {
		t.Errorf("half pages: %+v", all)
	} else {
		wants(t, "half pages", all[1], Warning, "full_page_writes is off")
	}
}
