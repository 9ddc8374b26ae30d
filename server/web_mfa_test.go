package server_test

import (
	"net/http"
	"regexp"
	"slices"
	"testing"

	"pushbox/config"
)

func TestASecondFactor(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	totpSecret, recovery := b.enableMFA()
	slices.Sort(recovery)
	if len(slices.Compact(recovery)) != 10 {
		t.Errorf("recovery codes: %d", len(recovery))
	}
	b.get("/users/mfa").want(http.StatusOK).says("Two-factor sign-in is on.")
	again := a.browser()
	again.signIn(annEmail, annPassword).to("/users/sign_in")
	again.post("/users/sign_in/code", "code", a.code(totpSecret, -1)).want(http.StatusForbidden) // used before
	again.post("/users/sign_in/code", "code", " "+a.code(totpSecret, 0)[:3]+" "+a.code(totpSecret, 0)[3:]).to("/")
	again.get("/users/mfa").want(http.StatusOK)
}

func TestARecoveryCodeWorksOnce(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	_, recovery := a.signedIn(annEmail, annPassword).enableMFA()
	for i, want := range []int{http.StatusSeeOther, http.StatusForbidden} {
		b := a.browser()
		b.signIn(annEmail, annPassword).to("/users/sign_in")
		if got := b.post("/users/sign_in/code", "code", recovery[4]); got.status != want {
			t.Errorf("time %d: %d", i, got.status)
		}
	}
}

// Whoever mistypes a code has the secret in the app already.
func TestAWrongCodeOffersTheSameSecretAgain(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	qr := func(r answer) string { return regexp.MustCompile(`class="qr-dark" d="([^"]+)"`).FindString(r.body) }
	first := b.get("/users/mfa").want(http.StatusOK)
	totpSecret := first.inner("secret")
	if other := b.get("/users/mfa"); other.inner("secret") == totpSecret || qr(other) == qr(first) {
		t.Error("two offers are the same")
	}
	got := b.post("/users/mfa", "password", annPassword, "secret", totpSecret, "code", "000000").want(http.StatusForbidden).says("The password or the code is not right.")
	if got.inner("secret") != totpSecret || got.inputs("secret")[0] != totpSecret || qr(got) != qr(first) || qr(got) == "" {
		t.Error("another one is offered")
	}
	b.post("/users/mfa", "password", annPassword, "secret", totpSecret, "code", a.code(totpSecret, 0)).want(http.StatusOK)
	b.post("/users/mfa", "password", annPassword, "secret", totpSecret, "code", a.code(totpSecret, 1)).to("/users/mfa") // it is on
}

func TestNewRecoveryCodesReplaceTheOld(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	b.post("/users/mfa/codes", "password", annPassword).to("/users/mfa") // there is no second factor
	_, old := b.enableMFA()
	b.post("/users/mfa/codes", "password", "wrong").want(http.StatusForbidden).says("That is not your password.")
	recovery := recoveryCodes(b.post("/users/mfa/codes", "password", annPassword).want(http.StatusOK).says("take the place of the old ones"))
	b = a.browser()
	b.signIn(annEmail, annPassword).to("/users/sign_in")
	b.post("/users/sign_in/code", "code", old[0]).want(http.StatusForbidden)
	b.post("/users/sign_in/code", "code", recovery[0]).to("/")
}

func TestASecondFactorIsTurnedOff(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	b.enableMFA()
	b.post("/users/mfa/off", "password", "wrong").want(http.StatusForbidden).says("That is not your password.")
	a.browser().signIn(annEmail, annPassword).to("/users/sign_in")
	b.post("/users/mfa/off", "password", annPassword).to("/users/mfa?done=1")
	b.get("/users/mfa?done=1").says("Two-factor sign-in is off.").inner("secret")
	a.signedIn(annEmail, annPassword)
}

func TestWhereASecondFactorIsRequired(t *testing.T) {
	t.Parallel()
	a := newSite(t, func(c *config.Config) { c.RequireMFA = true })
	b := a.signedIn(annEmail, annPassword)
	for _, path := range []string{"/", "/p", "/users/token", "/users/password", "/users/sessions"} {
		b.get(path).to("/users/mfa")
	}
	b.post("/users/token", "days", "0").to("/users/mfa")
	b.post("/users/mfa/codes", "password", annPassword).to("/users/mfa")
	b.get("/users/mfa").want(http.StatusOK).says("everybody who signs in needs a second factor. Set yours up to go on.")
	a.get(pushes+"/active", a.user("bob@example.com")).want(http.StatusOK)
	b.enableMFA()
	b.get("/users/token").want(http.StatusOK)
	on := b.get("/users/mfa").want(http.StatusOK).says("it cannot be turned off")
	if on.shows("/users/mfa/off") {
		t.Error("the page offers to turn it off")
	}
	b.post("/users/mfa/off", "password", annPassword).want(http.StatusForbidden).says("it cannot be turned off")
	a.browser().signIn(annEmail, annPassword).to("/users/sign_in")
	b.post("/users/sign_out").to("/users/sign_in")
}

func TestWhoHasNoSecondFactorMaySignOutWhereItIsRequired(t *testing.T) {
	t.Parallel()
	a := newSite(t, func(c *config.Config) { c.RequireMFA = true })
	b := a.signedIn(annEmail, annPassword)
	b.post("/users/sign_out").to("/users/sign_in")
	b.get("/users/sign_in").want(http.StatusOK)
}

func TestOnlyASecretThatIsOneIsTaken(t *testing.T) {
	t.Parallel()
	a := newSite(t)
	b := a.signedIn(annEmail, annPassword)
	for _, bad := range []string{"", "x", "AAAA", `"><script>alert(1)</script>`} {
		got := b.post("/users/mfa", "password", annPassword, "secret", bad, "code", "000000").want(http.StatusUnprocessableEntity)
		if bad != "" && got.shows(`alert(1)`) {
			t.Error(got.body)
		}
	}
	b.get("/users/mfa").want(http.StatusOK).inner("secret")
}
