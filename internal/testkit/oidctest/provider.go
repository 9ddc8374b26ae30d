// Package oidctest provides a provider of OpenID Connect for tests. It keeps to the protocol,
// gives each code once, and checks PKCE; a test can change what is in its tokens, and how they
// are signed.
package oidctest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"pushbox/internal/testkit/env"
)

// The client that providers know.
const (
	ClientID     = "pushbox"
	ClientSecret = "the secret of the client"
)

// Claims are what is in a token.
type Claims map[string]any

// A Provider is one on a real listener. Its fields may be changed between requests.
type Provider struct {
	URL string // which is its issuer

	Person    Claims              // that signs in; nil: it declines
	ID        Claims              // replaces claims of the ID token; nil values remove some
	More      Claims              // what the endpoint for persons says beside the subject; nil: there is no such endpoint
	Discovery Claims              // replaces what it says of itself
	Answer    url.Values          // replaces parameters of the answer; empty values remove some
	Sign      func(Claims) string // signs ID tokens; nil: as a provider does
	Down      bool                // it answers nothing but 503
	Now       func() time.Time

	t      testing.TB
	key    *ecdsa.PrivateKey
	server *httptest.Server

	mu     sync.Mutex
	codes  map[string]url.Values // with the parameters of the request for each; nil: it was used
	asked  url.Values            // the last request for a sign-in
	visits int
}

// New starts a provider that runs until the test ends.
func New(t testing.TB) *Provider {
	t.Helper()
	key := env.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	p := &Provider{
		t: t, key: key, codes: make(map[string]url.Values), Now: time.Now,
		Person: Claims{"sub": "subject-1", "sid": "session-1", "email": "pat@example.com", "email_verified": true},
	}
	p.server = httptest.NewServer(p)
	p.URL = p.server.URL
	t.Cleanup(p.server.Close)
	return p
}

// T is the test that the provider runs for.
func (p *Provider) T() testing.TB { return p.t }

// Visits returns how many requests it has got.
func (p *Provider) Visits() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.visits
}

// Asked returns the parameters of the last request for a sign-in.
func (p *Provider) Asked() url.Values {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// ServeHTTP answers as a provider.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.visits++
	switch {
	case p.Down:
		http.Error(w, "canary-down", http.StatusServiceUnavailable)
	case r.URL.Path == "/.well-known/openid-configuration":
		answer(w, http.StatusOK, p.discovery())
	case r.URL.Path == "/keys":
		answer(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: p.key.Public(), KeyID: "1", Algorithm: "ES256", Use: "sig"}}})
	case r.URL.Path == "/authorize":
		http.Redirect(w, r, p.authorize(r.URL.Query()), http.StatusFound)
	case r.URL.Path == "/token":
		p.token(w, r)
	case r.URL.Path == "/persons" && r.Header.Get("Authorization") == "Bearer access":
		answer(w, http.StatusOK, replaced(Claims{"sub": p.Person["sub"]}, p.More))
	default:
		http.NotFound(w, r)
	}
}

func (p *Provider) discovery() Claims {
	d := Claims{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
		"end_session_endpoint": p.URL + "/end", "id_token_signing_alg_values_supported": []string{"none", "HS256", "ES256"},
	}
	if p.More != nil {
		d["userinfo_endpoint"] = p.URL + "/persons"
	}
	return replaced(d, p.Discovery)
}

// authorize returns the address to which a request for a sign-in leads back.
func (p *Provider) authorize(q url.Values) string {
	p.asked = q
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" {
		p.t.Errorf("the request for a sign-in is %v", q)
		return p.URL
	}
	to := url.Values{"state": {q.Get("state")}}
	if p.Person == nil {
		to.Set("error", "access_denied")
	} else {
		code := rand.Text()
		p.codes[code] = q
		to.Set("code", code)
	}
	for name, values := range p.Answer {
		if to[name] = values; values[0] == "" {
			to.Del(name)
		}
	}
	back.RawQuery = to.Encode()
	return back.String()
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	secret, _ = url.QueryUnescape(secret)
	asked := p.codes[r.PostFormValue("code")]
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	switch {
	case id != ClientID || secret != ClientSecret:
		answer(w, http.StatusUnauthorized, Claims{"error": "invalid_client"})
		return
	case asked == nil, asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]), asked.Get("redirect_uri") != r.PostFormValue("redirect_uri"):
		answer(w, http.StatusBadRequest, Claims{"error": "invalid_grant", "error_description": "canary-refusal"})
		return
	}
	p.codes[r.PostFormValue("code")] = nil
	sign := p.Sign
	if sign == nil {
		sign = p.Signed
	}
	answer(w, http.StatusOK, Claims{
		"access_token": "access", "token_type": "Bearer", "expires_in": 60,
		"id_token": sign(replaced(p.IDToken(asked.Get("nonce")), p.ID)),
	})
}

// IDToken are the claims of an ID token for that nonce.
func (p *Provider) IDToken(nonce string) Claims {
	now := p.Now().Unix()
	return replaced(Claims{"iss": p.URL, "aud": ClientID, "iat": now, "exp": now + 300, "nonce": nonce}, p.Person)
}

// SignOutToken are the claims of a logout token.
func (p *Provider) SignOutToken(change Claims) Claims {
	now := p.Now().Unix()
	return replaced(Claims{
		"iss": p.URL, "aud": ClientID, "iat": now, "exp": now + 120, "jti": rand.Text(), "sub": p.Person["sub"], "sid": p.Person["sid"],
		"events": Claims{"http://schemas.openid.net/event/backchannel-logout": Claims{}},
	}, change)
}

// Signed signs a token with the provider's key.
func (p *Provider) Signed(c Claims) string { return p.sign(jose.ES256, p.key, c) }

// SignedBySecret signs a token with the client's secret, HS256.
func (p *Provider) SignedBySecret(c Claims) string {
	return p.sign(jose.HS256, []byte(ClientSecret+ClientSecret), c)
}

// Unsigned is a token with the algorithm none.
func (p *Provider) Unsigned(c Claims) string {
	b, _ := json.Marshal(c) // claims are always JSON
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + base64.RawURLEncoding.EncodeToString(b) + "."
}

func (p *Provider) sign(alg jose.SignatureAlgorithm, key any, c Claims) string {
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, (&jose.SignerOptions{}).WithHeader("kid", "1"))
	if err != nil {
		p.t.Error(err)
		return ""
	}
	b, _ := json.Marshal(c) // claims are always JSON
	signed, err := s.Sign(b)
	if err != nil {
		p.t.Error(err)
		return ""
	}
	text, _ := signed.CompactSerialize() // it was just signed
	return text
}

// replaced returns claims with others in place of some; nil values remove some.
func replaced(c, by Claims) Claims {
	c = maps.Clone(c)
	maps.Copy(c, by)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may have gone
}
