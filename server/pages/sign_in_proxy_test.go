package pages_test

import (
	"net/http"
	"net/netip"
	"testing"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/server/servertest"
	"pushbox/store/storetest"
)

// behindProxy is the settings of a server behind a proxy that names people.
func behindProxy(change ...func(*config.Config)) func(*config.Config) {
	return func(c *config.Config) {
		c.SignIn.Proxy = config.ProxySignIn{Header: "Remote-Email", GroupsHeader: "remote-groups", CreateAccounts: true}
		for _, f := range change {
			f(c)
		}
	}
}

// named are the headers with which a proxy names a person.
func named(email, groups string) http.Header {
	return http.Header{"Remote-Email": {email}, "Remote-Groups": {groups}}
}

// asNamed sends GET for a person whom the proxy names.
func asNamed(b *servertest.Browser, path, email, groups string) servertest.Answer {
	return b.Do(http.MethodGet, path, "", named(email, groups))
}

func TestAProxyNamesWhoSignsIn(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, behindProxy(func(c *config.Config) { c.SignIn.Proxy.AdminGroups = []string{"admins"} }))
	b := a.Browser()
	asNamed(b, "/users/token", "Pat@Example.com", "staff|admins").To("/users/sign_in")
	asNamed(b, "/users/sign_in", "Pat@Example.com", "staff|admins").To("/users/token")
	asNamed(b, "/users/sessions", "pat@example.com", "staff").Want(http.StatusOK).Says("pat@example.com")
	asNamed(b, "/admin", "pat@example.com", "").Want(http.StatusOK)
	b.Do(http.MethodPost, "/users/sign_out", "", named("pat@example.com", "")).To("/")
	asNamed(b, "/users/sign_in", "pat@example.com", "staff, x").To("/")
	asNamed(b, "/admin", "pat@example.com", "").Want(http.StatusOK) // the last administrator stays
	ann := a.Browser()
	asNamed(ann, "/users/sign_in", servertest.AnnEmail, "").To("/")
	asNamed(ann, "/users/sessions", servertest.AnnEmail, "").Want(http.StatusOK).Says(servertest.AnnEmail)
	for range 2 { // each answer is the same
		a.Browser().Get("/users/sign_in").Want(http.StatusOK)
	}
}

// A session that a header began is of no use without it, or with another one.
func TestASessionOfAProxyEndsWithItsHeader(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, behindProxy())
	b := a.Browser()
	asNamed(b, "/users/sign_in", "pat@example.com", "").To("/")
	asNamed(b, "/users/sessions", "pat@example.com", "").Want(http.StatusOK)
	wantSignedOut(b)
	asNamed(b, "/users/sessions", "eve@example.com", "").To("/users/sign_in")
	for _, h := range []http.Header{{"Remote-Email": {"pat@example.com", "pat@example.com"}}, {"Remote-Email": {""}}, {"Remote-Email": {"pat"}}} {
		b.Do(http.MethodGet, "/users/sessions", "", h).To("/users/sign_in")
	}
	asNamed(b, "/users/sign_in", "eve@example.com", "").To("/users/sessions")
	asNamed(b, "/users/sessions", "eve@example.com", "").Want(http.StatusOK).Says("eve@example.com")
}

func TestAHeaderPastTheProxyIsNotBelieved(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, behindProxy(func(c *config.Config) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} // the tests come from elsewhere
	}))
	b := a.Browser()
	for _, more := range []http.Header{{}, {"X-Forwarded-For": {"10.0.0.1"}}, {"Forwarded": {"for=10.0.0.1"}}} {
		h := named(servertest.AnnEmail, "")
		for k, v := range more {
			h[k] = v
		}
		b.Do(http.MethodGet, "/users/sign_in", "", h).Want(http.StatusOK)
		wantSignedOut(b)
	}
	off := servertest.NewSite(t).Browser() // the setting is off
	asNamed(off, "/users/sign_in", servertest.AnnEmail, "").Want(http.StatusOK)

	outer := servertest.NewSite(t, behindProxy()).Recipients()
	outer.Get("/users/sign_in", named(servertest.AnnEmail, "")).Want(http.StatusNotFound)

	twice := servertest.NewSite(t, behindProxy()).Browser() // a client's own, and the proxy's behind it
	twice.Do(http.MethodGet, "/users/sign_in", "", http.Header{"Remote-Email": {servertest.AnnEmail, "pat@example.com"}}).Want(http.StatusOK)
	wantSignedOut(twice)
}

func TestAProxyLetsOnlySomeSignIn(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, behindProxy(func(c *config.Config) {
		c.SignIn.Proxy.AllowedGroups, c.SignIn.Proxy.CreateAccounts = []string{"staff"}, false
	}))
	b := a.Browser()
	asNamed(b, "/users/sign_in", servertest.AnnEmail, "others").Want(http.StatusForbidden).Says("You may not sign in here.")
	asNamed(b, "/users/sign_in", "new@example.com", "staff").Want(http.StatusForbidden)
	asNamed(b, "/users/sign_in", servertest.AnnEmail, "others, staff").To("/")
}

// A comma is part of a name where bars separate: else a group with a comma in its name is two.
func TestAGroupWithACommaInItsNameIsOneWhereBarsSeparate(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, behindProxy(func(c *config.Config) { c.SignIn.Proxy.AdminGroups = []string{"admins", "cn=boss,ou=groups"} }))
	if _, err := a.Store.AddAdmin(ctx, storetest.Operator, "root@example.com", secret.New(servertest.AnnPassword)); err != nil { // not the last one
		t.Fatal(err)
	}
	for groups, admin := range map[string]bool{
		"project x,admins|staff": false, "staff|project x,admins": false, "staff | admins": true, "admins|": true, "|admins": true,
		"staff,admins": true, "admins": true, "staff": false, "": false, "staff|cn=boss,ou=groups": true,
	} {
		b := a.Browser()
		asNamed(b, "/users/sign_in", "ann@example.com", groups)
		if got := asNamed(b, "/admin", "ann@example.com", groups).Status == http.StatusOK; got != admin {
			t.Errorf("%q administers: %v", groups, got)
		}
	}
}

// The lower case of the Kelvin sign is a k: it must not lead to the account of another person.
func TestAProxyNamesNoOtherPersonByALetterThatFoldsToTheirs(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, behindProxy())
	a.AddAccount("karl@example.com", servertest.AnnPassword)
	for _, address := range []string{"\u212aarl@example.com", "k\u00adarl@example.com", "ｋarl@example.com"} {
		b := a.Browser()
		if got := asNamed(b, "/users/sign_in", address, ""); got.Status == http.StatusSeeOther {
			t.Errorf("%q signs in", address)
		}
		asNamed(b, "/users/sessions", address, "").To("/users/sign_in")
	}
	b := a.Browser()
	asNamed(b, "/users/sign_in", "KARL@example.com", "").To("/")
}
