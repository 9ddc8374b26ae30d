package certs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"pushbox/internal/certs"
	"pushbox/internal/testkit/acmetest"
	"pushbox/internal/testkit/env"
)

const closedPort = 1 // nothing listens there

func TestACertificateIsFetchedOverTLS(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	ca := s.reached()
	s.start()
	e := s.fetched()
	leaf := s.mustShow(domain, ca.Issued)
	if !leaf.NotAfter.Equal(e.Expires) || !s.certs.Expiry().Equal(leaf.NotAfter) || e.Domain != domain {
		t.Errorf("it tells %+v of one that ends %v", e, leaf.NotAfter)
	}
	for _, name := range []string{"PUSH.example.com", "", "stranger.example"} {
		if got := s.mustShow(name, nil); !got.Equal(leaf) {
			t.Errorf("%q is shown another certificate", name)
		}
	}
	wantPrivate(t, filepath.Join(s.cfg.DataDir, certs.Directory))
}

// wantPrivate fails the test unless a directory has three files, of the account and of
// the domain, and other users can neither list the directory nor read the files.
func wantPrivate(t *testing.T, dir string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return
	}
	var names []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if names = append(names, e.Name()); e.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %04o", path, info.Mode().Perm())
		}
		return nil
	})
	if got := strings.Join(names, " "); err != nil || !strings.HasPrefix(got, "acme ca-127.0.0.1-") || !strings.HasSuffix(got, "-dir account.key push.example.com.pem") {
		t.Errorf("there is %s, %v", got, err)
	}
}

func TestACertificateIsFetchedOverHTTP(t *testing.T) {
	t.Parallel()
	s := newSite(t, true)
	ca := s.authority(acmetest.Options{HTTPPort: port(s.http), TLSPort: closedPort})
	s.start()
	s.fetched()
	s.mustShow(domain, ca.Issued)
}

func TestEachDomainHasItsCertificate(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	ca := s.reached()
	s.cfg.TLS.ACME.Domains = []string{domain, another}
	s.start()
	s.fetched()
	s.fetched()
	s.mustShow(domain, ca.Issued)
	s.mustShow(another, ca.Issued)
}

func TestACertificateIsRenewedInTimeAndNotBefore(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	ca := s.authority(acmetest.Options{HTTPPort: closedPort, TLSPort: port(s.tls), Validity: 6 * time.Second})
	s.start()
	first, second := s.fetched().Expires, s.fetched().Expires
	if used := second.Sub(first); used < 3*time.Second { // of six; a busy machine renews it later
		t.Errorf("it was renewed after %v", used)
	}
	if s.mustShow(domain, nil).NotAfter.Before(second) || ca.Orders() < 2 {
		t.Error("the old one is shown")
	}
}

func TestAnAuthorityMayAskForAnEarlierRenewal(t *testing.T) {
	t.Parallel()
	s, ca := newServed(t)
	first := s.mustShow(domain, ca.Issued)
	env.OK(t, ca.AskToRenew(first))
	s.restart()
	s.silent()
	s.stopSite()
	s.clock.Advance(2 * time.Hour)
	s.restart()
	s.fetched()
	if s.mustShow(domain, ca.Issued).Equal(first) || ca.Orders() != 2 {
		t.Errorf("there are %d orders", ca.Orders())
	}
}

func TestARestartOrdersNothing(t *testing.T) {
	t.Parallel()
	s, ca := newServed(t)
	first := s.mustShow(domain, ca.Issued)
	ca.SetDown(true)
	s.restart()
	if !s.mustShow(domain, ca.Issued).Equal(first) {
		t.Error("another certificate is shown")
	}
	ca.SetDown(false)
	s.restart()
	if !s.mustShow(domain, ca.Issued).Equal(first) || ca.Orders() != 1 {
		t.Errorf("there are %d orders", ca.Orders())
	}
	s.silent()
}

func TestAnAuthorityThatIsDownTakesNothingAway(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	ca := s.reached()
	ca.SetDown(true)
	s.start()
	if e := s.failure(); e.Domain != domain || !strings.Contains(e.Text, "no HTTPS") || !strings.Contains(e.Hint, "does not answer") {
		t.Errorf("it tells %+v", e)
	}
	if _, err := s.shown(domain, nil); err == nil || !s.certs.Expiry().IsZero() {
		t.Error("there is a certificate before one was fetched")
	}
	ca.SetDown(false)
	s.reload() // or it waits for two minutes
	s.fetched()
	first := s.mustShow(domain, ca.Issued)

	ca.SetDown(true)
	s.clock.Advance(61 * 24 * time.Hour)
	s.reload()
	if e := s.failure(); !strings.Contains(e.Text, "the old one stays") || !e.Expires.Equal(first.NotAfter) {
		t.Errorf("it tells %+v", e)
	}
	s.clock.Advance(60 * 24 * time.Hour)
	s.reload()
	if e := s.failure(); !strings.Contains(e.Text, "expired") {
		t.Errorf("it tells %+v", e)
	}
	s.restart()
	s.failure()
	if !s.mustShow(domain, nil).Equal(first) {
		t.Error("the old certificate is gone after a restart")
	}
}

func (s *site) reload() {
	s.t.Helper()
	env.OK(s.t, s.certs.Reload())
}

func TestARefusedProofNamesTheCure(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	s.authority(acmetest.Options{HTTPPort: closedPort, TLSPort: closedPort})
	s.start()
	if e := s.failure(); !strings.Contains(e.Hint, "at port 443") || !strings.Contains(e.Hint, "again in 2m") || e.Domain != domain {
		t.Errorf("it tells %+v", e)
	}
}

func TestAnUntrustedAuthorityIsNotAsked(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	ca := s.reached()
	wrong := filepath.Join(t.TempDir(), "wrong.pem")
	env.OK(t, os.WriteFile(wrong, ca.IssuedPEM, 0o600))
	right := s.cfg.TLS.ACME.CAFile
	s.cfg.TLS.ACME.CAFile = wrong
	s.start()
	if e := s.failure(); !strings.Contains(e.Hint, "tls.acme.ca_file") || ca.Orders() != 0 {
		t.Errorf("it tells %+v", e)
	}
	root := env.Read(t, right)
	env.OK(t, os.WriteFile(wrong, []byte("no certificate"), 0o600))
	if err := s.certs.Reload(); err == nil || !strings.Contains(err.Error(), "tls.acme.ca_file") {
		t.Errorf("what is no root is taken: %v", err)
	}
	env.OK(t, os.WriteFile(wrong, root, 0o600))
	s.reload()
	s.fetched()
}

func TestSettingsThatNameNothingAreRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	s.authority(acmetest.Options{})
	s.cfg.TLS.ACME.CAFile = filepath.Join(t.TempDir(), "none.pem")
	_, err := certs.New(certs.Options{Config: s.cfg, Tell: s.log.tell})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "tls.acme.ca_file") {
		t.Errorf("got %v", err)
	}
}

func TestAKeptCertificateThatIsDamagedIsOrderedAgain(t *testing.T) {
	t.Parallel()
	s, ca := newServed(t)
	kept, err := filepath.Glob(filepath.Join(s.cfg.DataDir, certs.Directory, "*", domain+".pem"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("there is %v, %v", kept, err)
	}
	env.OK(t, os.Truncate(kept[0], 300))
	s.restart()
	if e := s.next(); e.Err == nil || !strings.Contains(e.Text, "cannot be used") {
		t.Errorf("it tells %+v", e)
	}
	s.fetched()
	if s.mustShow(domain, ca.Issued); ca.Orders() != 2 {
		t.Errorf("there are %d orders", ca.Orders())
	}
}

func TestAnotherAuthorityHasItsOwnFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t, false)
	first := s.reached()
	s.start()
	s.fetched()
	s.stopSite()
	second := s.reached()
	s.restart()
	s.fetched()
	s.mustShow(domain, second.Issued)
	if _, err := s.shown(domain, first.Issued); err == nil {
		t.Error("the certificate of the first authority is shown")
	}
}
