package openid

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"pushbox/internal/secret"
)

// A Person has the claims of a provider about the person who signed in.
type Person struct {
	Subject  string
	Session  string // the provider's name for its session; may be empty
	Email    string // may be empty
	Verified bool   // the provider says that the address is the person's
	Groups   []string
	Hosted   string // of Google: the domain of the organisation that the account belongs to; empty: none
}

type claims struct {
	Party    string `json:"azp"`
	Session  string `json:"sid"`
	Email    string `json:"email"`
	Verified truth  `json:"email_verified"`
	Hosted   string `json:"hd"`
	all      map[string]json.RawMessage
}

// A truth is a claim that is true or false; some providers send it as a text.
type truth bool

// UnmarshalJSON reads it. What is neither is false.
func (t *truth) UnmarshalJSON(b []byte) error {
	*t = string(b) == "true" || string(b) == `"true"`
	return nil
}

// Finish ends a sign-in with the answer that the provider sent through the browser. It takes
// each code once, since the provider does.
//
// Errors: ErrFlow, ErrDeclined, ErrDown, ErrToken. None has a token, a code or a claim in it.
func (p *Provider) Finish(ctx context.Context, back string, f Flow, answer url.Values) (Person, error) {
	state := []byte(p.state(f))
	if !f.lasts(p.opts.Now()) || subtle.ConstantTimeCompare([]byte(answer.Get("state")), state) != 1 {
		return Person{}, ErrFlow
	}
	ctx, cancel := p.context(ctx)
	defer cancel()
	d, err := p.find(ctx)
	if err != nil {
		return Person{}, err
	}
	if iss := answer.Get("iss"); iss != p.opts.Issuer && (iss != "" || d.SaysIssuer) {
		return Person{}, fmt.Errorf("%w: it comes from another provider", ErrFlow)
	}
	if answer.Get("error") != "" || answer.Get("code") == "" {
		return Person{}, ErrDeclined
	}
	tokens, err := p.config(d, back).Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(p.verifier(f)))
	if err != nil {
		return Person{}, exchangeError(err)
	}
	return p.read(ctx, d, f, tokens)
}

func (p *Provider) read(ctx context.Context, d *found, f Flow, tokens *oauth2.Token) (Person, error) {
	raw, _ := tokens.Extra("id_token").(string)
	keys := &keyring{KeySet: d.keys}
	id, err := oidc.NewVerifier(p.opts.Issuer, keys, d.config).Verify(ctx, raw)
	if err != nil {
		return Person{}, keys.tokenError(err)
	}
	c, err := readClaims(id)
	switch {
	case err != nil:
		return Person{}, err
	case subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(p.nonce(f))) != 1:
		return Person{}, fmt.Errorf("%w: its nonce is wrong", ErrToken)
	case c.Party != "" && c.Party != p.opts.ClientID, c.Party == "" && len(id.Audience) > 1:
		return Person{}, fmt.Errorf("%w: it is for another client", ErrToken)
	case id.Subject == "":
		return Person{}, fmt.Errorf("%w: it has no subject", ErrToken)
	case p.isFuture(id.IssuedAt):
		return Person{}, fmt.Errorf("%w: its time is in the future: the clocks differ", ErrToken)
	}
	who := Person{Subject: id.Subject, Session: c.Session, Email: c.Email, Verified: bool(c.Verified), Groups: c.texts(p.opts.Groups), Hosted: c.Hosted}
	lacks := p.opts.Groups != "" && c.all[p.opts.Groups] == nil && p.needsGroups()
	if d.Persons != "" && (who.Email == "" || lacks) {
		err = p.askMore(ctx, d, tokens, &who)
	}
	return who, err
}

func (p *Provider) askMore(ctx context.Context, d *found, tokens *oauth2.Token, who *Person) error {
	info, err := d.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return fmt.Errorf("%w: its userinfo_endpoint gives no answer", ErrDown)
	}
	if info.Subject != who.Subject {
		return fmt.Errorf("%w: the userinfo_endpoint answers for another person", ErrToken)
	}
	c, err := readClaims(info)
	if err != nil {
		return err
	}
	if who.Email == "" {
		who.Email, who.Verified = c.Email, bool(c.Verified)
	}
	if who.Groups == nil {
		who.Groups = c.texts(p.opts.Groups)
	}
	return nil
}

func (p *Provider) needsGroups() bool { return p.opts.NeedsGroups == nil || p.opts.NeedsGroups() }

func (p *Provider) isFuture(t time.Time) bool { return t.After(p.opts.Now().Add(skew)) }

func readClaims(of interface{ Claims(any) error }) (c claims, err error) {
	if of.Claims(&c) != nil || of.Claims(&c.all) != nil {
		return c, fmt.Errorf("%w: its claims are malformed", ErrToken)
	}
	return c, nil
}

// texts returns the texts of a claim: of a list, or a single one.
func (c claims) texts(name string) (list []string) {
	var one string
	if raw := c.all[name]; json.Unmarshal(raw, &list) != nil && json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	return list
}

// A SignedOut names a session of a provider that has ended: by person, by name, or both.
type SignedOut struct {
	Subject, Session string
	At               time.Time // sessions that began later continue
}

// ReadSignOut reads a logout token. Any client can send one, so a token that is signed by an unknown
// key has the provider asked for its keys only if it is else a valid one, and not again within
// keysRest; until then it is not valid. Errors: ErrDown, ErrToken.
func (p *Provider) ReadSignOut(ctx context.Context, token secret.Text) (SignedOut, error) {
	ctx, cancel := p.context(ctx)
	defer cancel()
	d, err := p.find(ctx)
	if err != nil {
		return SignedOut{}, err
	}
	keys, unsigned := &keyring{KeySet: d.rareKeys}, *d.config
	unsigned.InsecureSkipSignatureCheck = true // it is checked next
	if _, err := oidc.NewVerifier(p.opts.Issuer, keys, &unsigned).VerifyLogout(ctx, token.Reveal()); err != nil {
		return SignedOut{}, keys.tokenError(err)
	}
	t, err := oidc.NewVerifier(p.opts.Issuer, keys, d.config).VerifyLogout(ctx, token.Reveal())
	if err != nil {
		return SignedOut{}, keys.tokenError(err)
	}
	if p.isFuture(t.IssuedAt) || t.Subject == "" && t.SessionID == "" {
		return SignedOut{}, ErrToken
	}
	return SignedOut{Subject: t.Subject, Session: t.SessionID, At: t.IssuedAt.Add(skew)}, nil
}

// exchangeError is the error of a code that gave no tokens. What the provider sent is no part
// of it.
func exchangeError(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response != nil && refused.Response.StatusCode < 500 {
		if refused.ErrorCode == "invalid_client" {
			return fmt.Errorf("%w: %w", ErrToken, ErrClient)
		}
		return fmt.Errorf("%w: the provider returned no token for the code: status %d, %q", ErrToken, refused.Response.StatusCode, short(refused.ErrorCode))
	}
	return fmt.Errorf("%w: it returned no tokens: %s", ErrDown, reason(err))
}

// A keyring verifies one token with the keys of a provider, and keeps the error if it could not
// read them. The verifier reports that as a wrong signature.
type keyring struct {
	oidc.KeySet
	unread error
}

// VerifySignature returns the claims of a token that one of the keys has signed.
func (k *keyring) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	b, err := k.KeySet.VerifySignature(ctx, token)
	if err != nil && strings.HasPrefix(err.Error(), "fetching keys ") { // of oidc.RemoteKeySet, which has no type for it
		k.unread = err
	}
	return b, err
}

func (k *keyring) tokenError(err error) error {
	var expired *oidc.TokenExpiredError
	switch {
	case k.unread != nil && !errors.Is(k.unread, errResting):
		return fmt.Errorf("%w: its keys cannot be read: %s", ErrDown, reason(k.unread))
	case errors.As(err, &expired):
		return fmt.Errorf("%w: it has expired", ErrToken)
	}
	return fmt.Errorf("%w: it is malformed, of another issuer, for another client, or signed by a key or an algorithm that is not the provider's", ErrToken)
}

// reason says why the provider could not be asked. Errors of the libraries may have whole
// answers in them.
func reason(err error) string {
	var network *url.Error
	var other *oidc.IssuerMismatchError
	switch {
	case errors.As(err, &network):
		return short(network.Err.Error())
	case errors.As(err, &other):
		return "it calls itself " + short(other.Discovered)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "it took too long"
	default:
		return "its answer is not that of a provider"
	}
}

func short(text string) string {
	const most = 200
	return strings.ToValidUTF8(text[:min(most, len(text))], "")
}
