package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"
)

const (
	agent      = "pushbox"
	answerTime = 30 * time.Second // for one answer of the authority
)

// order fetches a certificate for a domain and returns its key and chain as PEM.
func (a *authority) order(ctx context.Context, d *domain) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, orderTime)
	defer cancel()
	client, err := a.client()
	if err != nil {
		return nil, err
	}
	defer client.HTTPClient.CloseIdleConnections()
	account, err := a.register(ctx, client)
	if err != nil {
		return nil, err
	}
	key, keyPEM, err := newKey()
	if err != nil {
		return nil, err
	}
	csr, err := acmez.NewCSR(key, []string{d.name})
	if err != nil {
		return nil, err
	}
	wanted, err := acmez.OrderParametersFromCSR(account, csr)
	if err != nil {
		return nil, err
	}
	wanted.Replaces = d.replaces()
	chains, err := client.ObtainCertificate(ctx, wanted)
	if err != nil {
		return nil, err
	}
	if len(chains) == 0 {
		return nil, errors.New("the certificate authority sent no certificate")
	}
	return bytes.Join([][]byte{keyPEM, chains[0].ChainPEM}, nil), nil
}

// register returns the account, which the authority makes if it has none of that
// key.
func (a *authority) register(ctx context.Context, client *acmez.Client) (acme.Account, error) {
	key, err := a.files.account()
	if err != nil {
		return acme.Account{}, fmt.Errorf("the key of the account: %w", err)
	}
	account := acme.Account{TermsOfServiceAgreed: true, PrivateKey: key}
	if a.cfg.Email != "" {
		account.Contact = []string{"mailto:" + a.cfg.Email}
	}
	return client.NewAccount(ctx, account)
}

// replaces is the certificate that the next one is instead of, where the
// authority knows of such things: it is then no new one to its limits. After a
// failure it is ordered as if it were new, in case the fault lies there.
func (d *domain) replaces() *x509.Certificate {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failures > 0 || d.cert == nil || d.advice.UniqueIdentifier == "" {
		return nil
	}
	return d.cert.Leaf
}

// takeAdvice asks the authority when to renew a certificate (RFC 9773), now and
// then while it is not due: it may have to revoke it. That there is no advice is no
// failure.
func (a *authority) takeAdvice(ctx context.Context, d *domain, leaf *x509.Certificate) {
	d.mu.Lock()
	old := d.advice
	needless := a.now().Before(d.asked.Add(adviceEvery)) || !a.now().Before(d.plan(leaf))
	d.mu.Unlock()
	if needless {
		return
	}
	advice := a.ask(ctx, leaf)
	if advice.UniqueIdentifier == "" || advice.SameWindow(old) {
		advice = old // with the moment that was drawn once
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.advice, d.asked = advice, a.now()
}

// ask returns the advice; zero if there is none.
func (a *authority) ask(ctx context.Context, leaf *x509.Certificate) acme.RenewalInfo {
	ctx, cancel := context.WithTimeout(ctx, adviceTime)
	defer cancel()
	client, err := a.client()
	if err != nil {
		return acme.RenewalInfo{}
	}
	defer client.HTTPClient.CloseIdleConnections()
	advice, err := client.GetRenewalInfo(ctx, leaf)
	if err != nil {
		return acme.RenewalInfo{}
	}
	return advice
}

// client makes a client of the authority. It is made anew for each order, so that
// a root that was replaced counts.
func (a *authority) client() (*acmez.Client, error) {
	roots, err := a.roots()
	if err != nil {
		return nil, err
	}
	solvers := map[string]acmez.Solver{acme.ChallengeTypeTLSALPN01: a.proofs}
	if a.overTCP {
		solvers[acme.ChallengeTypeHTTP01] = a.proofs
	}
	transport := &http.Transport{
		Proxy:             http.ProxyFromEnvironment,
		TLSClientConfig:   &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true,
	}
	return &acmez.Client{
		Client: &acme.Client{
			Directory: a.cfg.DirectoryURL, UserAgent: agent, PollTimeout: orderTime,
			HTTPClient: &http.Client{Transport: transport, Timeout: answerTime},
		},
		ChallengeSolvers: solvers,
	}, nil
}

// roots are what the authority's own HTTPS must be signed by; nil: what the
// machine trusts.
func (a *authority) roots() (*x509.CertPool, error) {
	if a.cfg.CAFile == "" {
		return nil, nil
	}
	text, err := readBounded(a.cfg.CAFile)
	if err != nil {
		return nil, fmt.Errorf("tls.acme.ca_file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("tls.acme.ca_file: %s holds no certificate in PEM", a.cfg.CAFile)
	}
	return pool, nil
}

func (a *authority) checkRoot() error {
	_, err := a.roots()
	return err
}
