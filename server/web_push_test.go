package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/store"
)

// visit are the headers of a person's own navigation.
var visit = http.Header{"Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}, "Sec-Fetch-Site": {"none"}, "Sec-Fetch-User": {"?1"}}

// trace is what a request can leave behind on a push.
type trace struct {
	views int
	seq   uint32
	state store.State
}

func (a *api) trace(token string) trace {
	a.t.Helper()
	t, err := store.ParseToken(token)
	if err != nil {
		a.t.Fatal(err)
	}
	p, err := a.store.Preview(ctx, t)
	if err != nil {
		a.t.Fatal(err)
	}
	return trace{p.Views, p.Seq, p.State}
}

func TestTheStepPageSaysWhatWaitsAndLeavesNoTrace(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for members, kind := range map[string]string{
		`"payload":"x"`: "a secret text",
		`"payload":"https://example.com","kind":"url"`:  "a secret web address",
		`"payload":"x","kind":"qr"`:                     "a QR code",
		`"payload":"x","deletable_by_viewer":true`:      "a secret text",
		`"payload":"x","passphrase":"open sesame 5781"`: "a secret text",
	} {
		token := a.create(members)
		before := a.trace(token)
		for _, path := range []string{"/p/" + token + "/r", "/p/" + token, "/p/" + strings.ToUpper(token) + "/r"} {
			got := a.get(path).want(http.StatusOK).page()
			got.has("A secret is waiting", kind, "Views left 5", "Time left 7 days", "Available until 2026-01-08 00:00 UTC", "Nobody has opened it before.")
			_, asks := got.field("passphrase")
			if asks != strings.Contains(members, "passphrase") {
				t.Errorf("%s: it asks for a passphrase: %v", members, asks)
			}
			if want := []string{"post /p/" + token}; !slices.Equal(got.forms(), want) {
				t.Errorf("its forms are %v", got.forms())
			}
			if strings.Contains(got.body, "sesame") || got.header.Get("Cache-Control") != "no-store" || got.header.Get("Set-Cookie") != "" {
				t.Errorf("%v", got.header)
			}
			head := a.do(http.MethodHead, path, "").want(http.StatusOK)
			if head.body != "" || head.header.Get("Content-Length") != got.header.Get("Content-Length") {
				t.Errorf("HEAD: %v", head.header)
			}
		}
		if after := a.trace(token); after != before {
			t.Errorf("%s: %v became %v", members, before, after)
		}
	}
}

func TestTheStepPageTellsOfOpeningsBefore(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x","expire_after_views":9`)
	for n := range 7 {
		got := a.get("/p/" + token + "/r").want(http.StatusOK).page()
		switch n {
		case 0:
			got.has("Nobody has opened it before.")
		case 1:
			got.has("It was opened 1 time before.", "Most recently: 2026-01-01 00:00 UTC", "somebody else has seen it").lacks("Nobody")
		case 6:
			got.has("It was opened 6 times before.", "Most recently: 2026-01-01 00:05 UTC 2026-01-01 00:04 UTC 2026-01-01 00:03 UTC 2026-01-01 00:02 UTC 2026-01-01 00:01 UTC If that")
		}
		a.send("/p/"+token, nil).want(http.StatusOK)
		a.store.Clock.Advance(time.Minute)
	}
}

func TestThePageOfTheLastView(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x","expire_after_views":2`)
	a.send("/p/"+token, nil).want(http.StatusOK).page().has("Views left 1", "Delete it now").lacks("last view", "before this")
	a.get("/p/" + token + "/r").want(http.StatusOK).page().has("It can be opened only once more.")
	a.send("/p/"+token, nil).want(http.StatusOK).page().has("This was the last view", "It was opened 1 time before this.").lacks("Views left", "Delete it now")
	a.send("/p/"+token, nil).want(http.StatusNotFound)
}

func TestALinkWithoutAStepOpensForAPersonOnly(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		members string
		opens   bool
	}{
		{`"payload":"inside it","retrieval_step":false`, true},
		{`"payload":"inside it","retrieval_step":true`, false},
		{`"payload":"inside it","retrieval_step":false,"passphrase":"p"`, false},
	} {
		a := newAPI(t)
		token := a.create(test.members)
		before := a.trace(token)
		got := a.get("/p/"+token, visit).want(http.StatusOK).page()
		opened := strings.Contains(got.body, "inside it")
		if opened != test.opens || a.trace(token).views-before.views != map[bool]int{true: 1}[opened] {
			t.Errorf("%s: opened %v, %v became %v", test.members, opened, before, a.trace(token))
		}
		const cookie = "opened=1; Path=/p/"
		if want := cookie + token + "; HttpOnly; SameSite=Lax"; opened && got.header.Get("Set-Cookie") != want {
			t.Errorf("its cookie is %q", got.header.Get("Set-Cookie"))
		}
		before = a.trace(token)
		back := http.Header{"Cookie": {"opened=1"}}
		a.get("/p/"+token, visit, back).want(http.StatusOK).page().lacks("inside it")
		a.get("/p/"+token+"/r", visit).want(http.StatusOK).page().lacks("inside it")
		a.get("/p/"+token+"?lang=en", visit).want(http.StatusOK).page().lacks("inside it")
		a.do(http.MethodHead, "/p/"+token, "", visit).want(http.StatusOK)
		if after := a.trace(token); after != before {
			t.Errorf("%s: %v became %v", test.members, before, after)
		}
	}
}

func TestTheCookieOfAnOpeningIsForTheAddressThatTheBrowserHas(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := strings.ToUpper(a.create(`"payload":"x","retrieval_step":false`))
	got := a.get("/p/"+token, visit, http.Header{"X-Forwarded-Proto": {"https"}}).want(http.StatusOK)
	if want := "opened=1; Path=/p/" + token + "; HttpOnly; Secure; SameSite=Lax"; got.header.Get("Set-Cookie") != want {
		t.Errorf("its cookie is %q", got.header.Get("Set-Cookie"))
	}
}

func TestWhatIsNotThereIsOnePage(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	purged := a.create(`"payload":"x","expire_after_days":1`)
	a.store.Clock.Advance(3 * day)
	a.store.SweepAll()
	late := a.create(`"payload":"x","expire_after_days":1,"passphrase":"p"`)
	deleted := a.create(`"payload":"x"`)
	spent := a.create(`"payload":"x","expire_after_views":1`)
	a.send("/p/"+spent, nil).want(http.StatusOK)
	a.do("DELETE", pushes+"/"+deleted, "").want(http.StatusOK)
	a.store.Clock.Advance(day) // and no sweep
	tokens := []string{spent, deleted, late, purged, store.NewToken(a.store.Clock.Now()).Reveal(), "x", strings.Repeat("0", 34), "%00"}
	for _, language := range []string{"en", "xx"} {
		same := make(map[string]bool)
		for _, token := range tokens {
			a.store.Clock.Advance(time.Minute) // past the limit of guessing
			header := http.Header{"Accept-Language": {language}}
			for _, got := range []answer{a.get("/p/"+token, header), a.get("/p/"+token, visit, header), a.get("/p/"+token+"/r", header), a.send("/p/"+token, nil, header)} {
				got.want(http.StatusNotFound)
				got.header.Del("Date")
				same[got.body+got.header.Get("Set-Cookie")] = true
			}
		}
		if len(same) != 1 {
			t.Errorf("%d different pages", len(same))
		}
	}
}

func TestOnlyTheButtonOfWhatExpiredLeavesAnEntry(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	for _, members := range []string{`"payload":"x","expire_after_views":1`, `"payload":"x","expire_after_views":1,"retrieval_step":false`, `"payload":"x","expire_after_days":1,"retrieval_step":false`} {
		token := a.create(members)
		a.send("/p/"+token, nil).want(http.StatusOK)
		a.store.Clock.Advance(day) // and no sweep
		before := a.trace(token)
		a.get("/p/"+token, visit).want(http.StatusNotFound)
		a.get("/p/" + token).want(http.StatusNotFound)
		a.get("/p/" + token + "/r").want(http.StatusNotFound)
		a.do(http.MethodHead, "/p/"+token+"/r", "").want(http.StatusNotFound)
		if after := a.trace(token); after.views != before.views || after.seq != before.seq || after.state == store.Live {
			t.Errorf("%s: %v became %v", members, before, after)
		}
		a.send("/p/"+token, nil).want(http.StatusNotFound)
		if after := a.trace(token); after.seq != before.seq+1 || after.views != before.views {
			t.Errorf("%s: %v became %v", members, before, after)
		}
	}
}

func TestAskingForWhatIsNotThereIsLimited(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x","expire_after_views":1`)
	a.send("/p/"+token, nil).want(http.StatusOK)
	for range 20 {
		a.get("/p/" + token + "/r").want(http.StatusNotFound)
	}
	a.get("/p/" + a.create(`"payload":"x"`) + "/r").want(http.StatusTooManyRequests)
}

func TestAWrongPassphraseOnThePage(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.Limits.PassphrasesPerClient = 3 })
	path := "/p/" + a.create(`"payload":"inside it","passphrase":"right päss"`)
	try := func(passphrase string, status int) page {
		t.Helper()
		got := a.send(path, map[string]string{"passphrase": passphrase}).want(status).page()
		if passphrase != "" && strings.TrimSpace(passphrase) != "" && strings.Contains(got.body, passphrase) {
			t.Error("the page has the passphrase")
		}
		return got.lacks("inside it")
	}
	try("", http.StatusForbidden).has("The passphrase is missing.", "You can try 3 more times")
	try(" ", http.StatusForbidden).has("The passphrase is missing.", "You can try 3 more times")
	try("wrong-1", http.StatusForbidden).has("not the right passphrase", "You can try 2 more times")
	try("wrong-2", http.StatusForbidden).has("You can try 1 more time,")
	last := try("wrong-3", http.StatusForbidden).has("not the right passphrase", "You cannot try again right now.", "Next try possible: 2026-01-01 00:01 UTC")
	if value, ok := last.field("passphrase"); !ok || value != "" || attr(last.id("passphrase"), "aria-invalid") != "true" {
		t.Errorf("the field has %q", value)
	}
	locked := try("right päss", http.StatusTooManyRequests).has("too many wrong passphrases", "Next try possible: 2026-01-01 00:01 UTC").lacks("You can try")
	if locked.header.Get("Retry-After") != "60" {
		t.Errorf("Retry-After %q", locked.header.Get("Retry-After"))
	}
	a.store.Clock.Advance(time.Minute)
	a.send(path, map[string]string{"passphrase": strings.Repeat("x", 1025)}).want(http.StatusBadRequest)
	a.send(path, map[string]string{"passphrase": "\xff"}).want(http.StatusBadRequest)
	a.send(path+"?passphrase=right+p%C3%A4ss", nil).want(http.StatusForbidden)
	got := a.send(path, map[string]string{"passphrase": "right päss"}).want(http.StatusOK).page().has("inside it", "Views left 4")
	if strings.Contains(got.body, "right p") {
		t.Error("the page has the passphrase")
	}
}

func TestAFormOfAnotherSiteOpensNothing(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x"`)
	before := a.trace(token)
	for _, from := range []http.Header{
		{"Sec-Fetch-Site": {"cross-site"}},
		{"Sec-Fetch-Site": {"same-site"}},
		{"Origin": {"https://elsewhere.example"}},
		{"Origin": {"null"}},
	} {
		a.send("/p/"+token, nil, from).want(http.StatusForbidden).page().has("This came from another site")
		a.send("/p/"+token+"/expire", nil, from).want(http.StatusForbidden)
	}
	if after := a.trace(token); after != before {
		t.Errorf("%v became %v", before, after)
	}
	a.send("/p/"+token, nil, http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {a.url}}).want(http.StatusOK)
}

func TestDeletingOnThePage(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	free, kept := a.create(`"payload":"x"`), a.create(`"payload":"x","deletable_by_viewer":false,"expire_after_views":2`)
	got := a.send("/p/"+free, nil).want(http.StatusOK).page().has("Delete it now")
	if want := []string{"post /p/" + free + "/expire"}; !slices.Equal(got.forms(), want) {
		t.Errorf("forms %v", got.forms())
	}
	a.send("/p/"+free+"/expire", nil).want(http.StatusOK).page().has("It is deleted")
	again, unknown := a.send("/p/"+free+"/expire", nil), a.send("/p/"+strings.Repeat("a", len(free))+"/expire", nil)
	if again.want(http.StatusNotFound).body != unknown.want(http.StatusNotFound).body {
		t.Error("what was deleted is not as what never was")
	}
	if after := a.trace(free); after.state != store.Deleted {
		t.Errorf("%v", after)
	}
	a.send("/p/"+kept, nil).want(http.StatusOK).page().lacks("Delete it now")
	a.send("/p/"+kept+"/expire", nil).want(http.StatusForbidden).page().has("This is not yours")
	a.send("/p/"+kept, nil).want(http.StatusOK)
	a.send("/p/"+kept+"/expire", nil).want(http.StatusNotFound) // as one that never was
	a.send("/p/"+store.NewToken(a.store.Clock.Now()).Reveal()+"/expire", nil).want(http.StatusNotFound)
	a.get("/p/" + free + "/expire").want(http.StatusMethodNotAllowed)
}

func TestLinksOfOtherVersionsLeadHere(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"x"`)
	for _, test := range []struct{ path, to string }{
		{"/f/" + token, "/p/" + token},
		{"/r/" + token, "/p/" + token},
		{"/f/" + token + "/r", "/p/" + token + "/r"},
		{"/r/" + token + "/r", "/p/" + token + "/r"},
		{"/r/" + strings.ToUpper(token), "/p/" + token},
		{"/r/" + strings.Repeat("a", 34) + "?x=//elsewhere.example", "/p/" + strings.Repeat("a", 34)},
		{"/f/x", ""},
		{"/r/" + token + "a", ""},
		{"/f/%2felsewhere.example", ""},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			got := a.do(method, test.path, "", visit)
			if want := map[bool]int{true: 301, false: 404}[test.to != ""]; got.status != want || got.header.Get("Location") != test.to || got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s: %d %v", method, test.path, got.status, got.header)
			}
		}
	}
	if after := a.trace(token); after.views != 0 || after.seq != 1 {
		t.Errorf("%v", after)
	}
}

func TestThePagesLogNoTokenAndNoPassphrase(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"canary-payload-77","passphrase":"canary-right-88","retrieval_step":false`)
	spent := a.create(`"payload":"canary-payload-77","expire_after_views":1`)
	for _, path := range []string{"/p/" + token, "/p/" + token + "/r", "/f/" + token, "/r/" + token + "/r", "/p/" + spent} {
		a.get(path, visit)
		a.send(path, nil)
	}
	a.send("/p/"+token, map[string]string{"passphrase": "canary-wrong-99"}).want(http.StatusForbidden)
	a.send("/p/"+token, map[string]string{"passphrase": "canary-right-88"}).want(http.StatusOK)
	a.send("/p/"+token+"/expire", nil).want(http.StatusOK)
	for _, trace := range []string{token, spent, strings.ToUpper(token), "canary"} {
		if strings.Contains(a.log.String(), trace) {
			t.Errorf("the log has %q", trace)
		}
	}
}

func TestAStoreThatCannotTellTheTimeOpensNothing(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	token := a.create(`"payload":"inside it"`)
	a.store.Clock.Jump(30 * day)
	a.send("/p/"+token, nil).want(http.StatusServiceUnavailable).page().lacks("inside it")
	a.store.Clock.Jump(-30 * day)
	a.send("/p/"+token, nil).want(http.StatusOK).page().has("inside it", "Views left 4")
}

// openFiles opens a file push on its page.
func openFiles(a *api, p pushed) page {
	a.t.Helper()
	return a.send("/p/"+p.token.Reveal(), nil).want(http.StatusOK).page()
}

func TestFilesOnThePage(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	one := 1
	p := a.pushNamed("ann@example.com", func(in *store.NewPush, _ *store.Upload) {
		in.Payload, in.Views = secret.New("read me first"), &one
	}, []byte("hello"), bytesOf(1536))
	got := openFiles(a, p).has("read me first", "5 B", "1.5 KiB", "This was the last view", "The files can still be downloaded", "Delete it now")
	list := got.find(func(n node) bool { return attr(n, "class") == "files" })
	if len(list) != 1 || attr(list[0], "data-renew") != "180" {
		t.Fatalf("%d lists of files", len(list))
	}
	var paths []string
	for _, link := range got.find(func(n node) bool { return attr(n, "data-size") != "" }) {
		paths = append(paths, attr(link, "href"))
	}
	if len(paths) != 2 || a.get(paths[0]).want(http.StatusOK).body != "hello" || len(a.get(paths[1]).want(http.StatusOK).body) != 1536 {
		t.Errorf("paths %d", len(paths))
	}
	for range 10 { // as the script does, past what the grant lasts without
		a.store.Clock.Advance(3 * time.Minute)
		a.get(paths[1], http.Header{"Range": {"bytes=0-0"}}).want(http.StatusPartialContent)
	}
	a.send("/p/"+p.token.Reveal()+"/expire", nil).want(http.StatusOK)
	a.get(paths[0]).want(http.StatusNotFound)
}

func TestTheRenewalFollowsTheWindow(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) { c.Files.DownloadWindow = time.Minute })
	got := openFiles(a, a.pushFiles("ann@example.com", []byte("x")))
	list := got.find(func(n node) bool { return attr(n, "class") == "files" })
	if attr(list[0], "data-renew") != "12" || got.id("secret") != nil {
		t.Errorf("after %s seconds", attr(list[0], "data-renew"))
	}
}
