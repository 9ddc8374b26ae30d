package doctor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io/fs"
	"math/big"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pushbox/internal/admin"
	"pushbox/internal/clientip"
	"pushbox/internal/hint"
	"pushbox/internal/testkit/env"
)

// wants fails the test unless a finding has that grade, says that, and has a cure
// where there is something to be done.
func wants(t *testing.T, name string, f Finding, grade Grade, text string) {
	t.Helper()
	if f.Grade != grade || !strings.Contains(f.Text, text) {
		t.Errorf("%s: %s, %q; want %s, %q", name, f.Grade, f.Text, grade, text)
	}
	if todo := f.Grade == Problem || f.Grade == Warning; todo != (f.Cure != "") {
		t.Errorf("%s: %s, and the cure is %q", name, f.Grade, f.Cure)
	}
}

func TestKindsOfFileSystems(t *testing.T) {
	t.Parallel()
	for kind, grade := range map[string]Grade{"ext4": OK, "zfs": OK, "tmpfs": Warning, "overlay": Warning, "nfs": Warning, "unknownfs": Warning, "": Skipped} {
		wants(t, kind, judgeFileSystem("/data", kind), grade, "")
	}
	for kind := range risks() {
		wants(t, kind, judgeFileSystem("/data", kind), Warning, "/data is on "+kind)
	}
}

func TestBothSidesOfEachFigure(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	wants(t, "a sync in time", judgeSync(slowSync), OK, "100ms")
	wants(t, "a slow sync", judgeSync(slowSync+1), Warning, "every create")
	wants(t, "a sync that still ends", judgeSync(deadSync), Warning, "2s")
	wants(t, "a sync that hardly ends", judgeSync(deadSync+1), Problem, "every create")
	wants(t, "room", fullness(899, 1000), OK, "899 B of the 1000 B")
	wants(t, "little room", fullness(900, 1000), Warning, "max_store_size")
	wants(t, "hardly any room", fullness(999, 1000), Warning, "max_store_size")
	wants(t, "no room", fullness(1000, 1000), Problem, "nothing is created")
	wants(t, "the same time", judgeTime(now, now.Add(wrongTime)), OK, "")
	wants(t, "another time", judgeTime(now, now.Add(wrongTime+time.Second)), Problem, "-2m1s")
	wants(t, "another time ahead", judgeTime(now.Add(time.Hour), now), Problem, "1h0m0s")
}

func TestSwapOnADiskIsNamed(t *testing.T) {
	t.Parallel()
	const head = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
	wants(t, "none", judgeSwap(head), OK, "")
	wants(t, "in memory", judgeSwap(head+"/dev/zram0  partition 1 0 100\n"), OK, "")
	wants(t, "on a disk", judgeSwap(head+"/dev/zram0 partition 1 0 100\n/swapfile file 1 0 -2\n"), Warning, "/swapfile")
}

// signed is a certificate for a name that has signed itself, and its key.
func signed(t *testing.T, name string, from, to time.Time) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key := env.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: from, NotAfter: to, IsCA: true, BasicConstraintsValid: true,
	}
	der := env.Must(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	cert := env.Must(x509.ParseCertificate(der))(t)
	return cert, key
}

// certified makes a chain of one for a name, and the roots that vouch for it.
func certified(t *testing.T, name string, from, to time.Time) ([]*x509.Certificate, *x509.CertPool) {
	t.Helper()
	cert, _ := signed(t, name, from, to)
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return []*x509.Certificate{cert}, roots
}

func TestWhatIsWrongWithACertificate(t *testing.T) {
	t.Parallel()
	const host = "push.example.com"
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	chain, roots := certified(t, host, now, now.Add(90*24*time.Hour))
	for name, test := range map[string]struct {
		host  string
		roots *x509.CertPool
		at    time.Duration
		grade Grade
		text  string
	}{
		"good":            {host, roots, 76 * 24 * time.Hour, OK, "until 2030-04-01"},
		"ends soon":       {host, roots, 76*24*time.Hour + time.Second, Warning, "it expires in 13 days"},
		"hardly good":     {host, roots, 90*24*time.Hour - time.Minute, Warning, "it expires in 1m0s"},
		"ended":           {host, roots, 91 * 24 * time.Hour, Problem, "it expired at 2030-04-01"},
		"not yet":         {host, roots, -time.Hour, Problem, "it is not valid before"},
		"another name":    {"www.example.com", roots, time.Hour, Problem, "another name"},
		"no known issuer": {host, x509.NewCertPool(), time.Hour, Problem, "does not trust its issuer"},
	} {
		wants(t, name, judgeCertificate(chain, test.host, test.roots, now.Add(test.at)), test.grade, test.text)
	}
}

func TestLinksMayLeadToTheOtherDoor(t *testing.T) {
	t.Parallel()
	u := env.Must(url.Parse("https://inside.example.com/push"))(t)
	s := &Subject{URL: u}
	for base, grade := range map[string]Grade{"": "", "https://INSIDE.example.com/push": "", "https://push.example.com/push": Warning, "http://inside.example.com/push": Warning} {
		s.Config.BaseURL, s.Config.PublicListen = base, ""
		wantsBase(t, s, grade)
		if s.Config.PublicListen = ":443"; grade != "" {
			grade = OK
		}
		wantsBase(t, s, grade)
	}
}

// wantsBase fails the test unless that is found of base_url; nothing, if grade is empty.
func wantsBase(t *testing.T, s *Subject, grade Grade) {
	t.Helper()
	all := s.judgeBase()
	if len(all) > 0 && grade != "" {
		wants(t, s.Config.BaseURL, all[0], grade, "links begin with "+s.Config.BaseURL)
	} else if len(all) > 0 || grade != "" {
		t.Errorf("%s, public %q: %+v", s.Config.BaseURL, s.Config.PublicListen, all)
	}
}

func TestWhatIsWrongWithAProxy(t *testing.T) {
	t.Parallel()
	u := env.Must(url.Parse("https://push.example.com"))(t)
	good := func() clientip.Report {
		return clientip.Report{
			Peer: "127.0.0.1", Trusted: true, Scheme: "https", Host: "push.example.com", Client: "198.51.100.1",
			Received: map[string][]string{"Host": {"push.example.com"}, "X-Forwarded-For": {"198.51.100.1"}, "X-Forwarded-Proto": {"https"}},
		}
	}
	for name, test := range map[string]struct {
		honest, forged func(*clientip.Report)
		want           []string
	}{
		"nothing":               {nil, nil, []string{"ok it passes on the scheme"}},
		"it is not trusted":     {func(r *clientip.Report) { r.Trusted = false }, nil, []string{"problem the proxy at 127.0.0.1 is not in trusted_proxies"}},
		"no scheme":             {func(r *clientip.Report) { r.Scheme = "http" }, func(r *clientip.Report) { r.Scheme = "http" }, []string{"problem the request arrives as http"}},
		"another host":          {func(r *clientip.Report) { r.Host = "localhost:5100" }, nil, []string{`problem the request arrives for "localhost:5100"`}},
		"no address":            {func(r *clientip.Report) { delete(r.Received, "X-Forwarded-For") }, nil, []string{"problem X-Forwarded-For is missing"}},
		"a made-up address":     {nil, func(r *clientip.Report) { r.Client = claimedAddress }, []string{"problem clients can forge their address"}},
		"a made-up host":        {nil, func(r *clientip.Report) { r.Host = claimedHost }, []string{"problem clients can forge X-Forwarded-Host"}},
		"a made-up scheme":      {nil, func(r *clientip.Report) { r.Scheme = "http" }, []string{"problem clients can forge the scheme"}},
		"several":               {func(r *clientip.Report) { r.Host = "x"; delete(r.Received, "X-Forwarded-For") }, func(r *clientip.Report) { r.Scheme = "http" }, []string{"problem the request arrives for", "problem X-Forwarded-For", "problem clients can forge the scheme"}},
		"none, and its own TLS": {func(r *clientip.Report) { r.Received = map[string][]string{"Host": nil}; r.TLS = true }, func(r *clientip.Report) { r.Client = claimedAddress }, []string{"ok there is no proxy"}},
	} {
		honest, forged := good(), good()
		if test.honest != nil {
			test.honest(&honest)
		}
		if test.forged != nil {
			test.forged(&forged)
		}
		all := judgeProxy(u, honest, forged)
		if len(all) != len(test.want) {
			t.Errorf("%s: %+v", name, all)
			continue
		}
		for i, want := range test.want {
			grade, text, _ := strings.Cut(want, " ")
			wants(t, name, all[i], Grade(grade), text)
		}
	}
}

func TestAFullDiskIsToGetRoom(t *testing.T) {
	t.Parallel()
	if f := noSync(&fs.PathError{Op: "write", Path: "doctor.new", Err: syscall.ENOSPC}); f.Grade != Problem || !strings.Contains(f.Cure, "make room") {
		t.Errorf("a full disk: %+v", f)
	}
	if f := noSync(&fs.PathError{Op: "write", Path: "doctor.new", Err: syscall.EIO}); f.Grade != Problem || !strings.Contains(f.Cure, "check the disk") {
		t.Errorf("a broken disk: %+v", f)
	}
}

func TestReceiversThatFailAndMessagesThatWereDroppedAreFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		facts      func(f *admin.Facts)
		text, cure string
		grade      Grade
	}{
		"nothing waits": {func(*admin.Facts) {}, "no receiver fails; 0 messages wait", "", OK},
		"one waits":     {func(f *admin.Facts) { f.Mail.Waiting = 1 }, "no receiver fails; 1 message waits", "", OK},
		"a webhook": {
			func(f *admin.Facts) { f.Webhooks.Failing = []admin.Receiver{{Webhook: 3, Tries: 1}} },
			"webhook 3 accepts no messages (1 failed try in a row)", "pushbox webhook test 3", Warning,
		},
		"the server's webhook": {
			func(f *admin.Facts) { f.Webhooks.Failing = []admin.Receiver{{Tries: 7}} },
			"the webhook of the server (webhooks.url) accepts no messages (7 failed tries in a row)", "webhooks.secret_file", Warning,
		},
		"the mail server": {
			func(f *admin.Facts) { f.Mail.Failing = []admin.Receiver{{Tries: 2}} },
			"the mail server accepts no messages", "pushbox mail test ADDRESS", Warning,
		},
		"dropped messages": {func(f *admin.Facts) { f.Webhooks.Dropped = 5 }, "5 messages to webhooks were dropped", "log", Warning},
		"dropped mails":    {func(f *admin.Facts) { f.Mail.Dropped = 6 }, "6 mails were dropped", "log", Warning},
	} {
		s := healthy(t)
		c.facts(s.Facts)
		f := of(t, s, "messages")
		if f.Grade != c.grade || !strings.Contains(f.Text, c.text) || !strings.Contains(f.Cure, c.cure) {
			t.Errorf("%s: %+v", name, f)
		}
	}
	s := healthy(t)
	s.Running = false
	if f := of(t, s, "messages"); f.Grade != Skipped {
		t.Errorf("without a server: %+v", f)
	}
}

func TestABackupThatFailedIsAProblemAtOnce(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	s.Config.Backup.Schedule = 24 * time.Hour
	s.Facts.BackupFault = "the disk is on fire"
	if f := of(t, s, "backups"); f.Grade != Problem || !strings.Contains(f.Text, "the disk is on fire") {
		t.Errorf("%+v", f)
	}
	s.Facts.BackupFault, s.Facts.AfterFault = "", "exit status 7"
	if all := Run(t.Context(), s); Count(all, Problem) != 1 {
		t.Errorf("of a command that failed there is %+v", all)
	}
}

func TestAMailServerIsToLetPushboxIn(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	wants(t, "no mail", of(t, s, "mail"), Skipped, "mail.host")
	s.Config.Mail.Host = "mail.example.com"
	s.Mail = func(context.Context) error { return nil }
	wants(t, "a good one", of(t, s, "mail"), OK, "mail.example.com can be reached")
	s.Mail = func(context.Context) error { return errors.New("it is asleep") }
	wants(t, "a bad one", of(t, s, "mail"), Problem, "mail.example.com: it is asleep")
}

func TestADirectoryIsToAnswer(t *testing.T) {
	t.Parallel()
	s := healthy(t)
	wants(t, "no directory", of(t, s, "directory"), Skipped, "ldap.url")
	s.Config.LDAP.URL = "ldaps://dc.example.com"
	s.People = func(context.Context) error { return nil }
	wants(t, "a good one", of(t, s, "directory"), OK, "ldaps://dc.example.com can be reached, and has the users and groups")
	s.People = func(context.Context) error { return errors.New("it is asleep") }
	wants(t, "a bad one", of(t, s, "directory"), Problem, "ldaps://dc.example.com: it is asleep")
	s.People = func(context.Context) error { return hint.With(errors.New("it is asleep"), "wake it") }
	if f := of(t, s, "directory"); f.Cure != "wake it (docs/sign-in.md)" {
		t.Errorf("the finding is %+v", f)
	}
}

func TestPeopleOfWhomTheDirectoryIsNotSureAreNamed(t *testing.T) {
	t.Parallel()
	const name = "users of the directory"
	s := healthy(t)
	wants(t, "no directory", of(t, s, name), Skipped, "off")
	s.Config.LDAP.URL = "ldaps://dc.example.com"
	wants(t, "all are sure", of(t, s, name), OK, "runs every 5m")
	s.Facts.Unsure = []string{"ann@example.com: several entries have the entryUUID; the account does not change"}
	wants(t, "one is not", of(t, s, name), Warning, "ann@example.com: several entries")
	s.Facts.Unsure = slices.Repeat(s.Facts.Unsure, 7)
	if all := checkPeople(t.Context(), s); len(all) != mostUnsure+1 || all[mostUnsure].Text != "2 more like these" {
		t.Errorf("of seven it tells %+v", all)
	}
	s.Running = false
	wants(t, "no server", of(t, s, name), Skipped, "running server")
}
