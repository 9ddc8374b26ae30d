package pages_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server/servertest"
	"pushbox/store"
)

const chosen = "another horse battery"

func TestAForgottenPasswordIsSetByAMailedLink(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.SendsMail)
	b := a.Browser()
	b.Get("/users/sign_in").Says("Forgotten your password?")
	unknown := b.Post("/users/password/forgotten", "email", "unknown@example.com").Want(http.StatusOK)
	a.Store.Clock.Advance(time.Minute)
	known := b.Post("/users/password/forgotten", "email", servertest.AnnEmail).Want(http.StatusOK).Says("a link is on its way")
	if known.Body != unknown.Body {
		t.Error("the page tells whether there is an account")
	}
	all := a.Letters()
	if len(all) != 1 || all[0].Base != servertest.MailBase {
		t.Fatalf("%+v", all)
	}
	path := "/users/password/new/" + all[0].Code.Reveal()
	form := b.Get(path).Want(http.StatusOK).Says(servertest.AnnEmail)
	if got := form.Header.Get("Referrer-Policy"); got != "strict-origin" {
		t.Errorf("Referrer-Policy %q", got)
	}
	b.Post(path, "new", chosen, "again", "something else").Want(http.StatusUnprocessableEntity).Says("The two new passwords are not the same.")
	b.Post(path, "new", "short", "again", "short").Want(http.StatusUnprocessableEntity).Says("At least 10")
	b.Post(path, "new", chosen, "again", chosen, "end_tokens", "on").To("/users/sign_in")
	b.Get("/users/sign_in").Says("The password is set. Sign in with it.")
	b.Get(path).Want(http.StatusNotFound).Says("This link no longer works")
	b.Post(path, "new", chosen, "again", chosen).Want(http.StatusNotFound)
	b.SignIn(servertest.AnnEmail, servertest.AnnPassword).Want(http.StatusForbidden)
	b.SignIn(servertest.AnnEmail, chosen).To("/")
	if log := a.Log.String(); strings.Contains(log, all[0].Code.Reveal()) || strings.Contains(log, servertest.AnnEmail) {
		t.Error("the log has the link or the address")
	}
}

func TestWithoutMailTheAdministratorIsAsked(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.Browser()
	b.Get("/users/sign_in").Says("The administrator of this server can set a new one.").Lacks("password/forgotten")
	b.Get("/users/password/forgotten").Want(http.StatusNotFound)
	b.Post("/users/password/forgotten", "email", servertest.AnnEmail).Want(http.StatusNotFound)
}

func TestLinksForPasswordsAreAskedForWithALimit(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.SendsMail, func(c *config.Config) { c.Limits.SignInsPerClient = 2 })
	ask := func(n int) servertest.Answer {
		return a.Browser(servertest.Far(n)).Post("/users/password/forgotten", "email", "unknown@example.com")
	}
	ask(1).Want(http.StatusOK)
	ask(1).Want(http.StatusOK)
	if got := ask(1).Want(http.StatusTooManyRequests).Says("Too many attempts"); got.Header.Get("Retry-After") != "20" {
		t.Errorf("Retry-After %s", got.Header.Get("Retry-After"))
	}
	ask(2).Want(http.StatusOK)
}

func TestAnAdministratorInvites(t *testing.T) {
	t.Parallel()
	a, admin := administered(t)
	admin.Post("/admin/invite", "email", "no address").Want(http.StatusUnprocessableEntity).Says("no address")
	admin.Post("/admin/invite", "email", bobEmail).Want(http.StatusUnprocessableEntity).Says("There is an account with this address.")
	made := admin.Post("/admin/invite", "email", "eve@example.com", "admin", "on").Want(http.StatusCreated).Says("Give this link to eve@example.com.")
	_, link, _ := strings.Cut(made.Body, `/users/password/new/`)
	code, _, _ := strings.Cut(link, `"`)
	path := "/users/password/new/" + code
	admin.Get("/admin/accounts").Says("invited")
	eve := a.Browser()
	eve.Get(path).Says("Choose your password").Says("eve@example.com")
	eve.Post(path, "new", chosen, "again", chosen).To("/users/sign_in")
	eve.SignIn("eve@example.com", chosen).To("/")
	eve.Get("/admin/accounts").Want(http.StatusOK).Lacks("invited")

	made = admin.Post("/admin/accounts/2", "do", "password").Want(http.StatusOK).Says(bobEmail)
	a.SignedIn(bobEmail, servertest.AnnPassword) // until the link is used
	if !strings.Contains(made.Body, "/users/password/new/") {
		t.Error("there is no link")
	}
	admin.Post("/admin/accounts/2", "do", "disable").To("/admin/accounts/2")
	admin.Post("/admin/accounts/2", "do", "password").Want(http.StatusConflict)
}

// An invitation is mailed where the server sends mail, unless the administrator wants the link.
func TestAnInvitationIsMailed(t *testing.T) {
	t.Parallel()
	a, admin := administered(t, servertest.SendsMail, func(c *config.Config) { c.Mail.RecipientPerDay = 2 })
	const link = "/users/password/new/"
	admin.Get("/admin/invite").Says("Send it by mail")
	admin.Post("/admin/invite", "email", "eve@example.com", "mail", "on").To("/admin/accounts")
	admin.Get("/admin/accounts").Says("The link is on its way by mail.").Says("invited")
	all := a.Letters()
	if len(all) != 1 || all[0].About != store.MailPassword || !all[0].First || all[0].To.Reveal() != "eve@example.com" || all[0].Base != servertest.MailBase {
		t.Fatalf("%+v", all)
	}
	eve := a.Browser()
	eve.Post(link+all[0].Code.Reveal(), "new", chosen, "again", chosen).To("/users/sign_in")
	eve.SignIn("eve@example.com", chosen).To("/")

	admin.Post("/admin/invite", "email", "joe@example.com").Want(http.StatusCreated).Says("Give this link to joe@example.com.").Says(link)
	admin.Post("/admin/invite", "email", "no mail@here", "mail", "on").Want(http.StatusUnprocessableEntity)
	admin.Post("/admin/accounts/4", "do", "mail").To("/admin/accounts/4")
	admin.Get("/admin/accounts/4").Says("The link is on its way by mail.")
	admin.Post("/admin/accounts/4", "do", "mail").To("/admin/accounts/4")
	admin.Post("/admin/accounts/4", "do", "mail").Want(http.StatusTooManyRequests)
}

// Where the limit of mails is reached, the administrator gets the link that was to be mailed.
func TestAnInvitationThatCannotBeMailedIsShown(t *testing.T) {
	t.Parallel()
	a, admin := administered(t, servertest.SendsMail, func(c *config.Config) { c.Mail.DailyLimitTotal = 1 })
	admin.Post("/admin/invite", "email", "eve@example.com", "mail", "on").To("/admin/accounts")
	admin.Post("/admin/invite", "email", "joe@example.com", "mail", "on").Want(http.StatusCreated).
		Says("The mail could not be sent.").Says("Give this link to joe@example.com.").Says("/users/password/new/")
	if n := len(a.Letters()); n != 1 {
		t.Errorf("%d mails", n)
	}
}

// Another person signed up with an address: its owner, who asks for a link, is told that the
// account is replaced, and gets one of their own.
func TestALinkToAnAddressThatWasNotConfirmedSaysThatTheAccountIsMadeAnew(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.SendsMail, func(c *config.Config) { c.EnableSignups = true })
	const address = "pat@example.com"
	eve := a.Browser()
	eve.Post("/users/sign_up", "email", address, "password", "the password of eve").To("/users/sign_in")
	eve.SignIn(address, "the password of eve").To("/")
	b := a.Browser()
	b.Post("/users/password/forgotten", "email", address).Want(http.StatusOK)
	path := "/users/password/new/" + a.Letters()[0].Code.Reveal()
	b.Get(path).Want(http.StatusOK).Says("another person may have made it", "everything in the old one is deleted").Lacks("end_tokens")
	b.Post(path, "new", chosen, "again", chosen).To("/users/sign_in")
	eve.Get("/p").To("/users/sign_in")
	b.SignIn(address, chosen).To("/")
}

func TestAPasswordIsChanged(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	const changed = "another good password"
	b.Post("/users/password", "old", servertest.AnnPassword, "new", changed, "again", changed).To("/users/password")
	b.Get("/users/password").Want(http.StatusOK).Says("Your password was changed.")
	a.SignedIn(servertest.AnnEmail, changed)
}

func TestAnInvalidPasswordIsRefused(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	const good = "another good password"
	for name, test := range map[string]struct {
		old, new, again string
		status          int
		says            string
	}{
		"the old one is wrong":  {"not it", good, good, 403, "That is not your current password."},
		"the old one is empty":  {"", good, good, 403, "That is not your current password."},
		"two new ones":          {servertest.AnnPassword, good, good + "x", 422, "The two new passwords are not the same."},
		"the new one is short":  {servertest.AnnPassword, "nine char", "nine char", 422, "at least 10 characters"},
		"the new one is long":   {servertest.AnnPassword, strings.Repeat("x", 1025), strings.Repeat("x", 1025), 422, "at most 1024 bytes"},
		"nothing was filled in": {"", "", "", 422, "at least 10 characters"},
	} {
		got := b.Post("/users/password", "old", test.old, "new", test.new, "again", test.again)
		if got.Status != test.status {
			t.Errorf("%s: %d", name, got.Status)
		}
		got.Says(test.says)
		for _, field := range []string{"old", "new", "again"} {
			if got.Inputs(field)[0] != "" {
				t.Errorf("%s: %s comes back", name, field)
			}
		}
	}
	a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
}

func TestWrongOldPasswordsAreLimited(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) { c.Limits.SignInsPerAccount = 2 })
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	const good = "another good password"
	for range 2 {
		b.Post("/users/password", "old", "wrong", "new", good, "again", good).Want(http.StatusForbidden)
	}
	got := b.Post("/users/password", "old", servertest.AnnPassword, "new", good, "again", good).Want(http.StatusTooManyRequests).Says("Too many attempts")
	if got.Header.Get("Retry-After") != "3600" {
		t.Errorf("Retry-After %s", got.Header.Get("Retry-After"))
	}
}
