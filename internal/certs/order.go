package certs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"
)

const (
	agent      = "pushbox"
	answerTime = 30 * time.Second // for each answer of the authority
)

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

// replaces returns the certificate that the next one replaces, if the authority supports
// that (RFC 9773): the order then does not count towards its rate limits. After a failure
// it returns nil, in case the authority refuses the replacement.
func (d *domain) replaces() *x509.Certificate {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failures > 0 || d.cert == nil || d.advice.UniqueIdentifier == "" {
		return nil
	}
	return d.cert.Leaf
}

// takeAdvice asks the authority when to renew a certificate (RFC 9773), now and then while
// it is not due: the authority may have to revoke it. Missing advice is no failure.
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
		advice = old // with the time that was drawn from its window before
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.advice, d.asked = advice, a.now()
}

// ask returns the authority's advice; zero if there is none.
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

// client returns a new client of the authority. Each order has its own, so that a replaced
// root is used.
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

func (a *authority) roots() (*x509.CertPool, error) { return Roots(a.cfg.CAFile, "tls.acme.ca_file") }

// challengeProtocol is the ALPN protocol by which the authority asks for a proof over TLS
// (RFC 8737).
const challengeProtocol = acmez.ACMETLS1Protocol

// proofs are the proofs, of orders in progress, that a domain leads here: texts over HTTP by domain
// and token, and certificates over TLS by domain. It is an acmez.Solver of both kinds of challenge.
type proofs struct{ texts, shown sync.Map }

func (p *proofs) Present(_ context.Context, c acme.Challenge) error {
	if c.Type != acme.ChallengeTypeTLSALPN01 {
		p.texts.Store([2]string{c.Identifier.Value, c.Token}, c.KeyAuthorization)
		return nil
	}
	cert, err := acmez.TLSALPN01ChallengeCert(c)
	if err == nil {
		p.shown.Store(c.Identifier.Value, cert)
	}
	return err
}

func (p *proofs) CleanUp(_ context.Context, c acme.Challenge) error {
	if c.Type == acme.ChallengeTypeTLSALPN01 {
		p.shown.Delete(c.Identifier.Value)
	} else {
		p.texts.Delete([2]string{c.Identifier.Value, c.Token})
	}
	return nil
}

func (p *proofs) certificate(name string) (*tls.Certificate, error) {
	cert, ok := p.shown.Load(name)
	if !ok {
		return nil, errors.New("no certificate authority waits for a proof")
	}
	return cert.(*tls.Certificate), nil
}

const (
	cureReach = "the certificate authority must reach this server by the domain, at port 443 or, with tls.redirect_listen, at port 80: check the DNS and the firewall"
	cureTrust = "name the file with the root certificate that signs the authority's own HTTPS in tls.acme.ca_file, and check tls.acme.directory_url and the clock"
	cureDown  = "the certificate authority does not answer: check tls.acme.directory_url and this machine's network"
	cureOther = "see the message of the certificate authority"

	cureNames   = "this certificate authority does not sign such names: see tls.acme.domains, or use another authority"
	cureContact = "give another address in tls.acme.email, or none"
)

func explain(err error) string {
	switch p, reported := errors.AsType[acme.Problem](err); {
	case reported:
		return cmp.Or(cures[strings.TrimPrefix(p.Type, acme.ProblemTypeNamespace)], cureOther)
	case is[x509.UnknownAuthorityError](err), is[x509.HostnameError](err), is[x509.CertificateInvalidError](err):
		return cureTrust
	case is[net.Error](err), errors.Is(err, context.DeadlineExceeded):
		return cureDown
	}
	return cureOther
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// cures are the hints for the problems that the authority reports (RFC 8555 section 6.7).
var cures = map[string]string{
	"connection": cureReach, "dns": cureReach, "tls": cureReach, "unauthorized": cureReach, "incorrectResponse": cureReach,
	"caa":                     "a CAA record of the domain's DNS forbids this certificate authority: change it, or use another authority",
	"rateLimited":             "the certificate authority's rate limit is reached: wait",
	"rejectedIdentifier":      cureNames,
	"unsupportedIdentifier":   cureNames,
	"invalidContact":          cureContact,
	"unsupportedContact":      cureContact,
	"externalAccountRequired": "this certificate authority needs accounts that were created there before, which pushbox does not support: use another",
	"accountDoesNotExist":     "move account.key away from the directory of this authority, in acme in data_dir: pushbox then creates a new account",
	"serverInternal":          "the certificate authority has an internal error: wait",
}
