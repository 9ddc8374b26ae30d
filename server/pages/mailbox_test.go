package pages_test

import (
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server/servertest"
	"pushbox/store"
)

// toBob makes a push for a named recipient, and returns its token with the header of its owner.
func toBob(t *testing.T, a *servertest.Server, members string) (token string, ann http.Header) {
	t.Helper()
	ann = a.AddTokenUser("ann@example.com")
	return a.Create(`"payload":"hunter2","recipient_email":"bob@example.net"`+members, ann), ann
}

// asked asks for a code for an address, and returns the fields of the page that came.
func asked(t *testing.T, a *servertest.Server, token, address string, headers ...http.Header) (fields map[string]string, got servertest.Answer) {
	t.Helper()
	got = a.Send("/p/"+token, map[string]string{"recipient_email": address}, headers...)
	fields = make(map[string]string)
	for _, name := range []string{"recipient_email", "challenge"} {
		fields[name], _ = got.Page().Field(name)
	}
	return fields, got
}

// lastCode is the code in the last mail.
func lastCode(a *servertest.Server) string {
	all := a.Letters()
	return all[len(all)-1].Code.Reveal()
}

func TestAPageOpensAPushForItsNamedRecipient(t *testing.T) {
	t.Parallel()
	for name, members := range map[string]string{"with the step": "", "at once": `,"retrieval_step":false`, "typed": `,"reveal":"type"`, "once": `,"expire_after_views":1`} {
		a := servertest.New(t, servertest.SendsMail)
		token, ann := toBob(t, a, members)
		before := a.Trace(token)
		for _, got := range []servertest.Answer{a.Get("/p/"+token, servertest.Visit), a.Get("/p/" + token + "/r")} {
			step := got.Want(http.StatusOK).Page().Has("This secret is for a named recipient").Lacks("hunter2", "bob@example.net", "Type the number")
			if _, has := step.Field("recipient_email"); !has {
				t.Errorf("%s: it does not ask for the address", name)
			}
		}
		fields, got := asked(t, a, token, "Bob@example.net")
		got.Want(http.StatusOK).Page().Has("If Bob@example.net is the recipient’s address, a code of six digits is on its way. It is valid for 15 minutes.").Lacks("hunter2")
		fields["code"] = "000000"
		if lastCode(a) == "000000" {
			fields["code"] = "000001"
		}
		a.Send("/p/"+token, fields).Want(http.StatusForbidden).Page().Has("Wrong code. No view was used. Tries left: 4.").Lacks("hunter2")
		fields["code"] = ""
		a.Send("/p/"+token, fields).Want(http.StatusForbidden).Page().Has("Tries left: 3.")
		if after := a.Trace(token); after != before {
			t.Errorf("%s: %v became %v", name, before, after)
		}
		code := lastCode(a)
		fields["code"] = " " + wide(code[:3]) + " " + code[3:]
		opened := a.Send("/p/"+token, fields).Want(http.StatusOK)
		opened.Says("hunter2")
		a.Send("/p/"+token, map[string]string{}, again(opened)).Want(http.StatusOK).Says("hunter2")
		if !strings.Contains(members, "views") {
			a.Send("/p/"+token, fields).Want(http.StatusForbidden).Page().Has("This code no longer works.", "Send code").Lacks("hunter2")
		}
		if log := a.Get("/api/v2/pushes/"+token+"/audit", ann).Want(http.StatusOK).Body; strings.Count(log, `"recipient_email":"bob@example.net"`) != 1 || strings.Count(log, `"kind":"view"`) != 1 {
			t.Errorf("%s: %s", name, log)
		}
	}
}

// challengeOf finds what differs between two pages by nature.
var challengeOf = regexp.MustCompile(`name="challenge" value="[\w-]+"`)

// The page says nothing about an address: not whether it is the recipient's, nor whether it has had
// all its codes.
func TestTheAnswerIsTheSameForEveryAddress(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail)
	token, _ := toBob(t, a, "")
	const another = "eve@example.net"
	answers := make(map[string]servertest.Answer)
	_, answers["fits"] = asked(t, a, token, "bob@example.net", servertest.Far(1))
	_, answers["does not"] = asked(t, a, token, another, servertest.Far(1))
	for i := range 4 {
		asked(t, a, token, "bob@example.net", servertest.Far(2+i))
	}
	mails := len(a.Letters())
	_, answers["fits, but has had its codes"] = asked(t, a, token, "bob@example.net", servertest.Far(7))
	for i := range 4 {
		asked(t, a, token, another, servertest.Far(2+i))
	}
	_, answers["does not, and would have had its codes"] = asked(t, a, token, another, servertest.Far(7))
	if n := len(a.Letters()); n != mails || n != 5 {
		t.Errorf("%d mails became %d", mails, n)
	}
	plain := func(r servertest.Answer) (body string, h http.Header) {
		h = maps.Clone(r.Header)
		for _, name := range []string{"Date", "X-Request-Id", "Request-Id"} {
			h.Del(name)
		}
		return challengeOf.ReplaceAllString(strings.ReplaceAll(r.Body, another, "bob@example.net"), ""), h
	}
	want, header := plain(answers["fits"].Want(http.StatusOK))
	for name, got := range answers {
		body, h := plain(got.Want(http.StatusOK))
		if body != want {
			t.Errorf("%s: it is\n%s\nnot\n%s", name, body, want)
		}
		h.Del("Content-Length")
		header.Del("Content-Length")
		for key := range header {
			if h.Get(key) != header.Get(key) {
				t.Errorf("%s: %s is %q, not %q", name, key, h.Get(key), header.Get(key))
			}
		}
		if a, b := len(challengeOf.FindString(got.Body)), len(challengeOf.FindString(answers["fits"].Body)); a != b {
			t.Errorf("%s: the challenge has %d characters, not %d", name, a, b)
		}
	}
	for name, got := range answers { // and none but the first opens
		challenge, _ := got.Page().Field("challenge")
		opened := a.Send("/p/"+token, map[string]string{"recipient_email": "x", "challenge": challenge, "code": a.Letters()[0].Code.Reveal()})
		if (opened.Status == http.StatusOK) != (name == "fits") {
			t.Errorf("%s: status %d", name, opened.Status)
		}
	}
}

func TestAWrongPassphraseKeepsTheCode(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail)
	token, _ := toBob(t, a, `,"passphrase":"open sesame 5781"`)
	if _, has := a.Get("/p/" + token + "/r").Page().Field("passphrase"); has {
		t.Error("the passphrase is asked for before the address")
	}
	fields, _ := asked(t, a, token, "bob@example.net")
	fields["code"], fields["passphrase"] = lastCode(a), "wrong"
	again := a.Send("/p/"+token, fields).Want(http.StatusForbidden).Page().Has("Wrong passphrase. No view was used.").Lacks("Wrong code")
	for _, name := range []string{"recipient_email", "challenge", "code"} {
		fields[name], _ = again.Field(name)
	}
	fields["passphrase"] = "open sesame 5781"
	a.Send("/p/"+token, fields).Want(http.StatusOK).Says("hunter2")
}

func TestARecipientAsksForAnotherCode(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail)
	token, _ := toBob(t, a, "")
	for _, address := range []string{"", "bob", "bob@example.net, eve@example.net"} {
		a.Send("/p/"+token, map[string]string{"recipient_email": address}).Want(http.StatusUnprocessableEntity).Page().Has("Enter an e-mail address")
	}
	fields, _ := asked(t, a, token, "bob@example.net")
	more := maps.Clone(fields)
	more["again"] = "on"
	soon := a.Send("/p/"+token, more).Want(http.StatusTooManyRequests)
	if kept, _ := soon.Page().Has("You cannot ask for another code yet.", "Try again after:").Field("challenge"); kept != fields["challenge"] || soon.Header.Get("Retry-After") != "60" {
		t.Errorf("the code before is lost: %q, %v", kept, soon.Header)
	}
	a.Store.Clock.Advance(time.Minute)
	next := a.Send("/p/"+token, more).Want(http.StatusOK).Page()
	if challenge, _ := next.Field("challenge"); challenge == fields["challenge"] || len(a.Letters()) != 2 {
		t.Error("no other code is mailed")
	}
	fields["code"] = a.Letters()[0].Code.Reveal() // both are good
	a.Send("/p/"+token, fields).Want(http.StatusOK).Says("hunter2")
}

func TestTheOwnerNamesARecipientOnTheForm(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail)
	ann := a.AddSessionUser("ann@example.com")
	if _, has := a.Get("/").Page().Field("push[recipient_email]"); has {
		t.Error("the form has the field without an account")
	}
	if _, has := a.Get("/", ann).Page().Field("push[recipient_email]"); !has {
		t.Error("the form has no field")
	}
	wrong := a.SendForm(servertest.Typed(map[string]string{"recipient_email": "bob@example.net, eve@example.net"}), ann).Want(http.StatusUnprocessableEntity)
	wrong.Says("pushbox push --recipient")
	if got := wrong.TypedInto("recipient"); got != "bob@example.net, eve@example.net" {
		t.Errorf("the field has %q", got)
	}
	made := a.SendForm(servertest.Typed(map[string]string{"recipient_email": "@example.net"}), ann).Want(http.StatusOK).Says("Only for @example.net")
	token := made.PushToken()
	a.Get("/p/"+token+"/audit", ann).Want(http.StatusOK).Says("Only for @example.net")
	a.Send("/p/"+token, map[string]string{}, ann).Want(http.StatusOK).Says("hunter2")
	fields, _ := asked(t, a, token, "carol@example.net")
	fields["code"] = lastCode(a)
	a.Send("/p/"+token, fields).Want(http.StatusOK)
	a.Get("/p/"+token+"/audit", ann).Want(http.StatusOK).Says("carol@example.net")
	if csv := a.Get("/p/"+token+"/audit.csv", ann).Want(http.StatusOK).Body; !strings.Contains(csv, ",carol@example.net\r\n") {
		t.Error(csv)
	}
	for _, got := range []servertest.Answer{a.Get("/p/" + token + "/r"), a.Get("/api/v2/pushes/" + token + "/preview")} {
		if strings.Contains(got.Body, "@example.net") {
			t.Errorf("strangers see the recipient: %s", got.Body)
		}
	}

	same := a.Get("/p/"+token+"/audit", ann).Page().Link("Send again with the same options")
	if strings.Contains(same, "example.net") || !strings.Contains(a.Get(same, ann).Want(http.StatusOK).Tag("recipient"), "required") || strings.Contains(a.Get("/", ann).Tag("recipient"), "required") {
		t.Errorf("the next one need not name a recipient: %s", same)
	}

	a = servertest.New(t, func(c *config.Config) {})
	if _, has := a.Get("/", a.AddSessionUser("ann@example.com")).Page().Field("push[recipient_email]"); has {
		t.Error("the form has the field where no mail is sent")
	}
}

func TestACodeIsInTheLanguageOfItsReader(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.SendsMail)
	token, _ := toBob(t, a, "")
	asked(t, a, token, "bob@example.net", http.Header{"Accept-Language": {"fr"}})
	if l := a.Letters()[0]; l.Language != "fr" || l.About != store.MailRecipient {
		t.Errorf("%+v", l)
	}
}
