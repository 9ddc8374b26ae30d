package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"sync"

	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"
)

// challengeProtocol is the ALPN protocol by which the authority asks for a proof over TLS
// (RFC 8737).
const challengeProtocol = acmez.ACMETLS1Protocol

// proofs are the proofs, of orders in progress, that a domain leads here. proofs is an
// acmez.Solver of both kinds of challenge.
type proofs struct {
	mu    sync.Mutex
	texts map[[2]string]string        // by domain and token, over HTTP
	shown map[string]*tls.Certificate // by domain, over TLS
}

func newProofs() *proofs {
	return &proofs{texts: make(map[[2]string]string), shown: make(map[string]*tls.Certificate)}
}

func (p *proofs) Present(_ context.Context, c acme.Challenge) error {
	var cert *tls.Certificate
	if c.Type == acme.ChallengeTypeTLSALPN01 {
		made, err := acmez.TLSALPN01ChallengeCert(c)
		if err != nil {
			return err
		}
		cert = made
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if cert != nil {
		p.shown[c.Identifier.Value] = cert
		return nil
	}
	p.texts[[2]string{c.Identifier.Value, c.Token}] = c.KeyAuthorization
	return nil
}

func (p *proofs) CleanUp(_ context.Context, c acme.Challenge) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.Type == acme.ChallengeTypeTLSALPN01 {
		delete(p.shown, c.Identifier.Value)
	} else {
		delete(p.texts, [2]string{c.Identifier.Value, c.Token})
	}
	return nil
}

func (p *proofs) text(host, token string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text, ok := p.texts[[2]string{host, token}]
	return text, ok
}

var errNoProof = errors.New("no proof for a certificate authority is due")

func (p *proofs) certificate(name string) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cert, ok := p.shown[name]
	if !ok {
		return nil, errNoProof
	}
	return cert, nil
}
