package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

func TestTheFormSendsTheLinkByMail(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail)
	ann := a.AddSessionUser("ann@example.com")
	form := a.Get("/?lang=sv", ann).Want(http.StatusOK)
	if form.Tag("mail-to") == "" || !strings.Contains(form.Body, `<option value="sv" lang="sv" selected>Svenska</option>`) || strings.Count(form.Body, `lang="`) < 12 {
		t.Error(form.Body)
	}
	got := a.SendForm(servertest.Typed(map[string]string{"notify_emails_to": "bob@example.net, carol@example.net", "notify_emails_to_locale": "sv"}), ann)
	token := got.PushToken()
	if !strings.Contains(got.Body, "on its way to 2 e-mail addresses") || servertest.Addressees(a.Letters()) != "bob@example.net carol@example.net" || a.Letters()[0].Language != "sv" {
		t.Errorf("mail goes to %s: %s", servertest.Addressees(a.Letters()), got.Body)
	}
	page := a.Get("/p/"+token+"/audit", ann).Want(http.StatusOK)
	if !strings.Contains(page.Body, `Link sent by e-mail</span>: <bdi class="long">bob@example.net, carol@example.net</bdi>`) {
		t.Error(page.Body)
	}
	got = a.SendForm(servertest.Typed(map[string]string{"notify_emails_to": "", "notify_emails_to_locale": "sv"}), ann)
	if got.PushToken(); strings.Contains(got.Body, "on its way") {
		t.Error(got.Body)
	}
}

func TestTheFormOffersMailOnlyToAccountsThatCanSendIt(t *testing.T) {
	t.Parallel()
	on, off := servertest.New(t, servertest.SendsMail), servertest.New(t)
	for name, got := range map[string]servertest.Answer{"anonymous": on.Get("/"), "no mail": off.Get("/", off.AddSessionUser("ann@example.com"))} {
		if got.Want(http.StatusOK).Tag("mail-to") != "" || strings.Contains(got.Body, "notify_emails") {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
}

func TestAFormWithWrongAddressesIsShownAgain(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail, func(c *config.Config) { c.Mail.DailyLimit = 5 })
	ann := a.AddSessionUser("ann@example.com")
	for name, test := range map[string]struct{ to, language, id, says string }{
		"no address":     {`"><script>`, "en", "mail-to", "at most 5 e-mail addresses"},
		"too many":       {servertest.Listed(6), "de", "mail-to", "at most 5 e-mail addresses"},
		"no language":    {"bob@example.net", "xx", "mail-language", "one of the languages"},
		"beyond the day": {servertest.Listed(3), "de", "mail-to", "You cannot send that many e-mails today"},
	} {
		if name == "beyond the day" {
			a.SendForm(servertest.Typed(map[string]string{"notify_emails_to": servertest.Listed(3)}), ann).Want(http.StatusOK)
		}
		got := a.SendForm(servertest.Typed(map[string]string{"notify_emails_to": test.to, "notify_emails_to_locale": test.language, "payload": "kept"}), ann)
		if told := got.Problems(); len(told) != 1 || !strings.Contains(told[0], test.says) || !strings.Contains(got.Body, `href="#`+test.id+`"`) {
			t.Errorf("%s: %v", name, told)
		}
		if got.TypedInto("mail-to") != test.to || got.TypedInto("payload") != "kept" || strings.Contains(got.Body, "<script>") {
			t.Errorf("%s: %s", name, got.Body)
		}
		if test.language == "de" && !strings.Contains(got.Body, `<option value="de" lang="de" selected>`) {
			t.Errorf("%s: the language did not come back", name)
		}
	}
	if n := a.Store.Waiting(); n != 3 {
		t.Errorf("%d mails wait", n)
	}
}
