package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/store"
)

func TestACreateHasItsLinkSentByMail(t *testing.T) {
	t.Parallel()
	a := newAPI(t, sendsMail)
	ann := a.user("ann@example.com")
	for name, test := range map[string]struct {
		members, language, step string
	}{
		"in a language":     {`"payload":"x","notify_emails_to":" bob@example.net, carol@example.net,","notify_emails_to_locale":"de"`, "de", "/r"},
		"without a step":    {`"payload":"x","notify_emails_to":"bob@example.net,carol@example.net","retrieval_step":false`, "", ""},
		"in no language":    {`"payload":"x","notify_emails_to":"bob@example.net,carol@example.net","notify_emails_to_locale":null`, "", "/r"},
		"with a passphrase": {`"payload":"x","notify_emails_to":"bob@example.net,carol@example.net","passphrase":"p"`, "", "/r"},
	} {
		before := len(a.letters())
		got := a.do("POST", pushes, `{"push":{`+test.members+`}}`, ann).want(http.StatusCreated)
		made := a.letters()[before:]
		if addressees(made) != "bob@example.net carol@example.net" {
			t.Errorf("%s: mail goes to %s", name, addressees(made))
		}
		for _, l := range made {
			want := a.url + "/p/" + got.text("url_token") + test.step
			if l.Link.Reveal() != want || want != got.text("html_url") || l.Language != test.language || l.Sender != "ann@example.com" || l.Views != 5 || l.Protected != strings.Contains(test.members, "passphrase") {
				t.Errorf("%s: it is %+v, %s", name, l, l.Link.Reveal())
			}
		}
		if kinds := a.audited(t, got.text("url_token"), ann); kinds != "creation creation_email_send" {
			t.Errorf("%s: entries %s", name, kinds)
		}
	}
	for _, secret := range []string{"bob@", "carol@"} {
		if strings.Contains(a.log.String(), secret) {
			t.Errorf("the log has %s", secret)
		}
	}
}

func TestWhatMailIsRefusedFor(t *testing.T) {
	t.Parallel()
	on := newAPI(t, sendsMail)
	off := newAPI(t)
	const to, language = store.FieldMailTo, store.FieldMailLanguage
	for name, test := range map[string]struct {
		a       *api
		members string
		nobody  bool
		says    map[string]string
	}{
		"anonymous":              {on, `"notify_emails_to":"bob@example.net"`, true, map[string]string{to: "only be set by somebody who has an account"}},
		"anonymous, language":    {on, `"notify_emails_to_locale":"en"`, true, map[string]string{language: "only be set by somebody who has an account"}},
		"no mail":                {off, `"notify_emails_to":"bob@example.net","notify_emails_to_locale":"en"`, false, map[string]string{to: "sends no mail", language: "sends no mail"}},
		"no address":             {on, `"notify_emails_to":"bob"`, false, map[string]string{to: "number 1 is none such as"}},
		"a name":                 {on, `"notify_emails_to":"a@example.net,Bob <bob@example.net>"`, false, map[string]string{to: "number 2 is none such as"}},
		"a header":               {on, `"notify_emails_to":"bob@example.net\r\nBcc: eve@example.net"`, false, map[string]string{to: "number 1 is none such as"}},
		"other letters":          {on, `"notify_emails_to":"bøb@example.net"`, false, map[string]string{to: "number 1 is none such as"}},
		"quotes":                 {on, `"notify_emails_to":"\"bob\"@example.net"`, false, map[string]string{to: "number 1 is none such as"}},
		"nothing but commas":     {on, `"notify_emails_to":" , ,"`, false, map[string]string{to: "has no e-mail address"}},
		"too many":               {on, `"notify_emails_to":"` + listed(6) + `"`, false, map[string]string{to: "are too many: at most 5"}},
		"a list":                 {on, `"notify_emails_to":["bob@example.net"]`, false, map[string]string{to: "must be a text"}},
		"a language that is not": {on, `"notify_emails_to":"bob@example.net","notify_emails_to_locale":"xx"`, false, map[string]string{language: "must be one of en, de, fr"}},
		"other fields, too":      {on, `"notify_emails_to":"bob","expire_after_days":0`, false, map[string]string{to: "number 1", "expire_after_days": "must be between"}},
	} {
		as := http.Header{}
		if !test.nobody {
			as = test.a.user(strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), ",", "") + "@example.com")
		}
		got := test.a.do("POST", pushes, `{"push":{"payload":"x",`+test.members+`}}`, as).want(http.StatusUnprocessableEntity)
		if len(got.keys()) != len(test.says) || strings.Contains(got.body, "example.net") {
			t.Errorf("%s: %s", name, got.body)
		}
		for field, says := range test.says {
			if !strings.Contains(got.text(field), says) {
				t.Errorf("%s: %s", name, got.body)
			}
		}
	}
	if n := len(on.letters()) + len(off.letters()); n > 0 || on.store.Waiting() > 0 {
		t.Errorf("%d mails wait", n)
	}
	ann := on.user("ann@example.com")
	on.create(`"payload":"x","notify_emails_to":"","notify_emails_to_locale":""`)
	on.create(`"payload":"x","notify_emails_to":" ","notify_emails_to_locale":"fr"`, ann)
	on.create(`"payload":"x","notify_emails_to":"`+listed(5)+`,`+listed(5)+`"`, ann)
	if got := addressees(on.letters()); got != strings.ReplaceAll(listed(5), ",", " ") {
		t.Errorf("mail goes to %s", got)
	}
}

// listed are so many addresses.
func listed(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("r%d@example.net", i)
	}
	return strings.Join(all, ",")
}

func TestAnOwnerSendsTheLinkToMorePeople(t *testing.T) {
	t.Parallel()
	a := newAPI(t, sendsMail)
	ann := a.user("ann@example.com")
	token := a.create(`"payload":"x","name":"n"`, ann)
	path := pushes + "/" + token + "/notify_emails"
	for i, test := range []struct {
		body   string
		header http.Header
	}{
		{`{"notify_emails_to":"r0@example.net","notify_emails_to_locale":"fr"}`, nil},
		{`{"push":{"notify_emails_to":"r1@example.net","notify_emails_to_locale":"fr"},"other":[{}]}`, nil},
		{`notify_emails_to=r2%40example.net&notify_emails_to_locale=fr`, urlencoded},
		{`push[notify_emails_to]=r3@example.net&push[notify_emails_to_locale]=fr`, urlencoded},
		{textPart("push[notify_emails_to]", "r4@example.net") + textPart("notify_emails_to_locale", "fr") + "--b--\r\n", multi},
	} {
		got := a.do("POST", path, test.body, ann, test.header).want(http.StatusCreated)
		if got.text("url_token") != token || strings.Contains(got.body, `"name"`) || strings.Contains(got.body, "payload") {
			t.Errorf("%s", got.body)
		}
		made := a.letters()
		if l := made[len(made)-1]; len(made) != i+1 || l.To.Reveal() != fmt.Sprintf("r%d@example.net", i) || l.Language != "fr" || l.Link.Reveal() != a.url+"/p/"+token+"/r" {
			t.Errorf("%s: mail goes to %s in %s", test.body, addressees(made), l.Language)
		}
	}
	if kinds := a.audited(t, token, ann); kinds != "creation"+strings.Repeat(" creation_email_send", 5) {
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
		if got := a.do("POST", path, body, ann).want(http.StatusUnprocessableEntity); !strings.Contains(got.text(store.FieldMailTo), says) {
			t.Errorf("%s: %s", body, got.body)
		}
	}
	a.do("POST", path, `{"notify_emails_to":"a@b.example","push":{"notify_emails_to":"a@b.example"}}`, ann).want(http.StatusBadRequest)
	a.do("POST", path, `notify_emails_to=a&notify_emails_to=b`, ann, urlencoded).want(http.StatusBadRequest)
	a.do("DELETE", pushes+"/"+token, "", ann).want(http.StatusOK)
	if got := a.do("POST", path, `{"notify_emails_to":"bob@example.net"}`, ann).want(http.StatusUnprocessableEntity); !strings.Contains(got.text(store.FieldMailTo), "has expired") {
		t.Error(got.body)
	}
	if a.store.Waiting() != 5 {
		t.Errorf("%d mails wait", a.store.Waiting())
	}
}

func TestADaysMailIsLimited(t *testing.T) {
	t.Parallel()
	a := newAPI(t, sendsMail, func(c *config.Config) { c.Mail.DailyLimit, c.Mail.DailyLimitTotal = 5, 8 })
	ann, bob := a.user("ann@example.com"), a.user("bob@example.com")
	a.store.Clock.Advance(14 * time.Hour) // of a day that began at midnight
	token := a.create(`"payload":"x","notify_emails_to":"`+listed(4)+`"`, ann)
	path := pushes + "/" + token + "/notify_emails"
	wait := "36000"
	limited := func(got answer) {
		t.Helper()
		if got.want(http.StatusTooManyRequests).problem() != "too-many-requests" || got.header.Get("Retry-After") != wait || !strings.Contains(got.text("message"), "mail") {
			t.Errorf("after %s: %s", got.header.Get("Retry-After"), got.body)
		}
	}
	limited(a.do("POST", path, `{"notify_emails_to":"`+listed(2)+`"}`, ann))
	limited(a.do("POST", pushes, `{"push":{"payload":"x","notify_emails_to":"`+listed(2)+`"}}`, ann))
	a.do("POST", path, `{"notify_emails_to":"`+listed(1)+`"}`, ann).want(http.StatusCreated)
	limited(a.do("POST", path, `{"notify_emails_to":"`+listed(1)+`"}`, ann))
	limited(a.do("POST", pushes, `{"push":{"payload":"x","notify_emails_to":"`+listed(4)+`"}}`, bob)) // all together
	a.create(`"payload":"x","notify_emails_to":"`+listed(3)+`"`, bob)
	a.create(`"payload":"without mail"`, ann)
	if n := a.store.Waiting(); n != 8 || len(a.get(pushes+"/active", ann).list()) != 2 || a.audited(t, token, ann) != "creation creation_email_send creation_email_send" {
		t.Errorf("%d mails wait", n)
	}
	a.store.Clock.Advance(10*time.Hour - time.Millisecond)
	wait = "1"
	limited(a.do("POST", path, `{"notify_emails_to":"`+listed(1)+`"}`, ann))
	a.store.Clock.Advance(time.Millisecond)
	a.do("POST", path, `{"notify_emails_to":"`+listed(5)+`"}`, ann).want(http.StatusCreated)
}

func TestTheVersionSaysWhetherMailIsSent(t *testing.T) {
	t.Parallel()
	for want, a := range map[bool]*api{true: newAPI(t, sendsMail), false: newAPI(t)} {
		if got := a.get("/api/v2/version").body; strings.Contains(got, `"email_auto_dispatch":true`) != want {
			t.Error(got)
		}
		if doc := a.get("/api/v2/openapi.json").body; strings.Contains(doc, `"push[notify_emails_to]"`) != want {
			t.Errorf("mail is documented: %v", !want)
		}
	}
}
