package pages_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
)

const (
	eveEmail    = "eve@example.com"
	evePassword = "a good password"
)

// newSender is a server that sends mail, and eve, who signed up there: her browser, and an
// API token.
func newSender(t *testing.T, changes ...func(*config.Config)) (a *servertest.Server, eve *servertest.Browser, token http.Header) {
	t.Helper()
	a = servertest.NewSite(t, append([]func(*config.Config){servertest.SendsMail, servertest.SignUps}, changes...)...)
	a.Browser().Post("/users/sign_up", "email", eveEmail, "password", evePassword).To("/users/sign_in")
	return a, a.SignedIn(eveEmail, evePassword), a.AddToken(eveEmail)
}

// codeIn is the code in the newest mail.
func codeIn(a *servertest.Server) string {
	a.T.Helper()
	all := wantedOf(a)
	if len(all) == 0 || all[len(all)-1].About != store.MailCode {
		a.T.Fatalf("there is no code in %+v", all)
	}
	return all[len(all)-1].Code.Reveal()
}

// noCode is a code that is wrong.
func noCode(code string) string { return string('0'+(code[0]-'0'+1)%10) + code[1:] }

func TestASignedUpAccountSendsMailOnceItsAddressIsConfirmed(t *testing.T) {
	t.Parallel()
	a, eve, token := newSender(t)
	old := a.Create(`"payload":"x"`, token)
	refused := func() {
		t.Helper()
		before := len(a.Get(pushes+"/active", token).Want(http.StatusOK).List())
		for path, body := range map[string]string{
			pushes:                                `{"push":{"payload":"x","notify_emails_to":"bob@example.net"}}`,
			"/p.json":                             `{"password":{"payload":"x","notify_emails_to":"bob@example.net"}}`,
			pushes + "/" + old + "/notify_emails": `{"notify_emails_to":"bob@example.net"}`,
		} {
			got := a.Do("POST", path, body, token).Want(http.StatusForbidden)
			if got.Problem() != "unconfirmed" || !strings.Contains(got.Text("error"), "confirm it at /users/address") || strings.Contains(got.Body, "example.net") {
				t.Errorf("%s: %s", path, got.Body)
			}
		}
		got := eve.Post("/", "push[payload]", "x", "push[kind]", "text", "push[notify_emails_to]", "bob@example.net").Want(http.StatusUnprocessableEntity)
		got.Says("your own e-mail address must be confirmed", `href="/users/address"`)
		if n := len(a.Get(pushes+"/active", token).List()); n != before {
			t.Errorf("%d pushes were stored", n-before)
		}
	}
	refused()
	eve.Get("/").Says("your own e-mail address must be confirmed", `href="/users/address"`).Lacks(`name="push[notify_emails_to]"`)
	eve.Get("/users/address").Want(http.StatusOK).Says(eveEmail, "not confirmed yet", "Send a code").Lacks(`name="code"`)
	eve.Post("/users/address/code").To("/users/address")
	code := codeIn(a)
	eve.Get("/users/address").Says(`name="code"`, "Tries left: 5", "Send another code").Lacks(code)
	refused()
	eve.Post("/users/address", "code", noCode(code)).Want(http.StatusForbidden).Says("not the code from the last e-mail", "Tries left: 4")
	eve.Post("/users/address", "code", code[:4]+" "+code[4:]).To("/users/address")
	eve.Get("/users/address").Says("your address is confirmed", "This address is confirmed").Lacks(`name="code"`, "Send")
	eve.Get("/").Says(`name="push[notify_emails_to]"`).Lacks("must be confirmed")
	a.Create(`"payload":"x","notify_emails_to":"bob@example.net"`, token)
	a.Do("POST", pushes+"/"+old+"/notify_emails", `{"notify_emails_to":"carol@example.net"}`, token).Want(http.StatusCreated)
	eve.Post("/users/address/code").To("/users/address")
	letters := wantedOf(a)
	if servertest.Addressees(letters) != "bob@example.net carol@example.net" || letters[0].Sender != eveEmail {
		t.Errorf("mail: %+v", letters)
	}
	for _, word := range []string{code, "bob@", eveEmail} {
		if strings.Contains(a.Log.String(), word) {
			t.Errorf("the log has %s", word)
		}
	}
}

func TestACodeIsInTheLanguageOfThePage(t *testing.T) {
	t.Parallel()
	a, _, _ := newSender(t)
	eve := a.SignedIn(eveEmail, evePassword, http.Header{"Accept-Language": {"sv"}})
	eve.Post("/users/address/code").To("/users/address")
	if l := a.Letters()[0]; l.Language != "sv" || l.To.Reveal() != eveEmail {
		t.Errorf("it is %+v", l)
	}
}

func TestThePageOfTheAddressSaysWhyThereIsNoCode(t *testing.T) {
	t.Parallel()
	a, eve, _ := newSender(t)
	eve.Post("/users/address/code").To("/users/address")
	code := codeIn(a)
	got := eve.Post("/users/address/code").Want(http.StatusTooManyRequests).Says("several codes already")
	if got.Header.Get("Retry-After") != "60" {
		t.Errorf("it is %v", got.Header)
	}
	for range record.CodeTries {
		eve.Post("/users/address", "code", noCode(code)).Want(http.StatusForbidden)
	}
	eve.Post("/users/address", "code", code).Want(http.StatusForbidden).Says("not the code", "Send a code").Lacks(`name="code"`)
	a.Store.Clock.Advance(time.Minute)
	eve.Post("/users/address/code").To("/users/address")
	eve.Post("/users/address", "code", codeIn(a)).To("/users/address")

	full, bob, _ := newSender(t, func(c *config.Config) { c.Mail.RecipientPerDay = 1 })
	full.Create(`"payload":"x","notify_emails_to":"`+eveEmail+`"`, full.AddToken(servertest.AnnEmail))
	bob.Post("/users/address/code").Want(http.StatusTooManyRequests).Says("No e-mail can be sent to this address")

	anyone := func(c *config.Config) { c.SignupEmailRegexp = ".+" }
	on := servertest.NewSite(t, servertest.SendsMail, servertest.SignUps, anyone)
	for email, off := range map[string]*servertest.Server{
		eveEmail:           servertest.NewSite(t, servertest.SignUps),
		"änn@example.com":  on,
		"eve@[192.0.2.25]": on,
	} {
		off.Browser().Post("/users/sign_up", "email", email, "password", evePassword).To("/users/sign_in")
		none := off.SignedIn(email, evePassword)
		none.Get("/users/address").Want(http.StatusOK).Says("cannot send e-mail to this address").Lacks("Send a code")
		none.Post("/users/address/code").Want(http.StatusNotFound)
		off.SignedIn(servertest.AnnEmail, servertest.AnnPassword).Get("/users/address").Says("This address is confirmed").Lacks("Send a code", "sent by e-mail")
	}
}

func TestAnAddressGetsOnlySoMuchMailADay(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail, func(c *config.Config) { c.Mail.RecipientPerDay = 2 })
	ann, session := a.AddTokenUser("ann@example.com"), a.AddSessionUser("bob@example.com")
	bob := a.AddToken("bob@example.com")
	token := a.Create(`"payload":"x","notify_emails_to":"victim@example.net"`, ann)
	a.Do("POST", pushes+"/"+token+"/notify_emails", `{"notify_emails_to":"VICTIM@example.net"}`, ann).Want(http.StatusCreated)
	for path, body := range map[string]string{
		pushes:    `{"push":{"payload":"x","notify_emails_to":"a@example.net,victim@example.net"}}`,
		"/p.json": `{"password":{"payload":"x","notify_emails_to":"victim@example.net"}}`,
	} {
		got := a.Do("POST", path, body, bob).Want(http.StatusTooManyRequests)
		if !strings.HasPrefix(got.Text("error"), "One of these addresses has received the most mails for today") || strings.Contains(got.Body, "victim") || got.Header.Get("Retry-After") != "86400" {
			t.Errorf("%s: %v %s", path, got.Header, got.Body)
		}
	}
	got := a.SendForm(servertest.Typed(map[string]string{"notify_emails_to": "victim@example.net"}), session)
	if told := got.Want(http.StatusUnprocessableEntity).Problems(); len(told) != 1 || !strings.Contains(told[0], "has received the most e-mails for today") {
		t.Errorf("the form says %v", told)
	}
}

// wantedOf is lettersOf without the mails that will not be sent.
func wantedOf(a *servertest.Server) (all []store.Mail) {
	a.T.Helper()
	due, _, err := a.Store.DueMessages(ctx, record.MessageQuery{Route: record.ByMail, Limit: 1000})
	env.OK(a.T, err)
	for _, m := range due {
		switch l, wanted, err := a.Store.OpenMail(ctx, m); {
		case err != nil:
			a.T.Fatal(err)
		case wanted:
			all = append(all, l)
		}
	}
	return all
}
