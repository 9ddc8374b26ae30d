package server_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
)

func TestTheFormSendsTheLinkByMail(t *testing.T) {
	t.Parallel()
	a := newAPI(t, sendsMail)
	ann := a.senderAt("ann@example.com")
	form := a.get("/?lang=sv", ann).want(http.StatusOK)
	if form.tag("mail-to") == "" || !strings.Contains(form.body, `<option value="sv" lang="sv" selected>Svenska</option>`) || strings.Count(form.body, `lang="`) < 12 {
		t.Error(form.body)
	}
	got := a.sendForm(typed(map[string]string{"notify_emails_to": "bob@example.net, carol@example.net", "notify_emails_to_locale": "sv"}), ann)
	token := got.pushed()
	if !strings.Contains(got.body, "on its way to 2 e-mail addresses") || addressees(a.letters()) != "bob@example.net carol@example.net" || a.letters()[0].Language != "sv" {
		t.Errorf("mail goes to %s: %s", addressees(a.letters()), got.body)
	}
	page := a.get("/p/"+token+"/audit", ann).want(http.StatusOK)
	if !strings.Contains(page.body, `Link sent by mail: <bdi class="long">bob@example.net, carol@example.net</bdi>`) {
		t.Error(page.body)
	}
	got = a.sendForm(typed(map[string]string{"notify_emails_to": "", "notify_emails_to_locale": "sv"}), ann)
	if got.pushed(); strings.Contains(got.body, "on its way") {
		t.Error(got.body)
	}
}

func TestTheFormForMailIsForThoseWhoCanSendIt(t *testing.T) {
	t.Parallel()
	on, off := newAPI(t, sendsMail), newAPI(t)
	for name, got := range map[string]answer{"nobody": on.get("/"), "no mail": off.get("/", off.senderAt("ann@example.com"))} {
		if got.want(http.StatusOK).tag("mail-to") != "" || strings.Contains(got.body, "notify_emails") {
			t.Errorf("%s: %s", name, got.body)
		}
	}
}

func TestAFormWithWrongAddressesComesBack(t *testing.T) {
	t.Parallel()
	a := newAPI(t, sendsMail, func(c *config.Config) { c.Mail.DailyLimit = 5 })
	ann := a.senderAt("ann@example.com")
	for name, test := range map[string]struct{ to, language, id, says string }{
		"no address":     {`"><script>`, "en", "mail-to", "at most 5 e-mail addresses"},
		"too many":       {listed(6), "de", "mail-to", "at most 5 e-mail addresses"},
		"no language":    {"bob@example.net", "xx", "mail-language", "one of the languages"},
		"beyond the day": {listed(3), "de", "mail-to", "cannot be sent today"},
	} {
		if name == "beyond the day" {
			a.sendForm(typed(map[string]string{"notify_emails_to": listed(3)}), ann).want(http.StatusCreated)
		}
		got := a.sendForm(typed(map[string]string{"notify_emails_to": test.to, "notify_emails_to_locale": test.language, "payload": "kept"}), ann)
		if told := got.problems(); len(told) != 1 || !strings.Contains(told[0], test.says) || !strings.Contains(got.body, `href="#`+test.id+`"`) {
			t.Errorf("%s: %v", name, told)
		}
		if got.typedInto("mail-to") != test.to || got.typedInto("payload") != "kept" || strings.Contains(got.body, "<script>") {
			t.Errorf("%s: %s", name, got.body)
		}
		if test.language == "de" && !strings.Contains(got.body, `<option value="de" lang="de" selected>`) {
			t.Errorf("%s: the language did not come back", name)
		}
	}
	if n := a.store.Waiting(); n != 3 {
		t.Errorf("%d mails wait", n)
	}
}
