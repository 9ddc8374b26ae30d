// Package openid signs people in at providers of OpenID Connect: with the code flow and PKCE
// (OpenID Connect Core 1.0, RFC 7636), and RFC 9207 against providers that are mixed up. It reads
// the messages of providers about the end of their sessions (Back-Channel Logout 1.0).
//
// A Flow binds a sign-in to the browser that began it. State, nonce and code verifier are derived
// from it and from the provider, so an answer of one provider is not valid for another.
package openid

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"pushbox/internal/hint"
	"pushbox/internal/secret"
)

const (
	// skew is how far the clocks of provider and server may differ.
	skew = time.Minute
	// patience is how long everything together takes that a sign-in asks a provider for.
	patience = 10 * time.Second
)

// Errors of a sign-in.
var (
	// ErrDown says that the provider does not answer, or not as one.
	ErrDown = errors.New("the provider does not answer")
	// ErrClient says that the provider does not accept pushbox's client_id or client_secret.
	ErrClient = errors.New("the provider rejected client_id or client_secret")
	// ErrFlow says that an answer is not to a sign-in that this browser began.
	ErrFlow = errors.New("the answer does not belong to a sign-in of this browser")
	// ErrDeclined says that the provider, or the person there, ended the sign-in.
	ErrDeclined = errors.New("the provider declined")
	// ErrToken says that a token of the provider is not valid.
	ErrToken = errors.New("the token is not valid")
)

// Options say what provider it is, and as which client it knows pushbox.
type Options struct {
	Issuer      string // its address
	ClientID    string
	Secret      secret.Text    // zero: a public client
	Scopes      []string       // in addition to openid
	Groups      string         // the claim that has the groups of a person; empty: none is read
	NeedsGroups func() bool    // whether groups that a token lacks are asked for; nil: they are
	Roots       *x509.CertPool // of authorities that may sign the provider's certificate; nil: those of the system
	Now         func() time.Time
}

// A Provider signs people in. It is safe for concurrent use.
type Provider struct {
	opts   Options
	client *http.Client
	asking chan struct{}         // holds a value while a call reads the provider's description
	found  atomic.Pointer[found] // nil until it has answered
}

type found struct {
	*oidc.Provider
	keys     oidc.KeySet
	rareKeys oidc.KeySet // for tokens that any client can send
	config   *oidc.Config
	endpoints
}

// endpoints are the fields of the provider's description that package oidc does not read.
type endpoints struct {
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Persons       string   `json:"userinfo_endpoint"`
	Keys          string   `json:"jwks_uri"`
	EndSession    string   `json:"end_session_endpoint"`
	SaysIssuer    bool     `json:"authorization_response_iss_parameter_supported"`
	Scopes        []string `json:"scopes_supported"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
}

var algorithms = []string{oidc.RS256, oidc.PS256, oidc.ES256, oidc.EdDSA}

// New returns a provider. It asks it for nothing yet.
func New(o Options) *Provider {
	return &Provider{opts: o, client: newClient(o.Roots), asking: make(chan struct{}, 1)}
}

// Check returns ErrDown unless the provider answers as one, and offers what is needed, and
// ErrClient, with the next step, if it refuses pushbox itself. To find that out, it sends a code
// that the provider never gave, with the secret in the header and in the form, since providers
// take it in one of them: RFC 6749, section 5.2, has invalid_client for a client that is unknown
// or has a wrong secret, and invalid_grant for a code.
func (p *Provider) Check(ctx context.Context) error {
	ctx, cancel := p.context(ctx)
	defer cancel()
	d, err := p.find(ctx)
	if err != nil {
		return err
	}
	for _, style := range []oauth2.AuthStyle{oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams} {
		c := p.config(d, "")
		c.Endpoint.AuthStyle = style
		_, err := c.Exchange(ctx, newFlow(p.opts.Now()).secret.Reveal())
		if err == nil {
			return nil
		}
		switch err = exchangeError(err); {
		case errors.Is(err, ErrClient): // or it takes the secret elsewhere
		case errors.Is(err, ErrToken): // it refuses the code
			return nil
		default:
			return err
		}
	}
	return hint.With(ErrClient, "copy client_id and client_secret from the provider's settings for pushbox; after a change, restart pushbox")
}

func (p *Provider) context(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(oidc.ClientContext(ctx, p.client), patience)
}

// find returns the provider's description. Until the provider has answered once, each call asks it.
func (p *Provider) find(ctx context.Context) (*found, error) {
	select {
	case p.asking <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: too many sign-ins wait for it", ErrDown)
	}
	defer func() { <-p.asking }()
	if f := p.found.Load(); f != nil {
		return f, nil
	}
	d, err := oidc.NewProvider(ctx, p.opts.Issuer)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrDown, reason(err))
	}
	f := &found{Provider: d}
	if err := d.Claims(&f.endpoints); err != nil {
		return nil, fmt.Errorf("%w: its description is malformed", ErrDown)
	}
	if err := p.check(f.endpoints); err != nil {
		return nil, err
	}
	f.keys = oidc.NewRemoteKeySet(ctx, f.Keys)
	rare := *p.client
	rare.Transport = &rarely{RoundTripper: p.client.Transport, now: p.opts.Now}
	f.rareKeys = oidc.NewRemoteKeySet(oidc.ClientContext(ctx, &rare), f.Keys)
	f.config = &oidc.Config{
		ClientID: p.opts.ClientID, SupportedSigningAlgs: f.offered(),
		Now: func() time.Time { return p.opts.Now().Add(-skew) }, // only whether a token has expired depends on it
	}
	p.found.Store(f)
	return f, nil
}

// offered lists the algorithms that the provider has and pushbox accepts: RS256 is the one that
// each provider has.
func (e endpoints) offered() []string {
	return slices.DeleteFunc(slices.Clone(algorithms), func(name string) bool {
		return !slices.Contains(e.Algorithms, name) && (name != oidc.RS256 || len(e.Algorithms) > 0)
	})
}

// check refuses a provider that lacks something that a sign-in needs, or offers it without TLS.
func (p *Provider) check(e endpoints) error {
	plain := strings.HasPrefix(strings.ToLower(p.opts.Issuer), "http://")
	for name, address := range map[string]string{"authorization_endpoint": e.Authorization, "token_endpoint": e.Token, "jwks_uri": e.Keys} {
		if address == "" {
			return fmt.Errorf("%w: it has no %s", ErrDown, name)
		}
	}
	for _, address := range []string{e.Authorization, e.Token, e.Keys, e.Persons, e.EndSession} {
		if u, err := url.Parse(address); err != nil || address != "" && u.Scheme != "https" && (!plain || u.Scheme != "http") {
			return fmt.Errorf("%w: one of its addresses is not https", ErrDown)
		}
	}
	if len(e.offered()) == 0 {
		return fmt.Errorf("%w: it uses no signature algorithm of %v", ErrDown, algorithms)
	}
	return nil
}

// FlowLasts is how long a person has to sign in at the provider.
const FlowLasts = 10 * time.Minute

// A Flow is the secret of one sign-in, for the browser that began it. It has the time at which
// that began: with another one, state, nonce and code verifier would be others, too.
type Flow struct{ secret secret.Text }

const (
	flowTime = 8             // bytes of a flow for its time, in milliseconds
	flowSize = flowTime + 32 // and the random ones
)

// ReadFlow returns the flow whose text a browser sent.
func ReadFlow(text secret.Text) Flow { return Flow{text} }

// Text is the form of the flow that the browser keeps.
func (f Flow) Text() secret.Text { return f.secret }

func newFlow(now time.Time) Flow {
	b := make([]byte, flowSize)
	_, _ = rand.Read(b[flowTime:]) // never fails: crypto/rand ends the program instead
	binary.BigEndian.PutUint64(b, uint64(now.UnixMilli()))
	return Flow{secret.New(base64.RawURLEncoding.EncodeToString(b))}
}

// lasts reports whether the flow has the form of one that was begun, not too long ago.
func (f Flow) lasts(now time.Time) bool {
	b, err := base64.RawURLEncoding.Strict().DecodeString(f.secret.Reveal())
	if err != nil || len(b) != flowSize {
		return false
	}
	begun := time.UnixMilli(int64(binary.BigEndian.Uint64(b)))
	return now.Sub(begun) < FlowLasts && begun.Sub(now) < skew
}

// part derives a part of the flow for the provider.
func (p *Provider) part(f Flow, name string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s", name, p.opts.Issuer, p.opts.ClientID, f.secret.Reveal()))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (p *Provider) state(f Flow) string    { return p.part(f, "state") }
func (p *Provider) nonce(f Flow) string    { return p.part(f, "nonce") }
func (p *Provider) verifier(f Flow) string { return p.part(f, "verifier") }

// config returns the client of the provider that answers are sent to that address for.
func (p *Provider) config(f *found, back string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.opts.ClientID, ClientSecret: p.opts.Secret.Reveal(), Endpoint: f.Endpoint(), RedirectURL: back,
		Scopes: append([]string{oidc.ScopeOpenID}, p.scopes(f)...),
	}
}

const groupsScope = "groups"

func (p *Provider) scopes(f *found) []string {
	if p.opts.Groups == "" || !slices.Contains(f.Scopes, groupsScope) || slices.Contains(p.opts.Scopes, groupsScope) {
		return p.opts.Scopes
	}
	return append(slices.Clone(p.opts.Scopes), groupsScope)
}

// Begin begins a sign-in. The browser goes to the address that it returns, and the provider
// sends it back to the address back. ErrDown.
func (p *Provider) Begin(ctx context.Context, back string) (to string, f Flow, err error) {
	ctx, cancel := p.context(ctx)
	defer cancel()
	d, err := p.find(ctx)
	if err != nil {
		return "", Flow{}, err
	}
	f = newFlow(p.opts.Now())
	return p.config(d, back).AuthCodeURL(p.state(f), oidc.Nonce(p.nonce(f)), oauth2.S256ChallengeOption(p.verifier(f))), f, nil
}

// MaySignOut reports whether a person may be able to sign out of the provider. It asks nothing, so
// it does not know before the provider has answered once.
func (p *Provider) MaySignOut() bool {
	f := p.found.Load()
	return f == nil || f.EndSession != ""
}

// SignOut returns the address at which a person signs out of the provider, which sends the
// browser back to the address back; empty if it has none. ErrDown.
func (p *Provider) SignOut(ctx context.Context, back string) (string, error) {
	ctx, cancel := p.context(ctx)
	defer cancel()
	d, err := p.find(ctx)
	if err != nil || d.EndSession == "" {
		return "", err
	}
	u, err := url.Parse(d.EndSession)
	if err != nil {
		return "", fmt.Errorf("%w: its end_session_endpoint is malformed", ErrDown)
	}
	q := u.Query()
	q.Set("client_id", p.opts.ClientID)
	q.Set("post_logout_redirect_uri", back)
	u.RawQuery = q.Encode()
	return u.String(), nil
}
