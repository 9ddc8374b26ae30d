package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
)

// payloads has one payload for each kind without files.
var payloads = map[string]string{"text": "hunter2 ü\t€\n  two  ", "url": "https://example.com/a?b=c#d", "qr": "WIFI:S:a;;"}

func TestEachKindGoesThroughTheForm(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for who, caller := range map[string]http.Header{"anonymous": {}, "ann": a.AddSessionUser("ann@example.com")} {
		for kind, payload := range payloads {
			fields := servertest.Typed(map[string]string{"kind": kind, "payload": payload, "expire_after_days": "3", "expire_after_views": "2"})
			for how, got := range map[string]servertest.Answer{
				"urlencoded": a.SendForm(fields, caller),
				"multipart":  a.SendParts(servertest.FilePush{Before: fields}, caller),
			} {
				shown := a.Get(pushes + "/" + got.PushToken()).Want(http.StatusOK)
				shown.Has(map[string]string{"kind": kind, "payload": payload, "expire_after_days": "3", "expire_after_views": "2"})
				if t.Failed() {
					t.Fatal(who, kind, how)
				}
			}
		}
	}
}

func TestAPushBelongsToTheSignedInAccount(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	got := a.SendForm(servertest.Typed(map[string]string{"name": "n", "note": "a\r\nb"}), ann)
	who, err := a.Store.Resume(ctx, cookieOf(a, ann))
	env.OK(t, err)
	own, err := a.Store.Pushes(ctx, store.Actor{Account: who.Owner}, true, 1)
	if err != nil || len(own) != 1 || own[0].Token.Reveal() != got.PushToken() {
		t.Fatalf("%d pushes, %v", len(own), err)
	}
	if own[0].Name.Reveal() != "n" || own[0].Note.Reveal() != "a\nb" {
		t.Errorf("name %q, note %q", own[0].Name.Reveal(), own[0].Note.Reveal())
	}
}

func TestLinesEndAsTheyWereTyped(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for sent, want := range map[string]string{
		"a\r\nb\r\n": "a\nb\n",
		"\r\na":      "\na",
		"a\nb\rc":    "a\nb\rc",
		"a\r\r\nb":   "a\r\nb",
	} {
		fields := servertest.Typed(map[string]string{"payload": sent})
		for _, got := range []servertest.Answer{a.SendForm(fields), a.SendParts(servertest.FilePush{Before: fields})} {
			if text := a.Get(pushes + "/" + got.PushToken()).Text("payload"); text != want {
				t.Errorf("%q became %q", sent, text)
			}
		}
		exact := a.Create(`"payload":` + servertest.Quoted(sent))
		if text := a.Get(pushes + "/" + exact).Text("payload"); text != sent {
			t.Errorf("by the API %q became %q", sent, text)
		}
	}
}

func TestAnAddressLosesTheSpaceAroundIt(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	got := a.SendForm(servertest.Typed(map[string]string{"kind": "url", "payload": " https://example.com/ \r\n"}))
	a.Get(pushes + "/" + got.PushToken()).Has(map[string]string{"payload": "https://example.com/"})
}

func TestAnUntickedBoxMeansNo(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, ticked := range []string{"on", servertest.Unticked} {
		got := a.SendForm(servertest.Typed(map[string]string{"retrieval_step": ticked, "deletable_by_viewer": ticked}))
		want := map[string]string{"on": "true", servertest.Unticked: "false"}[ticked]
		a.Get(pushes + "/" + got.PushToken()).Has(map[string]string{"retrieval_step": want, "deletable_by_viewer": want})
	}
}

func TestATimeCountsInsteadOfTheDays(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for code, want := range map[string]string{"": "2026-01-08T00:00:00.000Z", "0": "2026-01-01T00:15:00.000Z", "5": "2026-01-01T12:00:00.000Z", "17": "2026-04-01T00:00:00.000Z"} {
		got := a.SendForm(servertest.Typed(map[string]string{"expire_after_duration": code}))
		a.Get(pushes + "/" + got.PushToken()).Has(map[string]string{"expires_at": want})
	}
}

func TestATimeIsTypedInAnyUnit(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	send := func(number, unit string) servertest.Answer {
		return a.SendForm(servertest.Typed(map[string]string{"expire_after_days": number, "expire_after_unit": unit}))
	}
	for typed, want := range map[[2]string]string{
		{"2", "days"}: "2026-01-03T00:00:00.000Z", {"36", "hours"}: "2026-01-02T12:00:00.000Z", {"1", "minutes"}: "2026-01-01T00:01:00.000Z",
		{"2160", "hours"}: "2026-04-01T00:00:00.000Z", {"129600", "minutes"}: "2026-04-01T00:00:00.000Z", {"3", "weeks"}: "2026-01-04T00:00:00.000Z",
	} {
		a.Get(pushes + "/" + send(typed[0], typed[1]).PushToken()).Has(map[string]string{"expires_at": want})
	}
	for _, typed := range [][2]string{{"0", "hours"}, {"2161", "hours"}, {"129601", "minutes"}, {"9999999999999999999", "minutes"}, {"x", "hours"}, {"", "minutes"}} {
		got := send(typed[0], typed[1])
		if told := got.Problems(); len(told) != 1 || got.TypedInto("days") != typed[0] || !strings.Contains(got.Tag("days"), `aria-invalid="true"`) {
			t.Errorf("%q: %q, %s", typed, told, got.Tag("days"))
		}
		if !strings.Contains(got.Body, `<option value="`+typed[1]+`" selected>`) {
			t.Errorf("%q: the unit did not come back", typed)
		}
	}
}

func TestAnAddressHasAFieldOfItsOwn(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	got := a.SendForm(servertest.Typed(map[string]string{"kind": "url", "payload": "", "url": " https://example.com/ "}))
	a.Get(pushes + "/" + got.PushToken()).Has(map[string]string{"payload": "https://example.com/"})
	text := a.SendForm(servertest.Typed(map[string]string{"payload": "kept", "url": "https://example.com/"}))
	a.Get(pushes + "/" + text.PushToken()).Has(map[string]string{"kind": "text", "payload": "kept"})
	bad := a.SendForm(servertest.Typed(map[string]string{"kind": "url", "payload": "kept", "url": "ftp://a"}))
	if told := bad.Problems(); len(told) != 1 || bad.TypedInto("url") != "ftp://a" || bad.TypedInto("payload") != "" {
		t.Errorf("%q, %s", told, bad.Body)
	}
}

// A browser without scripts sends a text that was typed before the switch to a login.
func TestATextBesideALoginIsNotDropped(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for note, want := range map[string]string{"": "typed\nbefore", "of\r\nthe login": "of\nthe login\ntyped\nbefore"} {
		typed := map[string]string{"kind": "login", "login_user": "ann", "login_note": note, "payload": "typed\r\nbefore"}
		again := a.SendForm(servertest.Typed(typed)).Want(http.StatusUnprocessableEntity)
		if told := again.Problems(); len(told) != 1 || !strings.Contains(told[0], "It is in the note now") || !strings.Contains(again.Tag("login-note"), `aria-invalid="true"`) {
			t.Errorf("it tells %q", told)
		}
		if again.TypedInto("payload") != "" || again.TypedInto("login-user") != "ann" || again.TypedInto("login-note") != want {
			t.Error(again.Body)
		}
		typed["payload"], typed["login_note"] = "", again.TypedInto("login-note")
		a.Get(pushes + "/" + a.SendForm(servertest.Typed(typed)).PushToken()).Has(map[string]string{"payload": "User name: ann\nNote: " + want})
	}
}

func TestALoginIsSentAsOneText(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	login := map[string]string{"kind": "login", "login_user": "ann", "login_password": " p&w ", "login_address": "", "login_seed": "JBSWY3DPEHPK3PXP", "login_note": "a\r\nb", "payload": ""}
	const text = "User name: ann\nPassword:  p&w \nOne-time code seed: JBSWY3DPEHPK3PXP\nNote: a\nb"
	got := a.SendForm(servertest.Typed(login))
	a.Get(pushes + "/" + got.PushToken()).Has(map[string]string{"kind": "text", "payload": text})
	for shown, want := range map[string]bool{text: true, text + "\r": false, "Note: " + text: false} {
		page := a.Send("/p/"+a.Create(`"payload":`+servertest.Quoted(shown)), nil).Want(http.StatusOK)
		if has := strings.Contains(page.Body, `<span class="mono" id="login-password" dir="auto"> p&amp;w </span>`); has != want || page.Tag("secret") == "" {
			t.Errorf("%q: fields %v", shown, has)
		}
	}
	login["expire_after_views"] = "0"
	again := a.SendForm(servertest.Typed(login))
	if again.Problems(); again.TypedInto("login-password") != " p&w " || again.TypedInto("login-note") != "a\nb" || !strings.Contains(again.Tag("kind-login"), " checked") || again.TypedInto("payload") != "" {
		t.Error(again.Body)
	}
	login["login_note"] = strings.Repeat("x", 1<<20)
	if long := a.SendForm(servertest.Typed(login)); !strings.Contains(strings.Join(long.Problems(), ""), "at most 1\u00a0MiB") || len(long.Body) > 64<<10 {
		t.Errorf("a page of %d bytes: %q", len(long.Body), long.Problems())
	}
	delete(login, "login_note")
	empty := a.SendForm(servertest.Typed(map[string]string{"kind": "login", "payload": " "}))
	if told := empty.Problems(); len(told) != 1 || !strings.Contains(empty.Tag("login-user"), `aria-invalid="true"`) {
		t.Errorf("%q", told)
	}
	without := servertest.Typed(login)
	without["kind"] = "text"
	without["expire_after_views"], without["payload"] = "1", "another text"
	a.Get(pushes + "/" + a.SendForm(without).PushToken()).Has(map[string]string{"payload": "another text"})
}

func TestTheFoldedOptionsOpenWhereSomethingIsToBeDone(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	for name, test := range map[string]struct {
		fields map[string]string
		open   bool
	}{
		"a problem beside them": {map[string]string{"payload": ""}, false},
		"a problem in them":     {map[string]string{"name": strings.Repeat("n", 1025)}, true},
	} {
		got := a.SendForm(servertest.Typed(test.fields), ann)
		got.Problems()
		if strings.Contains(got.Tag("more"), " open") != test.open {
			t.Errorf("%s: %s", name, got.Tag("more"))
		}
	}
}

func TestBothSidesOfEachBound(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	x := strings.Repeat
	for _, test := range []struct {
		field string
		kind  string
		good  []string
		bad   map[string]string // and the problem that it is
	}{
		{"expire_after_days", "text", []string{"1", "90"}, map[string]string{"0": "from 1 to 90", "91": "from 1 to 90", "": "from 1 to 90", "1.5": "from 1 to 90", "-1": "from 1 to 90"}},
		{"expire_after_views", "text", []string{"1", "100"}, map[string]string{"0": "from 1 to 100", "101": "from 1 to 100", "x": "from 1 to 100", x("9", 30): "from 1 to 100"}},
		{"expire_after_duration", "text", []string{"0", "17"}, map[string]string{"18": "between 1 and 90 days", "-1": "between 1 and 90 days", "x": "between 1 and 90 days"}},
		{"passphrase", "text", []string{"p", x("p", 1024), " "}, map[string]string{x("p", 1025): "at most 1024 bytes"}},
		{"name", "text", []string{"", x("n", 255)}, map[string]string{x("n", 256): "at most 255 bytes"}},
		{"note", "text", []string{"", x("n", 10<<10), x("\r\n", 10<<10)}, map[string]string{x("n", 10<<10+1): "at most 10\u00a0KiB"}},
		{"payload", "text", []string{"x", x("x", 1<<20)}, map[string]string{"": "paste your secret", " \r\n": "paste your secret", x("x", 1<<20+1): "at most 1\u00a0MiB"}},
		{"payload", "qr", []string{"x", x("ü", 1024)}, map[string]string{"": "paste your secret", x("ü", 1025): "at most 1024 characters"}},
		{"payload", "url", []string{"http://a"}, map[string]string{"": "paste your secret", "ftp://a": "begins with http", "https://u:p@a": "begins with http", "a\r\nb": "begins with http", "https://a/" + x("x", 1<<20): "at most 1\u00a0MiB"}},
		{"kind", "text", []string{"text", ""}, map[string]string{"secret": "cannot be sent here", "File": "cannot be sent here"}},
	} {
		fields := map[string]string{"kind": test.kind, "name": "", "note": ""}
		for _, good := range test.good {
			fields[test.field] = good
			a.SendForm(servertest.Typed(fields), ann).Want(http.StatusOK)
		}
		for bad, want := range test.bad {
			fields[test.field] = bad
			got := a.SendForm(servertest.Typed(fields), ann)
			if told := got.Problems(); len(told) != 1 || !strings.Contains(told[0], want) {
				t.Errorf("%s %.30q: %q, not %q", test.field, bad, told, want)
			}
			if strings.Contains(got.Body, ">create_") || test.field != "kind" && !strings.Contains(got.Body, `aria-invalid="true"`) {
				t.Errorf("%s %.30q: %s", test.field, bad, got.Body)
			}
		}
	}
}

func TestTheFormIsShownAgainWithAllButThePassphrase(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	const pass = "open sesame"
	got := a.SendForm(servertest.Typed(map[string]string{
		"kind": "qr", "payload": "\r\nline\r\n", "passphrase": pass, "name": "n", "note": "\r\no", "expire_after_days": "0",
		"expire_after_views": "9", "retrieval_step": servertest.Unticked,
	}), ann)
	got.Problems()
	for id, want := range map[string]string{"payload": "\nline\n", "passphrase": "", "name": "n", "note": "\no", "days": "0", "views": "9"} {
		if text := got.TypedInto(id); text != want {
			t.Errorf("%s has %q", id, text)
		}
	}
	for id, want := range map[string]bool{"kind-qr": true, "kind-text": false, "step": false, "deletable": true} {
		if strings.Contains(got.Tag(id), " checked") != want {
			t.Errorf("%s: %s", id, got.Tag(id))
		}
	}
	if strings.Contains(got.Body, pass) || strings.Contains(a.Log.String(), pass) {
		t.Error("the passphrase came back")
	}
	again := a.SendForm(servertest.Typed(map[string]string{"payload": "", "expire_after_duration": "4"}), ann)
	if !strings.Contains(again.Body, `<option value="4" data-days="1" selected>`) || again.TypedInto("days") != "7" {
		t.Errorf("the time did not come back: %s", again.Body)
	}
}

func TestHostileTextsAreShownAgainInert(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	for _, evil := range []string{
		`</textarea><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' autofocus onfocus=alert(1) x='`,
		`{{.}}`, `<!--`, `&lt;b&gt;&quot;`, "\u202e\u2066evil", `javascript:alert(1)`, `]]><svg/onload=alert(1)>`,
	} {
		fields := map[string]string{}
		for name := range servertest.Typed(map[string]string{"name": "", "note": ""}) {
			fields[name] = evil
		}
		a.SendForm(fields, ann).Problems()
		fields["expire_after_duration"] = "" // or the days are as at first
		got := a.SendForm(fields, ann)
		got.Problems()
		for _, id := range []string{"payload", "name", "note", "days", "views"} {
			if text := got.TypedInto(id); text != evil {
				t.Errorf("%s has %q, not %q", id, text, evil)
			}
		}
		for _, live := range []string{"<script>alert", "<img", "<svg/onload", `onfocus=alert(1) x='`, "<!--"} {
			if strings.Contains(strings.ReplaceAll(got.Body, "&#39;", ""), live) {
				t.Errorf("%q is live", live)
			}
		}
	}
}

func TestADisabledKindIsNotOffered(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.EnableURLPushes, c.EnableQRPushes, c.EnableFilePushes = false, false, false })
	ann := a.AddSessionUser("ann@example.com")
	form := a.Get("/", ann).Want(http.StatusOK)
	if form.Tag("kind-text") == "" || form.Tag("kind-url")+form.Tag("kind-qr")+form.Tag("kind-file")+form.Tag("files") != "" {
		t.Error(form.Body)
	}
	for kind, payload := range map[string]string{"url": "https://a", "qr": "x", "file": "x"} {
		a.SendForm(servertest.Typed(map[string]string{"kind": kind, "payload": payload}), ann).Problems()
	}
	a.SendParts(servertest.FilePush{Before: servertest.Typed(map[string]string{"kind": "file"}), Files: []servertest.File{{Name: "f", Media: "a/b", Content: nil}}}, ann).Problems()
	a.WantNothing(a.AddTokenUser("bob@example.com"))
}

func TestTheFormHasTheTermsOfEachKind(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) {
		c.PW.ExpireAfterDaysDefault, c.PW.ExpireAfterDaysMin, c.PW.ExpireAfterDaysMax = 4, 2, 14
		c.PW.RetrievalStepDefault = false
		c.QR.EnableRetrievalStep, c.QR.EnableDeletablePushes = false, false
		c.URL.ExpireAfterViewsDefault = 9
	})
	form := a.Get("/", a.AddSessionUser("ann@example.com")).Want(http.StatusOK)
	for id, want := range map[string]string{
		"kind-text": `data-days="4 2 14" data-views="5 1 100" data-step="off" data-deletable="on"`,
		"kind-url":  `data-days="7 1 90" data-views="9 1 100" data-step="on" data-deletable=""`,
		"kind-qr":   `data-step="" data-deletable=""`,
		"days":      `min="1" value="4"`,
		"views":     `min="1" max="100" value="5"`,
		"step":      `name="push[retrieval_step]">`,
		"deletable": `name="push[deletable_by_viewer]" checked>`,
	} {
		if !strings.Contains(form.Tag(id), want) {
			t.Errorf("%s: %s", id, form.Tag(id))
		}
	}
	for _, want := range []string{
		`<option value="9" data-days="4" selected>4 days</option>`,
		`<div class="for unencrypted text login file url"><label class="check switch">`, `<div class="for text login file"><label class="check switch">`,
	} {
		if !strings.Contains(form.Body, want) {
			t.Errorf("no %s", want)
		}
	}
}

func TestTheFormChecksWhoMayCreate(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.AllowAnonymous = false })
	for _, got := range []servertest.Answer{a.Get("/"), a.SendForm(servertest.Typed(nil)), a.Get("/", a.AddTokenUser("bob@example.com"))} {
		if got.Want(http.StatusSeeOther).Header.Get("Location") != "/users/sign_in" {
			t.Errorf("%v", got.Header)
		}
	}
	ann := a.AddSessionUser("ann@example.com")
	a.Get("/", ann).Want(http.StatusOK)
	a.SendForm(servertest.Typed(nil), ann).Want(http.StatusOK)
}

func TestAFormFromAnEndedSessionCreatesNoAnonymousPush(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	got := a.SendForm(servertest.Typed(map[string]string{"name": "", "note": "", "payload": "kept"}))
	if told := got.Problems(); !strings.Contains(told[0], "no longer signed in") || got.TypedInto("payload") != "kept" || got.Tag("name") != "" {
		t.Errorf("%q, %s", told, got.Body)
	}
	a.SendForm(servertest.Typed(map[string]string{"payload": "kept"})).Want(http.StatusOK)
}

// A person may sign in with another account in another tab of the browser.
func TestAFormOfAnotherAccountIsShownAgainFirst(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, bob := a.AddSessionUser("ann@example.com"), a.AddSessionUser("bob@example.com")
	guest := http.Header{}
	for by, now := range map[string]http.Header{"ann@example.com": bob, "": ann, "bob@example.com": guest} {
		got := a.SendForm(servertest.Typed(map[string]string{"by": by, "payload": "kept"}), now).Want(http.StatusUnprocessableEntity)
		if told := got.Problems(); !strings.Contains(told[0], "has changed") || got.TypedInto("payload") != "kept" {
			t.Errorf("by %q: %q, %s", by, told, got.Body)
		}
		again := got.Inputs("push[by]")
		env.Equal(t, "accounts in the form", len(again), 1)
		a.SendForm(servertest.Typed(map[string]string{"by": again[0]}), now).Want(http.StatusOK)
	}
}

func TestTheFormRefusesOtherBodies(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for name, test := range map[string]struct {
		header http.Header
		body   string
		want   int
	}{
		"JSON":         {http.Header{"Content-Type": {"application/json"}}, `{"push":{"payload":"x"}}`, 415},
		"text":         {http.Header{"Content-Type": {"text/plain"}}, "push[payload]=x", 415},
		"nothing":      {servertest.Urlencoded, "", 400},
		"others":       {servertest.Urlencoded, "payload=x", 400},
		"twice":        {servertest.Urlencoded, "push[payload]=x&push[payload]=y", 400},
		"bad percent":  {servertest.Urlencoded, "push[payload]=%x", 400},
		"too large":    {servertest.Urlencoded, "push[payload]=" + strings.Repeat("x", 9<<20), 413},
		"a cut body":   {servertest.Multi, servertest.TextPart("push[payload]", "x"), 400},
		"a list":       {servertest.Urlencoded, "push[payload][]=x&push[kind]=text", 422},
		"with a token": {http.Header{"Content-Type": {servertest.Urlencoded.Get("Content-Type")}, "Authorization": {"Bearer bad"}}, "push[payload]=x&push[expire_after_days]=1&push[expire_after_views]=1", 303},
	} {
		got := a.Do("POST", "/", test.body, test.header)
		if got.Status != test.want || test.want != 303 && !strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
}

func TestThePagesHaveAMessageForEachKey(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	for _, got := range []servertest.Answer{a.Get("/"), a.Get("/", ann), a.SendForm(servertest.Typed(map[string]string{"passphrase": "p"}), ann), a.SendForm(servertest.Typed(nil))} {
		for _, word := range strings.FieldsFunc(got.Body, func(r rune) bool { return strings.ContainsRune(" \n<>\"", r) }) {
			if slices.ContainsFunc([]string{"create_", "made_", "frame_"}, func(p string) bool { return strings.HasPrefix(word, p) }) {
				t.Errorf("there is no message %s", word)
			}
		}
		if strings.ContainsAny(strings.NewReplacer("{name}", "", "{done}", "", "{all}", "", "{bits}", "", "{max}", "", "{when}", "", "{time}", "", "{count}", "", `{&#34;`, "", `&#34;}`, "").Replace(got.Body), "{}") {
			t.Error("a placeholder has no value")
		}
	}
}
