package openid_test

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pushbox/internal/hint"
	"pushbox/internal/openid"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/oidctest"
)

const back = "https://push.example.com/users/oidc/office/callback"

// client is pushbox as a client of a provider.
func client(t *testing.T, p *oidctest.Provider, change ...func(*openid.Options)) *openid.Provider {
	t.Helper()
	o := openid.Options{
		Issuer: p.URL, ClientID: oidctest.ClientID, Secret: secret.New(oidctest.ClientSecret),
		Scopes: []string{"email"}, Groups: "groups", Now: p.Now,
	}
	for _, c := range change {
		c(&o)
	}
	return openid.New(o)
}

// visit goes to the provider, as a browser does, and returns what it sends back.
func visit(t *testing.T, to string) url.Values {
	t.Helper()
	browser := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer := env.Must(browser.Get(to))(t)
	_ = answer.Body.Close()
	at := env.Must(answer.Location())(t)
	if !strings.HasPrefix(at.String(), back+"?") {
		t.Fatalf("the provider sends the browser to %s", at)
	}
	return at.Query()
}

func begin(t *testing.T, c *openid.Provider) (to string, f openid.Flow) {
	t.Helper()
	to, f, err := c.Begin(t.Context(), back)
	env.OK(t, err)
	return to, f
}

// signIn goes all the way.
func signIn(t *testing.T, c *openid.Provider) (openid.Person, error) {
	t.Helper()
	to, f := begin(t, c)
	return c.Finish(t.Context(), back, f, visit(t, to))
}

// wantErr fails the test unless err is want, and has nothing in it that was sent.
func wantErr(t *testing.T, err, want error) {
	t.Helper()
	env.ErrorIs(t, "it", err, want)
	if err != nil && (strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "eyJ")) {
		t.Errorf("the error says %v", err)
	}
}

func TestAPersonSignsIn(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	p.Person["groups"] = []string{"staff", "admins"}
	got, err := signIn(t, client(t, p))
	want := openid.Person{Subject: "subject-1", Session: "session-1", Email: "pat@example.com", Verified: true, Groups: []string{"staff", "admins"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if q := p.Asked(); q.Get("scope") != "openid email" || q.Get("redirect_uri") != back || len(q.Get("state")) < 43 || len(q.Get("code_challenge")) != 43 {
		t.Errorf("the provider was asked for %v", q)
	}
}

func TestClaimsComeInOtherForms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*oidctest.Provider)
		want   openid.Person
	}{
		"a single group":           {func(p *oidctest.Provider) { p.Person["groups"] = "staff" }, openid.Person{Subject: "subject-1", Session: "session-1", Email: "pat@example.com", Verified: true, Groups: []string{"staff"}}},
		"a truth as a text":        {func(p *oidctest.Provider) { p.Person["email_verified"] = "true" }, openid.Person{Subject: "subject-1", Session: "session-1", Email: "pat@example.com", Verified: true}},
		"something else for it":    {func(p *oidctest.Provider) { p.Person["email_verified"] = 1 }, openid.Person{Subject: "subject-1", Session: "session-1", Email: "pat@example.com"}},
		"nothing but the subject":  {func(p *oidctest.Provider) { p.Person = oidctest.Claims{"sub": "s"} }, openid.Person{Subject: "s"}},
		"groups that are no texts": {func(p *oidctest.Provider) { p.Person["groups"] = 7 }, openid.Person{Subject: "subject-1", Session: "session-1", Email: "pat@example.com", Verified: true}},
		"the rest from elsewhere": {func(p *oidctest.Provider) {
			p.Person = oidctest.Claims{"sub": "s"}
			p.More = oidctest.Claims{"email": "pat@example.com", "email_verified": true, "groups": []string{"staff"}}
		}, openid.Person{Subject: "s", Email: "pat@example.com", Verified: true, Groups: []string{"staff"}}},
		"an address from elsewhere that is not verified": {func(p *oidctest.Provider) {
			p.Person = oidctest.Claims{"sub": "s", "email_verified": true}
			p.More = oidctest.Claims{"email": "pat@example.com"}
		}, openid.Person{Subject: "s", Email: "pat@example.com"}},
		"two audiences": {func(p *oidctest.Provider) {
			p.Person = oidctest.Claims{"sub": "s", "azp": oidctest.ClientID}
			p.ID = oidctest.Claims{"aud": []string{"other", oidctest.ClientID}}
		}, openid.Person{Subject: "s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := oidctest.New(t)
			c.change(p)
			got, err := signIn(t, client(t, p))
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestATamperedTokenIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*oidctest.Provider){
		"wrong audience":           func(p *oidctest.Provider) { p.ID = oidctest.Claims{"aud": "another"} },
		"wrong issuer":             func(p *oidctest.Provider) { p.ID = oidctest.Claims{"iss": "https://evil.example"} },
		"wrong nonce":              func(p *oidctest.Provider) { p.ID = oidctest.Claims{"nonce": "canary-nonce"} },
		"no nonce":                 func(p *oidctest.Provider) { p.ID = oidctest.Claims{"nonce": nil} },
		"expired":                  func(p *oidctest.Provider) { p.ID = oidctest.Claims{"exp": p.Now().Add(-2 * time.Minute).Unix()} },
		"no end":                   func(p *oidctest.Provider) { p.ID = oidctest.Claims{"exp": nil} },
		"of the future":            func(p *oidctest.Provider) { p.ID = oidctest.Claims{"iat": p.Now().Add(2 * time.Minute).Unix()} },
		"no subject":               func(p *oidctest.Provider) { p.ID = oidctest.Claims{"sub": nil} },
		"another party":            func(p *oidctest.Provider) { p.ID = oidctest.Claims{"azp": "another"} },
		"two audiences, no party":  func(p *oidctest.Provider) { p.ID = oidctest.Claims{"aud": []string{oidctest.ClientID, "another"}} },
		"algorithm none":           func(p *oidctest.Provider) { p.Sign = p.Unsigned },
		"algorithm HS256":          func(p *oidctest.Provider) { p.Sign = p.SignedBySecret },
		"another key":              func(p *oidctest.Provider) { p.Sign = oidctest.New(p.T()).Signed },
		"no token":                 func(p *oidctest.Provider) { p.Sign = func(oidctest.Claims) string { return "" } },
		"text in place of a token": func(p *oidctest.Provider) { p.Sign = func(oidctest.Claims) string { return "canary" } },
		"a logout token": func(p *oidctest.Provider) {
			p.Sign = func(oidctest.Claims) string { return p.Signed(p.SignOutToken(nil)) }
		},
		"another person elsewhere":  func(p *oidctest.Provider) { p.More = oidctest.Claims{"sub": "another", "groups": []string{}} },
		"claims of another form":    func(p *oidctest.Provider) { p.ID = oidctest.Claims{"email": []string{"canary"}} },
		"a signature that was kept": func(p *oidctest.Provider) { p.Sign = func(c oidctest.Claims) string { return swap(p.Signed(c)) } },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := oidctest.New(t)
			change(p)
			_, err := signIn(t, client(t, p))
			wantErr(t, err, openid.ErrToken)
		})
	}
}

// swap changes the claims of a token and keeps its signature.
func swap(token string) string {
	parts := strings.Split(token, ".")
	parts[1] = parts[1][:len(parts[1])-8] + "AAAAAAAA"
	return strings.Join(parts, ".")
}

func TestClocksMayDifferALittle(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]error{
		0: nil, 50 * time.Second: nil, 70 * time.Second: openid.ErrToken, // the provider's clock is ahead
		-350 * time.Second: nil, -370 * time.Second: openid.ErrToken, // it is behind, and a token is valid for 300 seconds
	} {
		p := oidctest.New(t)
		now := time.Now()
		c := client(t, p, func(o *openid.Options) { o.Now = func() time.Time { return now } })
		p.Now = func() time.Time { return now.Add(ahead) }
		if _, err := signIn(t, c); !errors.Is(err, want) {
			t.Errorf("%v ahead: %v", ahead, err)
		}
	}
}

func TestASignInLastsTenMinutes(t *testing.T) {
	t.Parallel()
	for late, want := range map[time.Duration]error{10*time.Minute - time.Second: nil, 10 * time.Minute: openid.ErrFlow, -2 * time.Minute: openid.ErrFlow} {
		p, now := oidctest.New(t), time.Now()
		p.Now = func() time.Time { return now }
		c := client(t, p, func(o *openid.Options) { o.Now = p.Now })
		to, f := begin(t, c)
		answer := visit(t, to)
		now = now.Add(late)
		_, err := c.Finish(t.Context(), back, f, answer)
		wantErr(t, err, want)
	}
}

func TestACodeAndAStateAreGoodOnce(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	c := client(t, p)
	to, f := begin(t, c)
	answer := visit(t, to)
	env.Must(c.Finish(t.Context(), back, f, answer))(t)
	_, err := c.Finish(t.Context(), back, f, answer)
	wantErr(t, err, openid.ErrToken)

	_, other := begin(t, c)
	_, err = c.Finish(t.Context(), back, other, answer) // the state of another browser
	wantErr(t, err, openid.ErrFlow)
	for _, text := range []string{"", "x", other.Text().Reveal() + "A", strings.Repeat("A", 44)} {
		_, err = c.Finish(t.Context(), back, openid.ReadFlow(secret.New(text)), answer)
		wantErr(t, err, openid.ErrFlow)
	}
	answer.Del("state")
	_, err = c.Finish(t.Context(), back, f, answer)
	wantErr(t, err, openid.ErrFlow)

	to, f = begin(t, c)
	stolen := visit(t, to)
	to, mine := begin(t, c)
	own := visit(t, to)
	own.Set("code", stolen.Get("code")) // the code of another browser: PKCE refuses it
	_, err = c.Finish(t.Context(), back, mine, own)
	wantErr(t, err, openid.ErrToken)
	_ = f
}

func TestMixedUpProvidersAreNoticed(t *testing.T) {
	t.Parallel()
	honest, evil := oidctest.New(t), oidctest.New(t)
	at, other := client(t, honest), client(t, evil)
	to, f := begin(t, other)
	answer := visit(t, to)
	_, err := at.Finish(t.Context(), back, f, answer)
	wantErr(t, err, openid.ErrFlow)

	honest.Answer = url.Values{"iss": {evil.URL}}
	_, err = signIn(t, at)
	wantErr(t, err, openid.ErrFlow)
	honest.Answer = url.Values{"iss": {honest.URL}}
	if _, err := signIn(t, at); err != nil {
		t.Errorf("with its own: %v", err)
	}
	honest.Discovery = oidctest.Claims{"authorization_response_iss_parameter_supported": true}
	honest.Answer = nil
	_, err = signIn(t, client(t, honest))
	wantErr(t, err, openid.ErrFlow)
}

func TestAPersonDeclines(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	p.Person = nil
	_, err := signIn(t, client(t, p))
	wantErr(t, err, openid.ErrDeclined)
}

func TestAProviderIsDownAtTheStartAndInUse(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	c := client(t, p)
	p.Down = true
	_, _, err := c.Begin(t.Context(), back)
	wantErr(t, err, openid.ErrDown)
	wantErr(t, c.Check(t.Context()), openid.ErrDown)
	p.Down = false
	to, f := begin(t, c)
	answer := visit(t, to)
	p.Down = true
	_, err = c.Finish(t.Context(), back, f, answer)
	wantErr(t, err, openid.ErrDown)
	p.Down = false
	if _, err := signIn(t, c); err != nil {
		t.Errorf("when it answers again: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	wantErr(t, client(t, p).Check(gone), openid.ErrDown)
}

func TestKeysThatCannotBeReadAreNoFaultOfTheToken(t *testing.T) {
	t.Parallel()
	for _, keys := range []string{"http://127.0.0.1:1/keys", "/no-keys"} {
		p := oidctest.New(t)
		if strings.HasPrefix(keys, "/") {
			keys = p.URL + keys
		}
		p.Discovery = oidctest.Claims{"jwks_uri": keys}
		c := client(t, p)
		_, err := signIn(t, c)
		wantErr(t, err, openid.ErrDown)
		_, err = c.ReadSignOut(t.Context(), secret.New(p.Signed(p.SignOutToken(nil))))
		wantErr(t, err, openid.ErrDown)
	}
}

func TestWhatIsNoProviderIsRefused(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]oidctest.Claims{
		"another issuer":        {"issuer": "https://evil.example"},
		"no keys":               {"jwks_uri": nil},
		"no tokens":             {"token_endpoint": nil},
		"an address of a file":  {"authorization_endpoint": "file:///etc/passwd"},
		"a script":              {"end_session_endpoint": "javascript:alert(1)"},
		"only other algorithms": {"id_token_signing_alg_values_supported": []string{"HS256", "none"}},
	} {
		p := oidctest.New(t)
		p.Discovery = d
		env.ErrorIs(t, name, client(t, p).Check(t.Context()), openid.ErrDown)
	}
	var elsewhere atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if elsewhere.Store(r.URL.Path == "/elsewhere"); !elsewhere.Load() {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}
	}))
	defer s.Close()
	p := oidctest.New(t)
	err := client(t, p, func(o *openid.Options) { o.Issuer = s.URL }).Check(t.Context())
	if wantErr(t, err, openid.ErrDown); elsewhere.Load() {
		t.Error("a redirect was followed")
	}
}

func TestTheScopeOfGroupsIsAskedForWhereItIsOffered(t *testing.T) {
	t.Parallel()
	offered := oidctest.Claims{"scopes_supported": []string{"openid", "groups"}}
	for name, c := range map[string]struct {
		offers oidctest.Claims
		change func(*openid.Options)
		want   string
	}{
		"offered":         {offered, func(*openid.Options) {}, "openid email groups"},
		"not offered":     {nil, func(*openid.Options) {}, "openid email"},
		"no groups":       {offered, func(o *openid.Options) { o.Groups = "" }, "openid email"},
		"in the settings": {offered, func(o *openid.Options) { o.Scopes = []string{"groups"} }, "openid groups"},
		"another claim":   {offered, func(o *openid.Options) { o.Groups = "roles" }, "openid email groups"},
	} {
		p := oidctest.New(t)
		p.Discovery = c.offers
		to, _, err := client(t, p, c.change).Begin(t.Context(), back)
		env.OK(t, err)
		if visit(t, to); p.Asked().Get("scope") != c.want {
			t.Errorf("%s: it asks for %q", name, p.Asked().Get("scope"))
		}
	}
}

func TestAWrongSecretIsNamed(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	if err := client(t, p).Check(t.Context()); err != nil {
		t.Errorf("the right secret: %v", err)
	}
	c := client(t, p, func(o *openid.Options) { o.Secret = secret.New("canary-wrong") })
	if err := c.Check(t.Context()); !errors.Is(err, openid.ErrClient) || !strings.Contains(hint.Of(err), "client_secret") {
		t.Errorf("a wrong one: %v", err)
	}
	to, flow, err := c.Begin(t.Context(), back)
	env.OK(t, err)
	_, err = c.Finish(t.Context(), back, flow, visit(t, to))
	if wantErr(t, err, openid.ErrToken); !strings.Contains(err.Error(), "client_secret") || strings.Contains(err.Error(), "canary") {
		t.Error(err)
	}
}

func TestOnlyGivenAuthoritiesAreTrusted(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	s := httptest.NewTLSServer(p)
	defer s.Close()
	p.Discovery = oidctest.Claims{"issuer": s.URL, "authorization_endpoint": s.URL, "token_endpoint": s.URL, "jwks_uri": s.URL, "end_session_endpoint": s.URL}
	ask := func(roots *x509.CertPool) error {
		return client(t, p, func(o *openid.Options) { o.Issuer, o.Roots = s.URL, roots }).Check(t.Context())
	}
	wantErr(t, ask(nil), openid.ErrDown)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	env.OK(t, ask(roots))
	p.Discovery["token_endpoint"] = p.URL
	wantErr(t, ask(roots), openid.ErrDown)
}

func TestAProviderSaysThatASessionEnded(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	c := client(t, p)
	now := time.Unix(p.Now().Unix(), 0)
	for name, change := range map[string]oidctest.Claims{"both": nil, "the session": {"sub": nil}, "the person": {"sid": nil}} {
		got, err := c.ReadSignOut(t.Context(), secret.New(p.Signed(p.SignOutToken(change))))
		if err != nil || (got.Subject == "") != (name == "the session") || (got.Session == "") != (name == "the person") || got.At.Before(now) || got.At.After(now.Add(2*time.Minute)) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	tokens := map[string]string{
		"none": p.Unsigned(p.SignOutToken(nil)), "HS256": p.SignedBySecret(p.SignOutToken(nil)), "another key": oidctest.New(t).Signed(p.SignOutToken(nil)),
		"an ID token": p.Signed(p.IDToken("x")), "an empty text": "", "a text": "canary",
	}
	for name, change := range map[string]oidctest.Claims{
		"wrong audience": {"aud": "another"}, "wrong issuer": {"iss": "https://evil.example"}, "expired": {"exp": p.Now().Add(-2 * time.Minute).Unix()},
		"a nonce": {"nonce": "x"}, "no event": {"events": nil}, "another event": {"events": oidctest.Claims{"x": oidctest.Claims{}}},
		"nobody": {"sub": nil, "sid": nil}, "no ID": {"jti": nil}, "of the future": {"iat": p.Now().Add(2 * time.Minute).Unix()},
	} {
		tokens[name] = p.Signed(p.SignOutToken(change))
	}
	for name, token := range tokens {
		if _, err := c.ReadSignOut(t.Context(), secret.New(token)); !errors.Is(err, openid.ErrToken) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.Down = true
	_, err := client(t, p).ReadSignOut(t.Context(), secret.New(tokens["none"]))
	wantErr(t, err, openid.ErrDown)
}

// Any client can send a logout token: the provider is not asked for its keys each time.
func TestForgedLogoutTokensAskTheProviderRarely(t *testing.T) {
	t.Parallel()
	p, forger := oidctest.New(t), oidctest.New(t)
	now := time.Now()
	p.Now = func() time.Time { return now }
	c := client(t, p)
	env.OK(t, c.Check(t.Context()))
	asked := p.Visits()
	send := func(token string, want error, visits int) {
		t.Helper()
		_, err := c.ReadSignOut(t.Context(), secret.New(token))
		wantErr(t, err, want)
		if got := p.Visits() - asked; got != visits {
			t.Errorf("the provider was asked %d times, not %d", got, visits)
		}
	}
	for _, change := range []oidctest.Claims{{"aud": "another"}, {"iss": "https://evil.example"}, {"events": nil}} {
		send(forger.Signed(p.SignOutToken(change)), openid.ErrToken, 0)
	}
	for range 30 {
		send(forger.Signed(p.SignOutToken(nil)), openid.ErrToken, 1)
	}
	send(p.Signed(p.SignOutToken(nil)), nil, 1) // by a key that is known
	now = now.Add(10 * time.Second)
	for range 2 {
		send(forger.Signed(p.SignOutToken(nil)), openid.ErrToken, 2)
	}
	if _, err := signIn(t, c); err != nil {
		t.Errorf("a sign-in: %v", err)
	}
}

func TestAPersonSignsOutThere(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	to, err := client(t, p).SignOut(t.Context(), back)
	if want := p.URL + "/end?client_id=pushbox&post_logout_redirect_uri=" + url.QueryEscape(back); err != nil || to != want {
		t.Errorf("got %s, %v", to, err)
	}
	p.Discovery = oidctest.Claims{"end_session_endpoint": nil}
	if to, err := client(t, p).SignOut(t.Context(), back); err != nil || to != "" {
		t.Errorf("without such an address: %s, %v", to, err)
	}
}

func TestWhereAPersonCanSignOutIsKnownWithoutAQuestion(t *testing.T) {
	t.Parallel()
	for _, ends := range []bool{true, false} {
		p := oidctest.New(t)
		if !ends {
			p.Discovery = oidctest.Claims{"end_session_endpoint": nil}
		}
		c := client(t, p)
		if !c.MaySignOut() || p.Visits() != 0 {
			t.Errorf("before it was asked: %v, after %d visits", c.MaySignOut(), p.Visits())
		}
		if err := c.Check(t.Context()); err != nil || c.MaySignOut() != ends {
			t.Errorf("it ends sessions: %v, not %v, %v", c.MaySignOut(), ends, err)
		}
	}
}

func TestAProviderIsAskedOnce(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	c := client(t, p)
	done := make(chan error, 8)
	for range cap(done) {
		go func() {
			_, _, err := c.Begin(t.Context(), back)
			done <- err
		}()
	}
	errs := make([]error, cap(done))
	for i := range errs {
		errs[i] = <-done
	}
	if slices.ContainsFunc(errs, func(err error) bool { return err != nil }) || p.Visits() != 1 {
		t.Errorf("%d visits, %v", p.Visits(), errs)
	}
}
