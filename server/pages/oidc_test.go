package pages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/oidctest"
	"pushbox/server/servertest"
	"pushbox/store/record"
)

// office is the settings of a provider, and its changes.
func office(p *oidctest.Provider, changes ...func(*config.OIDC)) func(*config.Config) {
	return func(c *config.Config) {
		o := config.OIDC{
			Name: "office", Title: "The Office", Issuer: p.URL, ClientID: oidctest.ClientID, ClientSecret: secret.New(oidctest.ClientSecret),
			Scopes: []string{"email"}, GroupsClaim: "groups", CreateAccounts: true, LinkByEmail: true,
		}
		for _, change := range changes {
			change(&o)
		}
		c.SignIn.OIDC = append(c.SignIn.OIDC, o)
	}
}

// officeOf starts a provider and a server at which people sign in with it.
func officeOf(t *testing.T, changes ...func(*config.OIDC)) (*oidctest.Provider, *servertest.Server) {
	t.Helper()
	p := oidctest.New(t)
	a := servertest.NewSite(t, office(p, changes...))
	p.Now = a.Store.Clock.Now
	return p, a
}

// atProvider begins a sign-in and returns where the provider sends the browser back, as a path.
func atProvider(b *servertest.Browser, name string) (path string) {
	to := b.Get("/users/oidc/" + name).Want(http.StatusSeeOther).Header.Get("Location")
	return backFrom(b, to)
}

func backFrom(b *servertest.Browser, to string) (path string) {
	t := b.Get("/users/sign_in").T
	t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	got, err := client.Get(to)
	env.OK(t, err)
	_ = got.Body.Close()
	u, err := got.Location()
	env.OK(t, err)
	return u.RequestURI()
}

// wantSignedIn fails the test unless the browser is signed in to that account.
func wantSignedIn(b *servertest.Browser, email string) {
	b.Get("/users/sessions").Want(http.StatusOK).Says(email)
}

func wantSignedOut(b *servertest.Browser) {
	b.Get("/users/sessions").To("/users/sign_in")
	delete(b.Cookies, "wanted")
}

func TestAPersonSignsInAtAProviderAndComesBackToTheWantedPage(t *testing.T) {
	t.Parallel()
	p, a := officeOf(t)
	b := a.Browser()
	b.Get("/users/token").To("/users/sign_in")
	b.Get("/users/sign_in").Want(http.StatusOK).Says("Sign in with The Office", "or with a password")
	back := atProvider(b, "office")
	if got := p.Asked().Get("redirect_uri"); got != a.URL+"/users/oidc/office/callback" {
		t.Errorf("the provider sends browsers to %s", got)
	}
	b.Get(back).To("/users/token")
	if b.Cookies["pushbox_flow"] != "" {
		t.Error("the cookie of the flow is left")
	}
	b.Get("/users/sessions").Want(http.StatusOK).Says("pat@example.com", "The Office").Lacks("Change password")
	b.Get("/users/password").Want(http.StatusNotFound)
	b.Post("/users/token", "label", "x", "days", "30").Want(http.StatusCreated)
	a.Store.Clock.Advance(11 * time.Minute)
	b.Post("/users/token", "label", "y", "days", "30").Want(http.StatusForbidden).Says("Your sign-in is more than ten minutes ago.")
	b.Get("/users/oidc/office").To("/users/sign_in")
	for _, text := range []string{"the secret of the client", "eyJ", "code=", "state="} {
		if strings.Contains(a.Log.String(), text) || strings.Contains(strings.Join(b.Seen, ""), text) {
			t.Errorf("a page or the log has %q", text)
		}
	}
}

// Only the account of the address that the provider has verified is linked, and only then.
func TestSettingsDecideWhoSignsIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		setting func(*config.OIDC)
		person  oidctest.Claims
		refused string // why
		admin   bool
	}{
		"no accounts are made":     {setting: func(o *config.OIDC) { o.CreateAccounts = false }, refused: "create_accounts is off"},
		"another domain":           {setting: func(o *config.OIDC) { o.AllowedDomains = []string{"example.org"} }, refused: "is in no domain of allowed_domains"},
		"its domain":               {setting: func(o *config.OIDC) { o.AllowedDomains = []string{"example.com"} }},
		"its domain, not verified": {setting: func(o *config.OIDC) { o.AllowedDomains = []string{"example.com"} }, person: oidctest.Claims{"email_verified": false}, refused: "has not verified the address"},
		"a domain that ends so":    {setting: func(o *config.OIDC) { o.AllowedDomains = []string{"example.com"} }, person: oidctest.Claims{"email": "pat@notexample.com"}, refused: "is in no domain of allowed_domains"},
		"no group":                 {setting: func(o *config.OIDC) { o.AllowedGroups = []string{"staff"} }, refused: "the provider gives no groups in the claim groups"},
		"another group":            {setting: func(o *config.OIDC) { o.AllowedGroups = []string{"staff"} }, person: oidctest.Claims{"groups": []string{"Staff"}}, refused: "in no group of allowed_groups"},
		"a group":                  {setting: func(o *config.OIDC) { o.AllowedGroups = []string{"staff"} }, person: oidctest.Claims{"groups": []string{"x", "staff"}}},
		"an administrator":         {setting: func(o *config.OIDC) { o.AdminGroups = []string{"admins"} }, person: oidctest.Claims{"groups": []string{"admins"}}, admin: true},
		"no administrator":         {setting: func(o *config.OIDC) { o.AdminGroups = []string{"admins"} }, person: oidctest.Claims{"groups": []string{"staff"}}},
		"all addresses count":      {setting: func(o *config.OIDC) { o.AllowedDomains, o.TrustEmail = []string{"example.com"}, true }, person: oidctest.Claims{"email_verified": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, a := officeOf(t, c.setting)
			for k, v := range c.person {
				p.Person[k] = v
			}
			b := a.Browser()
			got := b.Get(atProvider(b, "office"))
			if c.refused != "" {
				got.To("/users/sign_in")
				b.Get("/users/sign_in").Says("The Office knows you, but you may not sign in here.")
				wantSignedOut(b)
				events, err := a.Store.AdminEvents(ctx, time.Time{}, 0, record.MaxAdminEvents)
				if last := events[len(events)-1].Detail; err != nil || !strings.HasPrefix(last, "by The Office") || !strings.Contains(last, c.refused) {
					t.Errorf("the log says %+v, %v", events[len(events)-1], err)
				}
				return
			}
			got.To("/")
			wantSignedIn(b, "pat@example.com")
			if want := map[bool]int{true: 200, false: 404}[c.admin]; b.Get("/admin").Status != want {
				t.Errorf("it administers: %v", !c.admin)
			}
		})
	}
}

func TestAnAccountIsNotTakenOverThroughAProvider(t *testing.T) {
	t.Parallel()
	for link, verified := range map[bool]bool{true: false, false: true} {
		p, a := officeOf(t, func(o *config.OIDC) { o.LinkByEmail = link })
		p.Person["email"], p.Person["email_verified"] = servertest.AnnEmail, verified
		b := a.Browser()
		b.Get(atProvider(b, "office")).To("/users/sign_in")
		wantSignedOut(b)
	}
}

func TestTamperedAnswersSignNobodyIn(t *testing.T) {
	t.Parallel()
	p, a := officeOf(t)
	b := a.Browser()
	for _, id := range []oidctest.Claims{{"aud": "canary"}, {"iss": "https://canary.example"}, {"nonce": "canary"}} {
		p.ID = id
		b.Get(atProvider(b, "office")).To("/users/sign_in")
		b.Get("/users/sign_in").Says("The Office sent an answer that is not valid")
		wantSignedOut(b)
	}
	if log := a.Log.String(); !strings.Contains(log, `"provider":"office"`) || strings.Contains(log, "canary") || strings.Contains(log, "eyJ") {
		t.Errorf("the log says %s", log)
	}
	p.ID = nil
	b.Get(atProvider(b, "office")).To("/")
}

func TestAnAnswerIsGoodOnceAndForItsBrowserAlone(t *testing.T) {
	t.Parallel()
	_, a := officeOf(t)
	b, thief := a.Browser(), a.Browser()
	back := atProvider(b, "office")
	thief.Get(back).To("/users/sign_in") // login CSRF: a link that signs another person in
	thief.Get("/users/sign_in").Says("This sign-in was begun in another browser, or took longer")
	atProvider(thief, "office")
	thief.Get(back).To("/users/sign_in") // with a flow of its own
	wantSignedOut(thief)

	flow := b.Cookies["pushbox_flow"]
	b.Get(back).To("/")
	again := a.Browser()
	again.Cookies["pushbox_flow"] = flow
	again.Get(back).To("/users/sign_in") // state and code are replayed
	wantSignedOut(again)
	b.Get(back).To("/users/sign_in") // the cookie is gone
	wantSignedIn(b, "pat@example.com")
}

func TestASignInAtAProviderBeginsAnotherSession(t *testing.T) {
	t.Parallel()
	_, a := officeOf(t)
	b := a.Browser()
	b.Cookies["pushbox_session"] = "fixed"
	b.Get(atProvider(b, "office")).To("/")
	if b.Session() == "fixed" || b.Session() == "" {
		t.Errorf("the session is %q", b.Session())
	}
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	old := ann.Session()
	begun := a.Browser()
	back := atProvider(begun, "office")
	ann.Cookies["pushbox_flow"] = begun.Cookies["pushbox_flow"]
	ann.Get(back).To("/")
	wantSignedIn(ann, "pat@example.com")
	ghost := a.Browser()
	ghost.Cookies["pushbox_session"] = old
	wantSignedOut(ghost)
}

func TestAnotherSiteBeginsNoSignIn(t *testing.T) {
	t.Parallel()
	p, a := officeOf(t)
	b := a.Browser()
	for _, h := range []http.Header{{"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Purpose": {"prefetch"}}} {
		b.Do(http.MethodGet, "/users/oidc/office", "", h).To("/users/sign_in")
		b.Do(http.MethodGet, "/users/oidc/office/sign_out", "", h).To("/users/sign_in")
	}
	b.Do(http.MethodHead, "/users/oidc/office", "", http.Header{}).To("/users/sign_in")
	b.Do(http.MethodHead, "/users/oidc/office/callback", "", http.Header{}).To("/users/sign_in")
	if p.Visits() != 0 {
		t.Error("the provider was asked")
	}
}

func TestMixedUpProvidersSignNobodyIn(t *testing.T) {
	t.Parallel()
	p, evil := oidctest.New(t), oidctest.New(t)
	a := servertest.NewSite(t, office(p), office(evil, func(o *config.OIDC) { o.Name, o.Title = "evil", "Other" }))
	p.Now, evil.Now = a.Store.Clock.Now, a.Store.Clock.Now
	b := a.Browser()
	back := atProvider(b, "evil")
	b.Get(strings.Replace(back, "/evil/", "/office/", 1)).To("/users/sign_in")
	wantSignedOut(b)
	p.Answer = url.Values{"iss": {evil.URL}}
	b.Get(atProvider(b, "office")).To("/users/sign_in")
	wantSignedOut(b)
	p.Answer = url.Values{"iss": {p.URL}}
	b.Get(atProvider(b, "office")).To("/")
}

func TestASignInAtAProviderLeadsToNoOtherSite(t *testing.T) {
	t.Parallel()
	for _, wanted := range []string{"//evil.example", "https://evil.example", `/\evil.example`, "/users/sign_out", "/p/../evil"} {
		_, a := officeOf(t)
		b := a.Browser()
		back := atProvider(b, "office")
		b.Cookies["wanted"] = wanted
		b.Get(back + "&to=https://evil.example&return=//evil.example").To("/")
	}
}

func TestAProviderThatIsDownKeepsNobodyElseOut(t *testing.T) {
	t.Parallel()
	p, q := oidctest.New(t), oidctest.New(t)
	p.Down = true
	a := servertest.NewSite(t, office(p), office(q, func(o *config.OIDC) { o.Name, o.Title = "other", "Other" }))
	p.Now, q.Now = a.Store.Clock.Now, a.Store.Clock.Now
	b := a.Browser()
	b.Get("/users/oidc/office").To("/users/sign_in")
	b.Get("/users/sign_in").Says("The Office does not answer", "Sign in with Other")
	b.Get(atProvider(b, "other")).To("/")
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	if log := a.Log.String(); !strings.Contains(log, "the provider does not answer") || strings.Contains(log, "canary") {
		t.Errorf("the log says %s", log)
	}
	p.Down = false
	c := a.Browser()
	back := atProvider(c, "office")
	p.Down = true
	c.Get(back).To("/users/sign_in")
	c.Get("/users/sign_in").Says("The Office does not answer")
	p.Down = false
	c.Get(atProvider(c, "office")).To("/")
}

func TestAPersonWhoDeclinesIsNotSignedIn(t *testing.T) {
	t.Parallel()
	p, a := officeOf(t)
	p.Person = nil
	b := a.Browser()
	b.Get(atProvider(b, "office")).To("/users/sign_in")
	b.Get("/users/sign_in").Says("The Office did not sign you in.")
}

func TestTheSecondFactorIsAskedForAfterAProvider(t *testing.T) {
	t.Parallel()
	p, a := officeOf(t)
	p.Person["email"] = servertest.AnnEmail
	linked := a.Browser()
	linked.Get(atProvider(linked, "office")).To("/")
	totp, _ := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword).EnableMFA()
	b := a.Browser()
	b.Get(atProvider(b, "office")).To("/users/sign_in")
	b.Get("/users/token").To("/users/sign_in")
	b.Get("/users/sign_in").Says("Now enter the code of your second factor.")
	b.Post("/users/sign_in/code", "code", a.Code(totp, 0)).To("/users/token")
}

func TestTheSecondFactorOfAnAccountWithoutAPasswordIsNotTurnedOffWithoutIt(t *testing.T) {
	t.Parallel()
	_, a := officeOf(t)
	b := a.Browser()
	b.Get(atProvider(b, "office")).To("/")
	totp, _ := b.EnableMFA()
	for _, path := range []string{"/users/mfa/off", "/users/mfa/codes"} {
		b.Post(path).Want(http.StatusForbidden).Says("the code is wrong")
	}
	a.Store.Clock.Advance(time.Minute)
	b.Post("/users/mfa/off", "code", a.Code(totp, 0)).To("/users/mfa")
}

func TestAProviderCanAskForTheSecondFactor(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	a := servertest.NewSite(t, office(p, func(o *config.OIDC) { o.TrustMFA = true }), func(c *config.Config) { c.RequireMFA = true })
	p.Now = a.Store.Clock.Now
	b := a.Browser()
	b.Get(atProvider(b, "office")).To("/")
	b.Get("/users/sessions").Want(http.StatusOK)

	q := oidctest.New(t)
	c := servertest.NewSite(t, office(q), func(c *config.Config) { c.RequireMFA = true })
	q.Now = c.Store.Clock.Now
	d := c.Browser()
	d.Get(atProvider(d, "office")).To("/")
	d.Get("/users/sessions").To("/users/mfa")
}

// The provider ends sessions by a message of its own, which ends nothing that begins later.
func TestAProviderEndsSessions(t *testing.T) {
	t.Parallel()
	p, a := officeOf(t)
	b, ann := a.Browser(), a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	b.Get(atProvider(b, "office")).To("/")
	tell := func(token string) servertest.Answer {
		return a.Do(http.MethodPost, "/users/oidc/office/logout", url.Values{"logout_token": {token}}.Encode(), http.Header{"Content-Type": {"application/x-www-form-urlencoded"}})
	}
	for _, token := range []string{"", "canary", p.Signed(p.IDToken("n")), p.Unsigned(p.SignOutToken(nil))} {
		tell(token).Want(http.StatusBadRequest)
	}
	tell(p.Signed(p.SignOutToken(oidctest.Claims{"sub": "another"}))).Want(http.StatusOK)
	wantSignedIn(b, "pat@example.com")
	token := p.Signed(p.SignOutToken(nil))
	tell(token).Want(http.StatusOK)
	wantSignedOut(b)
	wantSignedIn(ann, servertest.AnnEmail)
	a.Store.Clock.Advance(2 * time.Minute)
	b.Get(atProvider(b, "office")).To("/")
	tell(token) // replayed
	wantSignedIn(b, "pat@example.com")
	a.Do(http.MethodPost, "/users/oidc/nobody/logout", "", http.Header{}).Want(http.StatusNotFound)
}

func TestAProviderWithoutKeysEndsNoSessions(t *testing.T) {
	t.Parallel()
	p, a := officeOf(t)
	p.Discovery = oidctest.Claims{"jwks_uri": p.URL + "/no-keys"}
	body := url.Values{"logout_token": {p.Signed(p.SignOutToken(nil))}}.Encode()
	a.Do(http.MethodPost, "/users/oidc/office/logout", body, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}).Want(http.StatusServiceUnavailable)
	if log := a.Log.String(); !strings.Contains(log, "its keys cannot be read") {
		t.Errorf("the log says %s", log)
	}
}

func TestSigningOutOffersToSignOutAtTheProvider(t *testing.T) {
	t.Parallel()
	p, a := officeOf(t)
	b := a.Browser()
	b.Get(atProvider(b, "office")).To("/")
	b.Post("/users/sign_out").To("/users/sign_in")
	b.Get("/users/sign_in").Says("You are signed out here, and still signed in at The Office.", "Sign out of The Office, too", `href="/users/oidc/office/sign_out"`)
	to := b.Get("/users/oidc/office/sign_out").Want(http.StatusSeeOther).Header.Get("Location")
	if want := p.URL + "/end?client_id=pushbox&post_logout_redirect_uri=" + url.QueryEscape(a.URL+"/users/sign_in"); to != want {
		t.Errorf("it leads to %s", to)
	}
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	ann.Post("/users/sign_out").To("/users/sign_in")
	ann.Get("/users/sign_in").Lacks("still signed in")
	b.Cookies["notice"] = "provider_down.canary"
	b.Get("/users/sign_in").Lacks("does not answer", "canary")
}

func TestOnlyBreakGlassAccountsSignInWithPasswordsWhereTheyAreOff(t *testing.T) {
	t.Parallel()
	p := oidctest.New(t)
	a := servertest.NewSite(t, office(p), func(c *config.Config) {
		c.EnableSignups, c.SignIn.Passwords, c.SignIn.BreakGlass = true, false, []string{"root@example.com"}
	})
	p.Now = a.Store.Clock.Now
	a.AddAccount("root@example.com", servertest.AnnPassword)
	b := a.Browser()
	b.Get("/users/sign_in").Says("Sign in with The Office", "Sign in with a password").Lacks("or with a password", "Forgotten", "Create an account")
	b.Get("/users/sign_up").Want(http.StatusNotFound)
	b.Post("/users/sign_up", "email", "eve@example.com", "password", servertest.AnnPassword).Want(http.StatusNotFound)
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).Want(http.StatusForbidden).Says("Wrong e-mail address or password.")
	wantSignedOut(b)
	a.SignedIn(" Root@Example.com ", servertest.AnnPassword)
	b.Get(atProvider(b, "office")).To("/")

	q := oidctest.New(t)
	none := servertest.NewSite(t, office(q), func(c *config.Config) { c.SignIn.Passwords = false })
	none.Browser().Get("/users/sign_in").Says("Sign in with The Office").Lacks("password")
}
