package pages_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/testkit/passkeytest"
	"pushbox/server/servertest"
	"pushbox/store/record"
)

const passkeyOrigin = "https://push.example.com"

func atPasskeyOrigin(c *config.Config) { c.BaseURL = passkeyOrigin }

var optionsInPage = regexp.MustCompile(`data-options="([^"]*)"`)

// passkeyFields returns the challenge of a page, and the options for the browser.
func passkeyFields(page servertest.Answer) (challenge, options string) {
	page.T.Helper()
	m := optionsInPage.FindStringSubmatch(page.Body)
	if m == nil {
		page.T.Fatalf("the page offers no passkey: %s", page.Body)
	}
	return page.Inputs("challenge")[0], html.UnescapeString(m[1])
}

var (
	newInPage   = regexp.MustCompile(`name="challenge" value="([^"]*)">\s*<input type="hidden" name="passkey" value="" data-origin="[^"]*" data-options="([^"]*&#34;user&#34;[^"]*)"`)
	proofInPage = regexp.MustCompile(`name="proof_challenge" value="([^"]*)">\s*<input type="hidden" name="proof" value="" data-origin="[^"]*" data-options="([^"]*)"`)
)

// addPasskey adds the passkey of a device, which also proves an account that has it already.
func addPasskey(a *servertest.Server, b *servertest.Browser, d *passkeytest.Device, password string) servertest.Answer {
	a.T.Helper()
	return addNamedPasskey(a, b, d, password, "Ann’s key")
}

func addNamedPasskey(a *servertest.Server, b *servertest.Browser, d *passkeytest.Device, password, name string) servertest.Answer {
	a.T.Helper()
	page := b.Get("/users/mfa").Want(http.StatusOK).Body
	made := newInPage.FindStringSubmatch(page)
	if made == nil {
		a.T.Fatalf("the page offers no new passkey: %s", page)
	}
	a.Store.Clock.Advance(time.Second)
	fields := []string{"password", password, "name", name, "challenge", made[1]}
	if proof := proofInPage.FindStringSubmatch(page); proof != nil {
		fields = append(fields, "proof_challenge", proof[1], "proof", d.Get(html.UnescapeString(proof[2])))
	}
	return b.Post("/users/mfa/passkeys", append(fields, "passkey", d.Create(html.UnescapeString(made[2])))...)
}

// usePasskey uses the passkey of a device on the page for signing in.
func usePasskey(a *servertest.Server, b *servertest.Browser, d *passkeytest.Device) servertest.Answer {
	a.T.Helper()
	a.Store.Clock.Advance(time.Second)
	challenge, options := passkeyFields(b.Get("/users/sign_in").Want(http.StatusOK))
	return b.Post("/users/sign_in/passkey", "challenge", challenge, "passkey", d.Get(options))
}

func TestAPasskeyOnThePages(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, atPasskeyOrigin)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	d := passkeytest.New(t, passkeyOrigin)
	addPasskey(a, b, d, "wrong").Want(http.StatusForbidden).Says("That is not your password.")
	recovery := servertest.RecoveryCodes(addPasskey(a, b, d, servertest.AnnPassword).Want(http.StatusOK).Says("Two-factor sign-in is on."))
	if len(recovery) != 10 {
		t.Errorf("%d recovery codes", len(recovery))
	}
	addPasskey(a, b, d, servertest.AnnPassword).Want(http.StatusForbidden).Says("The passkey could not be saved.") // it is there

	alone := a.Browser()
	usePasskey(a, alone, d).To("/")
	alone.Get("/users/mfa").Want(http.StatusOK).Says("Ann’s key", "10 of 10 recovery codes left")

	second := a.Browser()
	second.SignIn(servertest.AnnEmail, servertest.AnnPassword).To("/users/sign_in")
	second.Get("/users/sign_in").Says("Your password was right. Now confirm that it is you.").Lacks("The six digits")
	usePasskey(a, second, d).To("/")

	a.Store.Clock.Advance(time.Second)
	challenge, options := passkeyFields(second.Get("/users/token").Want(http.StatusOK))
	try := func() servertest.Answer {
		return second.Post("/users/token", "password", servertest.AnnPassword, "days", "0", "challenge", challenge, "passkey", d.Get(options))
	}
	try().Want(http.StatusCreated)
	try().Want(http.StatusForbidden).Says("The password or the passkey was not accepted.") // it was used before
	second.Post("/users/token", "password", servertest.AnnPassword, "days", "0", "code", recovery[0]).Want(http.StatusCreated)
}

func TestAPasskeyIsRemovedWithThePasswordAndAFactor(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, atPasskeyOrigin)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	d := passkeytest.New(t, passkeyOrigin)
	recovery := servertest.RecoveryCodes(addPasskey(a, b, d, servertest.AnnPassword).Want(http.StatusOK))
	id := b.Get("/users/mfa").Inputs("id")[0]
	for password, code := range map[string]string{"wrong": recovery[0], servertest.AnnPassword: ""} {
		b.Post("/users/mfa/passkeys/remove", "password", password, "code", code, "id", id).Want(http.StatusForbidden).Says("The password or the code is wrong.")
	}
	for range 2 { // the second time it is gone already
		b.Post("/users/mfa/passkeys/remove", "password", servertest.AnnPassword, "code", recovery[0], "id", id).To("/users/mfa")
	}
	b.Get("/users/mfa").Want(http.StatusOK).Says("The passkey was removed.").Lacks("Ann’s key", "Two-factor sign-in is on.")
	usePasskey(a, a.Browser(), d).Want(http.StatusForbidden).Says("This passkey was not accepted.")
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
}

func TestAPasskeyOfAnotherBrowserOrTimeIsRefused(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, atPasskeyOrigin)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	d := passkeytest.New(t, passkeyOrigin)
	addPasskey(a, b, d, servertest.AnnPassword).Want(http.StatusOK)
	a.AddAccount("bob@example.com", servertest.AnnPassword)
	bob := a.SignedIn("bob@example.com", servertest.AnnPassword)
	addPasskey(a, bob, passkeytest.New(t, passkeyOrigin), servertest.AnnPassword).Want(http.StatusOK)
	a.Store.Clock.Advance(time.Second)

	victim, thief := a.Browser(), a.Browser()
	challenge, options := passkeyFields(victim.Get("/users/sign_in"))
	answer := []string{"challenge", challenge, "passkey", d.Get(options)}
	thief.Post("/users/sign_in/passkey", answer...).Want(http.StatusForbidden) // without the cookie
	thief.Get("/users/sign_in")
	thief.Post("/users/sign_in/passkey", answer...).Want(http.StatusForbidden) // with one of its own
	thief.SignIn("bob@example.com", servertest.AnnPassword).To("/users/sign_in")
	thief.Post("/users/sign_in/passkey", answer...).Want(http.StatusForbidden) // for a pending session of bob
	victim.Post("/users/sign_in/passkey", answer...).To("/")
	copied := a.Browser()
	copied.Cookies["__Host-passkey"] = victim.Cookies["__Host-passkey"]
	copied.Post("/users/sign_in/passkey", answer...).To("/users/sign_in") // it was used before
	copied.Get("/users/sign_in").Says("That took too long.")

	late := a.Browser()
	challenge, options = passkeyFields(late.Get("/users/sign_in"))
	a.Store.Clock.Advance(5 * time.Minute)
	late.Post("/users/sign_in/passkey", "challenge", challenge, "passkey", d.Get(options)).To("/users/sign_in")
}

func TestTheCookieOfAPasskeyStaysAtTheSite(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, atPasskeyOrigin)
	b := a.Browser()
	for _, c := range b.Get("/users/sign_in").Cookies() {
		if c.Name == "__Host-passkey" && c.HttpOnly && c.Secure && c.SameSite == http.SameSiteStrictMode && c.MaxAge == 300 && len(c.Value) >= 26 {
			return
		}
		t.Errorf("%+v", c)
	}
	t.Error("there is none")
}

func TestARequiredSecondFactorMayBeAPasskey(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, atPasskeyOrigin, func(c *config.Config) { c.RequireMFA = true })
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	d := passkeytest.New(t, passkeyOrigin)
	recovery := servertest.RecoveryCodes(addPasskey(a, b, d, servertest.AnnPassword).Want(http.StatusOK))
	b.Get("/users/token").Want(http.StatusOK)
	b.Get("/users/mfa").Want(http.StatusOK).Says("you cannot turn it off").Lacks("Remove this passkey")
	b.Post("/users/mfa/passkeys/remove", "password", servertest.AnnPassword, "id", "x").Want(http.StatusForbidden).Says("you cannot turn it off")

	totpSecret := b.Get("/users/mfa").Inner("secret")
	b.Post("/users/mfa", "password", servertest.AnnPassword, "secret", totpSecret, "code", a.Code(totpSecret, 0)).Want(http.StatusForbidden)
	b.Post("/users/mfa", "password", servertest.AnnPassword, "secret", totpSecret, "code", a.Code(totpSecret, 0), "proof_code", recovery[0]).To("/users/mfa")
	id := b.Get("/users/mfa").Says("The authenticator app is set up.").Lacks("you cannot turn it off").Inputs("id")[0]
	b.Post("/users/mfa/passkeys/remove", "password", servertest.AnnPassword, "code", recovery[1], "id", id).To("/users/mfa")
	b.Post("/users/mfa/off", "password", servertest.AnnPassword).Want(http.StatusForbidden).Says("you cannot turn it off")
	b.Get("/users/token").Want(http.StatusOK)
}

// Browsers have passkeys on secure sites with a name alone.
func TestPasskeysAreOfferedWhereBrowsersHaveThem(t *testing.T) {
	t.Parallel()
	for base, offered := range map[string]bool{
		"": false, "http://push.example.com": false, "https://192.0.2.7": false, "https://[2001:db8::1]:8443": false, "http://127.0.0.1:5100": false,
		passkeyOrigin: true, "https://push.example.com:8443": true, "https://PUSH.example.com:443": true, "http://localhost:5100": true, "https://push": true,
	} {
		a := servertest.NewSite(t, func(c *config.Config) { c.BaseURL = base })
		if got := optionsInPage.MatchString(a.Browser().Get("/users/sign_in").Body); got != offered {
			t.Errorf("%q: %v", base, got)
		}
		if got := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword).Get("/users/mfa").Shows("Add a passkey"); got != offered {
			t.Errorf("%q: %v", base, got)
		}
	}
	a := servertest.NewSite(t, func(c *config.Config) { c.BaseURL, c.BasePath = passkeyOrigin+"/push", "/push" })
	b := a.Browser()
	b.Post("/push/users/sign_in", "email", servertest.AnnEmail, "password", servertest.AnnPassword)
	challenge, options := passkeyFields(b.Get("/push/users/mfa"))
	d := passkeytest.New(t, passkeyOrigin)
	b.Post("/push/users/mfa/passkeys", "password", servertest.AnnPassword, "name", "x", "challenge", challenge, "passkey", d.Create(options)).Want(http.StatusOK)
}

func TestWhatPasskeysSendIsInNoLog(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, atPasskeyOrigin)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	d := passkeytest.New(t, passkeyOrigin)
	addPasskey(a, b, d, servertest.AnnPassword).Want(http.StatusOK)
	usePasskey(a, a.Browser(), d).To("/")
	d.Origin = "https://canary-origin.example"
	other := a.Browser()
	usePasskey(a, other, d).Want(http.StatusForbidden)
	for name, text := range map[string]string{"the cookie": other.Cookies["__Host-passkey"], "the passkey's ID": string(d.ID), "the origin": "canary-origin"} {
		if text == "" || strings.Contains(a.Log.String(), text) {
			t.Errorf("%s is in the log", name)
		}
	}
}

func TestTheNameOfAPasskeyIsBounded(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, atPasskeyOrigin)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	add := func(n int) servertest.Answer {
		return addNamedPasskey(a, ann, passkeytest.New(t, passkeyOrigin), servertest.AnnPassword, strings.Repeat("k", n))
	}
	add(record.MaxLabel + 1).Want(http.StatusForbidden)
	if got := add(record.MaxLabel); got.Status >= http.StatusBadRequest {
		t.Errorf("%d: %s", got.Status, got.Body)
	}
}
