package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/display"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
)

func TestACreateHasItsLinkSentByMail(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail)
	ann := a.AddTokenUser("ann@example.com")
	for name, test := range map[string]struct {
		members, language, step string
	}{
		"in a language":     {`"payload":"x","notify_emails_to":" bob@example.net, carol@example.net,","notify_emails_to_locale":"de"`, "de", "/r"},
		"without a step":    {`"payload":"x","notify_emails_to":"bob@example.net,carol@example.net","retrieval_step":false`, "", ""},
		"in no language":    {`"payload":"x","notify_emails_to":"bob@example.net,carol@example.net","notify_emails_to_locale":null`, "", "/r"},
		"with a passphrase": {`"payload":"x","notify_emails_to":"bob@example.net,carol@example.net","passphrase":"p"`, "", "/r"},
	} {
		before := len(a.Letters())
		got := a.Do("POST", pushes, `{"push":{`+test.members+`}}`, ann).Want(http.StatusCreated)
		made := a.Letters()[before:]
		if servertest.Addressees(made) != "bob@example.net carol@example.net" {
			t.Errorf("%s: mail goes to %s", name, servertest.Addressees(made))
		}
		for _, l := range made {
			want := servertest.MailBase + "/p/" + got.Text("url_token") + test.step
			if linkIn(l) != want || want != got.Text("html_url") || l.Language != test.language || l.Sender != "ann@example.com" || l.Push.ViewsRemaining() != 5 || l.Push.Protected != strings.Contains(test.members, "passphrase") || got.Text("reveal") != "type" {
				t.Errorf("%s: it is %+v, %s", name, l, linkIn(l))
			}
		}
		if kinds := auditedOf(a, t, got.Text("url_token"), ann); kinds != "creation creation_email_send" {
			t.Errorf("%s: entries %s", name, kinds)
		}
	}
	for _, secret := range []string{"bob@", "carol@"} {
		if strings.Contains(a.Log.String(), secret) {
			t.Errorf("the log has %s", secret)
		}
	}
}

func TestARequestHasItsLinkSentByMail(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail, sellsRequests, func(c *config.Config) { c.Mail.DailyLimit = 4 })
	ann := a.AddTokenUser("ann@example.com")
	if got := a.Get("/api/v2/version").Body; !strings.Contains(got, `"requests":{"enabled":true,"email_auto_dispatch":true}`) {
		t.Errorf("a client is told %s", got)
	}
	const to = `{"request":{"request":"the VPN password","notify_emails_to":"bob@example.net, carol@example.net","notify_emails_to_locale":"de"`
	made := a.Do("POST", requests, to+`}}`, ann).Want(http.StatusCreated)
	letters := a.Letters()
	if servertest.Addressees(letters) != "bob@example.net carol@example.net" {
		t.Errorf("mail goes to %s", servertest.Addressees(letters))
	}
	for _, l := range letters {
		if l.About != store.MailAsk || display.RequestLink(l.Base, l.Asked.Reveal()) != servertest.MailBase+"/q/"+made.Text("url_token") || l.Language != "de" || l.Sender != "ann@example.com" {
			t.Errorf("it is %+v", l)
		}
	}
	ended := made.Text("id")
	const p256 = `,"public_key_p256":"BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU"`
	for members, want := range map[string]string{
		to + p256 + `}}`: "has public keys", `{"request":{"request":"x","notify_emails_to":"bob"}}`: "not an address",
	} {
		if got := a.Do("POST", requests, members, ann).Want(http.StatusUnprocessableEntity); !strings.Contains(got.Body, want) {
			t.Errorf("%s: %s", members, got.Body)
		}
	}
	a.Do("POST", requests, to+`}}`, ann).Want(http.StatusCreated)
	before := len(a.Get(requests, ann).List())
	a.Do("POST", requests, to+`}}`, ann).Want(http.StatusTooManyRequests)
	if after := len(a.Get(requests, ann).List()); after != before || len(a.Letters()) != 4 {
		t.Errorf("beyond the quota there are %d requests, %d letters", after, len(a.Letters()))
	}
	a.Do("DELETE", requests+"/"+ended, "", ann).Want(http.StatusOK)
	wanted := 0
	due, _, err := a.Store.DueMessages(t.Context(), record.MessageQuery{Route: record.ByMail, Limit: 10})
	env.OK(t, err)
	for _, m := range due {
		if _, is, err := a.Store.OpenMail(t.Context(), m); err != nil {
			t.Error(err)
		} else if is {
			wanted++
		}
	}
	if wanted != 2 {
		t.Errorf("%d mails are sent for a request that has ended and one that has not", wanted)
	}
	if strings.Contains(a.Log.String(), "bob@") {
		t.Error("the log has an address")
	}
}

// Password Pusher's clients send tags of its 31 languages.
func TestAMailIsInTheNearestLanguage(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail, func(c *config.Config) { c.DefaultLocale = "fr" })
	ann := a.AddTokenUser("ann@example.com")
	for tag, want := range map[string]string{
		"de": "de", "DE": "de", "pt-br": "pt", "pt-BR": "pt", "pt_PT": "pt", "zh-cn": "zh", "zh-CN": "zh", "en-gb": "en", "en_GB": "en", "de-AT": "de",
		"ko": "fr", "ca": "fr", "uk": "fr", "xx": "fr", "-": "fr", strings.Repeat("de,", 400): "fr",
	} {
		members := `"payload":"x","notify_emails_to":"bob@example.net, carol@example.net","notify_emails_to_locale":"` + tag + `"`
		made := a.Do("POST", pushes, `{"push":{`+members+`}}`, ann).Want(http.StatusCreated)
		made.Has(map[string]string{"notify_emails_to": "bob@example.net, carol@example.net", "notify_emails_to_locale": tag})
		letters := a.Letters()
		if got := letters[len(letters)-1].Language; got != want {
			t.Errorf("%.20q: the mail is in %q, not %q", tag, got, want)
		}
	}
	for _, members := range []string{`"payload":"x"`, `"payload":"x","notify_emails_to":" ","notify_emails_to_locale":"de"`} {
		if got := a.Do("POST", pushes, `{"push":{`+members+`}}`, ann).Want(http.StatusCreated); strings.Contains(got.Body, "notify_emails") {
			t.Errorf("%s", got.Body)
		}
	}
}

func TestMailThatIsRefused(t *testing.T) {
	t.Parallel()
	on := servertest.New(t, servertest.SendsMail)
	off := servertest.New(t)
	const to, language = store.FieldMailTo, store.FieldMailLanguage
	for name, test := range map[string]struct {
		a         *servertest.Server
		members   string
		anonymous bool
		says      map[string]string
	}{
		"anonymous":           {on, `"notify_emails_to":"bob@example.net"`, true, map[string]string{to: "needs an account"}},
		"anonymous, language": {on, `"notify_emails_to_locale":"en"`, true, map[string]string{language: "needs an account"}},
		"no mail":             {off, `"notify_emails_to":"bob@example.net","notify_emails_to_locale":"en"`, false, map[string]string{to: "sends no mail", language: "sends no mail"}},
		"no address":          {on, `"notify_emails_to":"bob"`, false, map[string]string{to: "number 1 is not an address such as"}},
		"a name":              {on, `"notify_emails_to":"a@example.net,Bob <bob@example.net>"`, false, map[string]string{to: "number 2 is not an address such as"}},
		"a header":            {on, `"notify_emails_to":"bob@example.net\r\nBcc: eve@example.net"`, false, map[string]string{to: "number 1 is not an address such as"}},
		"other letters":       {on, `"notify_emails_to":"bøb@example.net"`, false, map[string]string{to: "number 1 is not an address such as"}},
		"quotes":              {on, `"notify_emails_to":"\"bob\"@example.net"`, false, map[string]string{to: "number 1 is not an address such as"}},
		"nothing but commas":  {on, `"notify_emails_to":" , ,"`, false, map[string]string{to: "has no e-mail address"}},
		"too many":            {on, `"notify_emails_to":"` + servertest.Listed(6) + `"`, false, map[string]string{to: "are too many: at most 5"}},
		"a list":              {on, `"notify_emails_to":["bob@example.net"]`, false, map[string]string{to: "must be a text"}},
		"other fields, too":   {on, `"notify_emails_to":"bob","expire_after_days":0`, false, map[string]string{to: "number 1", "expire_after_days": "must be between"}},
	} {
		as := http.Header{}
		if !test.anonymous {
			as = test.a.AddTokenUser(strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), ",", "") + "@example.com")
		}
		got := test.a.Do("POST", pushes, `{"push":{"payload":"x",`+test.members+`}}`, as).Want(http.StatusUnprocessableEntity)
		if len(got.Keys()) != len(test.says) || strings.Contains(got.Body, "example.net") {
			t.Errorf("%s: %s", name, got.Body)
		}
		for field, says := range test.says {
			if !strings.Contains(got.Text(field), says) {
				t.Errorf("%s: %s", name, got.Body)
			}
		}
	}
	if n := len(on.Letters()) + len(off.Letters()); n > 0 || on.Store.Waiting() > 0 {
		t.Errorf("%d mails wait", n)
	}
	ann := on.AddTokenUser("ann@example.com")
	on.Create(`"payload":"x","notify_emails_to":"","notify_emails_to_locale":""`)
	on.Create(`"payload":"x","notify_emails_to":" ","notify_emails_to_locale":"fr"`, ann)
	on.Create(`"payload":"x","notify_emails_to":"`+servertest.Listed(5)+`,`+servertest.Listed(5)+`"`, ann)
	if got := servertest.Addressees(on.Letters()); got != strings.ReplaceAll(servertest.Listed(5), ",", " ") {
		t.Errorf("mail goes to %s", got)
	}
}

func TestTheOwnerSendsTheLinkToMoreRecipients(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail)
	ann := a.AddTokenUser("ann@example.com")
	token := a.Create(`"payload":"x","name":"n"`, ann)
	path := pushes + "/" + token + "/notify_emails"
	for i, test := range []struct {
		body   string
		header http.Header
	}{
		{`{"notify_emails_to":"r0@example.net","notify_emails_to_locale":"fr"}`, nil},
		{`{"push":{"notify_emails_to":"r1@example.net","notify_emails_to_locale":"fr"},"other":[{}]}`, nil},
		{`notify_emails_to=r2%40example.net&notify_emails_to_locale=fr`, servertest.Urlencoded},
		{`push[notify_emails_to]=r3@example.net&push[notify_emails_to_locale]=fr`, servertest.Urlencoded},
		{servertest.TextPart("push[notify_emails_to]", "r4@example.net") + servertest.TextPart("notify_emails_to_locale", "fr") + "--b--\r\n", servertest.Multi},
	} {
		got := a.Do("POST", path, test.body, ann, test.header).Want(http.StatusCreated)
		if got.Text("message") != "Recipient(s) are added to the queue to be sent." || got.Text("url_token") != token || strings.Contains(got.Body, `"name"`) || strings.Contains(got.Body, "payload") {
			t.Errorf("%s", got.Body)
		}
		made := a.Letters()
		if l := made[len(made)-1]; len(made) != i+1 || l.To.Reveal() != fmt.Sprintf("r%d@example.net", i) || l.Language != "fr" || linkIn(l) != servertest.MailBase+"/p/"+token+"/r" {
			t.Errorf("%s: mail goes to %s in %s", test.body, servertest.Addressees(made), l.Language)
		}
	}
	if kinds := auditedOf(a, t, token, ann); kinds != "creation"+strings.Repeat(" creation_email_send", 5) {
		t.Errorf("entries %s", kinds)
	}
	for body, says := range map[string]string{
		`{}`:                                "is required",
		`{"notify_emails_to":" "}`:          "is required",
		`{"notify_emails_to_locale":"de"}`:  "is required",
		`{"notify_emails_to":5}`:            "must be a text",
		`{"notify_emails_to":"bob"}`:        "number 1",
		`{"push":{"notify_emails_to":"b"}}`: "number 1",
	} {
		if got := a.Do("POST", path, body, ann).Want(http.StatusUnprocessableEntity); !strings.Contains(got.Text(store.FieldMailTo), says) {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	a.Do("POST", path, `{"notify_emails_to":"a@b.example","push":{"notify_emails_to":"a@b.example"}}`, ann).Want(http.StatusBadRequest)
	a.Do("POST", path, `notify_emails_to=a&notify_emails_to=b`, ann, servertest.Urlencoded).Want(http.StatusBadRequest)
	a.Do("DELETE", pushes+"/"+token, "", ann).Want(http.StatusOK)
	if got := a.Do("POST", path, `{"notify_emails_to":"bob@example.net"}`, ann).Want(http.StatusUnprocessableEntity); !strings.Contains(got.Text(store.FieldMailTo), "has expired") {
		t.Error(got.Body)
	}
	if a.Store.Waiting() != 5 {
		t.Errorf("%d mails wait", a.Store.Waiting())
	}
}

func TestMailPerDayIsLimited(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail, func(c *config.Config) { c.Mail.DailyLimit, c.Mail.DailyLimitTotal = 5, 8 })
	ann, bob := a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")
	a.Store.Clock.Advance(14 * time.Hour) // of a day that began at midnight
	token := a.Create(`"payload":"x","notify_emails_to":"`+servertest.Listed(4)+`"`, ann)
	path := pushes + "/" + token + "/notify_emails"
	limited := func(got servertest.Answer) {
		t.Helper()
		if got.Want(http.StatusTooManyRequests).Problem() != "too-many-requests" || got.Header.Get("Retry-After") != "36000" || !strings.Contains(got.Text("error"), "mail") {
			t.Errorf("after %s: %s", got.Header.Get("Retry-After"), got.Body)
		}
	}
	limited(a.Do("POST", path, `{"notify_emails_to":"`+servertest.Listed(2)+`"}`, ann))
	limited(a.Do("POST", pushes, `{"push":{"payload":"x","notify_emails_to":"`+servertest.Listed(2)+`"}}`, ann))
	limited(a.Do("POST", pushes, `{"push":{"payload":"x","notify_emails_to":"`+servertest.Listed(5)+`"}}`, bob)) // all together
	a.Create(`"payload":"without mail"`, ann)
}

func TestTheVersionSaysWhetherMailIsSent(t *testing.T) {
	t.Parallel()
	for want, a := range map[bool]*servertest.Server{true: servertest.New(t, servertest.SendsMail), false: servertest.New(t)} {
		if got := a.Get("/api/v2/version").Body; strings.Contains(got, `"email_auto_dispatch":true`) != want {
			t.Error(got)
		}
		if doc := a.Get("/api/v2/openapi.json").Body; strings.Contains(doc, `"push[notify_emails_to]"`) != want {
			t.Errorf("mail is documented: %v", !want)
		}
	}
}

// auditedOf returns the kinds of the entries in a push's audit log.
func auditedOf(a *servertest.Server, t *testing.T, token string, as http.Header) string {
	t.Helper()
	var kinds []string
	logs, _ := a.Get(pushes+"/"+token+"/audit", as).Want(http.StatusOK).Object()["logs"].([]any)
	for _, l := range logs {
		kinds = append(kinds, l.(map[string]any)["kind"].(string))
	}
	return strings.Join(kinds, " ")
}

// linkIn returns the link in a mail.
func linkIn(l store.Mail) string {
	return display.PushLink(l.Base, l.Push.Token.Reveal(), l.Push.RetrievalStep)
}
