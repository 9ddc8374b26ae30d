package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server/servertest"
)

func TestTheStepPageDescribesThePushAndLeavesNoTrace(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for members, kind := range map[string]string{
		`"payload":"x"`: "a confidential text",
		`"payload":"https://example.com","kind":"url"`:  "a confidential web address",
		`"payload":"x","kind":"qr"`:                     "a QR code",
		`"payload":"x","deletable_by_viewer":true`:      "a confidential text",
		`"payload":"x","passphrase":"open sesame 5781"`: "a confidential text",
	} {
		token := a.Create(members)
		before := a.Trace(token)
		for _, path := range []string{"/p/" + token + "/r", "/p/" + token, "/p/" + strings.ToUpper(token) + "/r"} {
			got := a.Get(path).Want(http.StatusOK).Page()
			got.Has("A secret is waiting", kind, "5 views left.", "Expires on 2026-01-08 00:00 UTC (7 days left).", "It has not been opened yet.")
			_, asks := got.Field("passphrase")
			if asks != strings.Contains(members, "passphrase") {
				t.Errorf("%s: it asks for a passphrase: %v", members, asks)
			}
			if want := []string{"post /p/" + token}; !slices.Equal(got.Forms(), want) {
				t.Errorf("its forms are %v", got.Forms())
			}
			if strings.Contains(got.Body, "sesame") || got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("Set-Cookie") != "" {
				t.Errorf("%v", got.Header)
			}
			head := a.Do(http.MethodHead, path, "").Want(http.StatusOK)
			if head.Body != "" || head.Header.Get("Content-Length") != got.Header.Get("Content-Length") {
				t.Errorf("HEAD: %v", head.Header)
			}
		}
		if after := a.Trace(token); after != before {
			t.Errorf("%s: %v became %v", members, before, after)
		}
	}
}

func TestTheStepPageShowsEarlierViews(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"x","expire_after_views":9`)
	for n := range 7 {
		got := a.Get("/p/" + token + "/r").Want(http.StatusOK).Page()
		switch n {
		case 0:
			got.Has("It has not been opened yet.")
		case 1:
			got.Has("It has been opened once before.", "Most recently: 2026-01-01 00:00:00 UTC", "someone else has seen it").Lacks("not been opened")
		case 6:
			got.Has("It has been opened 6 times before.", "If that was not you, someone else has seen it. Let the sender know. Most recently: 2026-01-01 00:05:00 UTC 2026-01-01 00:04:00 UTC 2026-01-01 00:03:00 UTC 2026-01-01 00:02:00 UTC 2026-01-01 00:01:00 UTC")
		}
		a.Send("/p/"+token, nil).Want(http.StatusOK)
		a.Store.Clock.Advance(time.Minute)
	}
}

func TestAWrongPassphraseOnThePage(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Limits.PassphrasesPerClient = 3 })
	path := "/p/" + a.Create(`"payload":"inside it","passphrase":"right päss"`)
	try := func(passphrase string, status int) servertest.Page {
		t.Helper()
		got := a.Send(path, map[string]string{"passphrase": passphrase}).Want(status).Page()
		if passphrase != "" && strings.TrimSpace(passphrase) != "" && strings.Contains(got.Body, passphrase) {
			t.Error("the page has the passphrase")
		}
		return got.Lacks("inside it")
	}
	try("", http.StatusForbidden).Has("The passphrase is missing.", "3 tries left")
	try(" ", http.StatusForbidden).Has("The passphrase is missing.", "3 tries left")
	try("wrong-1", http.StatusForbidden).Has("Wrong passphrase. No view was used.", "2 tries left")
	try("wrong-2", http.StatusForbidden).Has("1 try left,")
	last := try("wrong-3", http.StatusForbidden).Has("Wrong passphrase. No view was used.", "Try again after: 2026-01-01 00:01:00 UTC")
	if value, ok := last.Field("passphrase"); !ok || value != "" || servertest.Attr(last.ID("passphrase"), "aria-invalid") != "true" {
		t.Errorf("the field has %q", value)
	}
	locked := try("right päss", http.StatusTooManyRequests).Has("Too many wrong passphrases.", "Try again after: 2026-01-01 00:01:00 UTC").Lacks("tries left", "try left")
	if locked.Header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After %q", locked.Header.Get("Retry-After"))
	}
	a.Store.Clock.Advance(time.Minute)
	a.Send(path, map[string]string{"passphrase": strings.Repeat("x", 1025)}).Want(http.StatusBadRequest)
	a.Send(path, map[string]string{"passphrase": "\xff"}).Want(http.StatusBadRequest)
	a.Send(path+"?passphrase=right+p%C3%A4ss", nil).Want(http.StatusForbidden)
	got := a.Send(path, map[string]string{"passphrase": "right päss"}).Want(http.StatusOK).Page().Has("inside it", "4 views left")
	if strings.Contains(got.Body, "right p") {
		t.Error("the page has the passphrase")
	}
}

func TestTheStepPageTellsTheTimeLeftInItsUnit(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for code, left := range map[string]string{"0": "15 minutes", "3": "60 minutes", "4": "6 hours", "6": "24 hours", "8": "3 days"} {
		token := a.Create(`"payload":"x","expire_after_duration":` + code)
		a.Get("/p/" + token + "/r").Want(http.StatusOK).Page().Has("(" + left + " left)")
	}
}

func TestTheStepPageAsksForThePassphraseFirst(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	path := "/p/" + a.Create(`"payload":"x","passphrase":"open sesame"`)
	words := a.Send(path, map[string]string{"passphrase": "wrong"}).Want(http.StatusForbidden).Page().Words()
	at := 0
	for _, part := range []string{"A secret is waiting", "confidential text", "Ask the sender for the passphrase", "Wrong passphrase.", "4 tries left", "Open", "views left", "It has not been opened yet."} {
		next := strings.Index(words[at:], part)
		if next < 0 {
			t.Fatalf("%q is not where it belongs: %s", part, words)
		}
		at += next
	}
}

func TestTheStepPageDescribesItselfToPreviewsWithoutTheSecret(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	got := a.Get("/p/"+a.Create(`"payload":"inside it","name":"the bank"`)).Want(http.StatusOK).Page().Lacks("inside it", "the bank")
	for _, name := range []string{"og:title", "og:description"} {
		if len(got.Find(func(n servertest.Node) bool {
			return servertest.Attr(n, "property") == name && servertest.Attr(n, "content") != ""
		})) != 1 {
			t.Errorf("it has no %s", name)
		}
	}
}

func TestRecipientPagesHaveNothingOfTheApplication(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, func(c *config.Config) {
		c.EnableSignups, c.Brand.Footer = true, "Our own footer"
		c.Brand.Imprint, c.Brand.Privacy, c.Brand.Abuse = "https://example.com/imprint", "https://example.com/privacy", "mailto:abuse@example.com"
	})
	token := a.Create(`"payload":"x","expire_after_views":1`)
	for name, got := range map[string]servertest.Page{
		"the step": a.Get("/p/" + token + "/r").Page(),
		"opened":   a.Send("/p/"+token, nil).Page(),
		"gone":     a.Get("/p/" + token + "/r").Want(http.StatusNotFound).Page(),
	} {
		for text, to := range map[string]string{"Legal notice": "https://example.com/imprint", "Privacy": "https://example.com/privacy", "Report abuse": "mailto:abuse@example.com"} {
			if got.Link(text) != to {
				t.Errorf("%s: %s leads to %q", name, text, got.Link(text))
			}
		}
		if !strings.Contains(got.Body, "Our own footer") || len(got.Elements("nav")) != 0 || strings.Contains(got.Body, "Sign in") {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	if got := a.Get("/nowhere").Want(http.StatusNotFound).Page(); len(got.Elements("nav")) != 1 {
		t.Errorf("an unknown address has no navigation")
	}
}

func TestATypedNumberOpensAPush(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, members := range []string{
		`"payload":"x","reveal":"type"`, `"payload":"x","reveal":"type","retrieval_step":false`,
		`"payload":"x","reveal":"type","passphrase":"open sesame 5781"`,
	} {
		token := a.Create(members)
		path := "/p/" + token
		step := a.Get(path, http.Header{"Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}).Want(http.StatusOK).Page()
		number := numberOn(t, step.Body)
		before := a.Trace(token)
		fields := map[string]string{}
		if strings.Contains(members, "passphrase") {
			fields["passphrase"] = "open sesame 5781"
		}
		for _, typed := range []string{"", " ", "12345", "text", "0" + number, "passphrase"} {
			fields["number"] = typed
			again := a.Send(path, fields).Want(http.StatusForbidden).Page()
			again.Has("A secret is waiting", "That is not the number. Type "+number+". No view was used.").Lacks("sesame")
		}
		if after := a.Trace(token); after != before {
			t.Errorf("%s: %v became %v", members, before, after)
		}
		fields["number"] = " " + wide(number[:1]) + number[1:]
		a.Send(path, fields).Want(http.StatusOK).Page().Has("4 views left")
	}
}

// numberOn returns the number that a step page asks for.
func numberOn(t *testing.T, page string) string {
	t.Helper()
	_, rest, _ := strings.Cut(page, "Type the number ")
	number, _, ok := strings.Cut(rest, " to open")
	if !ok || len(number) != 3 {
		t.Fatalf("the page asks for no number: %q", number)
	}
	return number
}

// wide returns digits as keyboards for Chinese and Japanese type them.
func wide(digits string) string {
	return strings.Map(func(c rune) rune { return c - '0' + '０' }, digits)
}

func TestAPushThatIsOpenedWithAButtonAsksForNoNumber(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, members := range []string{`"payload":"x"`, `"payload":"x","reveal":"press"`, `"payload":"x","reveal":null`} {
		token := a.Create(members)
		if _, asks := a.Get("/p/" + token + "/r").Page().Field("number"); asks {
			t.Errorf("%s: it asks for a number", members)
		}
		a.Send("/p/"+token, map[string]string{}).Want(http.StatusOK)
	}
	a.Do("POST", "/api/v2/pushes", `{"push":{"payload":"x","reveal":"click"}}`).Want(http.StatusUnprocessableEntity).
		Has(map[string]string{"reveal": "[must be press or type]"})
}

func TestAPolicyCanAskForTypedNumbers(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.Policy.Reveal = "type" })
	for _, members := range []string{`"payload":"x"`, `"payload":"x","reveal":"press"`} {
		numberOn(t, a.Get("/p/"+a.Create(members)+"/r").Body)
	}
	form := a.Get("/").Page()
	if box := form.ID("typed"); box == nil || !strings.Contains(form.Body, `value="type" checked disabled`) {
		t.Error("the form does not say that the policy asks for it")
	}
}

func TestAnOwnerTypesNoNumber(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	a.SendForm(servertest.Typed(map[string]string{"reveal": "type"}), ann).Want(http.StatusOK).Says("recipients type a number")
	link := a.Get("/p", ann).Page().Body
	_, rest, _ := strings.Cut(link, "/p/")
	token := rest[:34]
	if _, asks := a.Get("/p/"+token+"/r", ann).Page().Field("number"); asks {
		t.Error("the owner has to type a number")
	}
	a.Send("/p/"+token, map[string]string{}, ann).Want(http.StatusOK)
	a.Send("/p/"+token, map[string]string{}).Want(http.StatusForbidden)
}

// Until a push opens, its pages say when, and neither a visit nor the button does more.
func TestAPushThatOpensLaterSaysWhen(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	visit := http.Header{"Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}
	for _, members := range []string{
		`"payload":"hunter2","retrieval_step":false`, `"payload":"hunter2","passphrase":"open sesame 5781","reveal":"type"`,
	} {
		token := a.Create(members + `,"open_from":"` + a.Store.Clock.Now().Add(time.Hour).Format(time.RFC3339) + `"`)
		before := a.Trace(token)
		for _, got := range []servertest.Answer{
			a.Get("/p/"+token, visit).Want(http.StatusOK), a.Get("/p/" + token + "/r").Want(http.StatusOK),
			a.Send("/p/"+token, map[string]string{"passphrase": "wrong"}).Want(http.StatusForbidden),
		} {
			step := got.Page().Has("Opens on "+a.Store.Clock.Now().Add(time.Hour).Format("2006-01-02 15:04")+" UTC", "no view is used").Lacks("hunter2")
			if len(step.Elements("form")) > 1 || strings.Contains(step.Body, `name="passphrase"`) {
				t.Error("it can be opened")
			}
		}
		if after := a.Trace(token); after != before {
			t.Errorf("%s: %v became %v", members, before, after)
		}
		a.Store.Clock.Advance(time.Hour)
		a.Get("/p/" + token + "/r").Want(http.StatusOK).Page().Lacks("Opens on")
	}
}

// The pages of a push for its owner say so, too.
func TestTheOwnersPageSaysWhenAPushOpens(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	for members, says := range map[string]bool{"": false, `,"open_from":"2026-01-02T08:00:00Z"`: true} {
		token := a.Do("POST", "/api/v2/pushes", `{"push":{"payload":"x"`+members+`}}`, a.AddToken("ann@example.com")).Want(http.StatusCreated).Text("url_token")
		got := a.Get("/p/"+token+"/audit", ann).Want(http.StatusOK)
		if strings.Contains(got.Page().Words(), "Opens on 2026-01-02 08:00 UTC") != says {
			t.Errorf("%q: %s", members, got.Page().Words())
		}
	}
}
