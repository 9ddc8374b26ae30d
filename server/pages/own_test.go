package pages_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
)

var rowNames = regexp.MustCompile(`<div class="line">\s*<span[^\n]*\s*<a href="[^"]*"[^>]*>(?:<bdi>)?([^<]*)`)

// namesOf returns the names in the rows of a list.
func namesOf(r servertest.Answer) (names []string) {
	for _, m := range rowNames.FindAllStringSubmatch(r.Body, -1) {
		names = append(names, html.UnescapeString(m[1]))
	}
	return names
}

func TestEachOwnerPageChecksWhoMaySeeIt(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	owner, by := a.AddSessionUser("owner@example.com"), a.Actor("owner@example.com")
	stranger := a.AddSessionUser("stranger@example.com")
	token := a.Mine(by, func(in *store.NewPush) { in.DeletableByViewer = new(true) }).Token.Reveal()
	ofNoAccount := a.Create(`"payload":"x"`)
	unknown := store.NewToken(time.Unix(0, 0)).Reveal()
	for _, row := range []struct {
		method, path                 string
		anonymous, stranger, owner   int
		ofAnonymous, ofUnknown, ofNo int // the same for the owner: a push of no account, an unknown one, no token at all
	}{
		{"GET", "/p", 303, 200, 200, 200, 200, 200},
		{"GET", "/p/TOKEN/audit", 303, 403, 200, 403, 404, 404},
		{"GET", "/p/TOKEN/audit.csv", 303, 403, 200, 403, 404, 404},
		{"POST", "/p/TOKEN/edit", 303, 403, 303, 403, 404, 404},
		{"GET", "/help/api", 200, 200, 200, 200, 200, 200},
	} {
		for _, c := range []struct {
			who    string
			header http.Header
			token  string
			want   int
		}{
			{"an anonymous client", http.Header{}, token, row.anonymous},
			{"a client with an unknown session", http.Header{"Cookie": {"pushbox_session=x"}}, token, row.anonymous},
			{"a stranger", stranger, token, row.stranger},
			{"the owner", owner, token, row.owner},
			{"the owner, in capitals", owner, strings.ToUpper(token), row.owner},
			{"the owner, of an anonymous push,", owner, ofNoAccount, row.ofAnonymous},
			{"the owner, of an unknown push,", owner, unknown, row.ofUnknown},
			{"the owner, of no push,", owner, "x", row.ofNo},
		} {
			path := strings.ReplaceAll(row.path, "TOKEN", c.token)
			got := a.Do(row.method, path, "", c.header, http.Header{"Sec-Fetch-Site": {"same-origin"}})
			if row.method == "POST" {
				got = a.SendOwn(path, map[string]string{"days": "8"}, c.header)
			}
			if got.Status != c.want {
				t.Errorf("%s %s by %s: %d, not %d", row.method, row.path, c.who, got.Status, c.want)
			}
			if at := got.Header.Get("Location"); c.want == 303 && at != "/users/sign_in" && at != "/p/"+token+"/audit" {
				t.Errorf("%s %s by %s: sent to %s", row.method, row.path, c.who, at)
			}
			if c.want == 403 && !strings.Contains(got.Body, "not yours") {
				t.Errorf("%s %s by %s: %s", row.method, row.path, c.who, got.Body)
			}
		}
	}
	if got := a.SendOwn("/p/"+token+"/edit", map[string]string{"days": "9"}, owner, http.Header{"Sec-Fetch-Site": {"cross-site"}}); got.Status != 403 {
		t.Errorf("a form of another site: %d", got.Status)
	}
	a.Get("/p", a.AddTokenUser("token@example.com")).Want(303) // an API token is nothing to a page
}

func TestTheListShowsOwnPushesNewestFirstWithTheirRemainingLimits(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, by := a.AddSessionUser("ann@example.com"), a.Actor("ann@example.com")
	bob := a.Actor("bob@example.com")
	a.Get("/p", ann).Want(200).Says("No active secrets")
	a.Get("/p?state=expired", ann).Want(200).Says("No ended secrets")
	a.Mine(bob, servertest.Called("bobs-secret"))
	old := a.Mine(by, servertest.Called("old"))
	a.Store.Clock.Advance(time.Hour)
	link := a.Mine(by, func(in *store.NewPush) { in.Kind, in.Payload = record.URL, secret.New("https://example.com") })
	a.Get(pushes + "/" + old.Token.Reveal()).Want(200)
	page := a.Get("/p", ann).Want(200)
	if got := strings.Join(namesOf(page), "|"); got != "Untitled, |old" {
		t.Errorf("rows: %s", got)
	}
	page.Says("1 of 5", "0 of 5", "7 days", "/p/"+old.Token.Reveal()+"/audit", a.URL+"/p/"+link.Token.Reveal()+"/r", `name="push-`+old.Token.Reveal()+`"`).Lacks("bobs-secret")

	if _, err := a.Store.DeletePush(ctx, by, link.Token); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		a.Get(pushes + "/" + old.Token.Reveal()).Want(200)
	}
	a.Mine(by, servertest.Called("brief"), func(in *store.NewPush) { in.Lifetime = 15 * time.Minute })
	a.Get("/p", ann).Says("15 minutes")
	a.Store.Clock.Advance(15 * time.Minute)
	a.Get("/p", ann).Says("No active secrets")
	a.Get("/p?state=expired", ann).Says("Deleted", "All views used", "Expired", "5 of 5").Lacks(`name="push-`)
}

func TestThePagesOfAList(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, by := a.AddSessionUser("ann@example.com"), a.Actor("ann@example.com")
	for i := range 101 {
		a.Mine(by, servertest.Called(fmt.Sprintf("push %d", i)))
		a.Store.Clock.Advance(time.Millisecond)
		if i == 49 {
			a.Get("/p", ann).Lacks("page=2")
		}
	}
	for page, want := range map[string]struct {
		rows        int
		first       string
		links, none string
	}{
		"/p":               {50, "push 100", "/p?page=2", `rel="prev"`},
		"/p?page=2":        {50, "push 50", "/p?page=3", ""},
		"/p?page=3":        {1, "push 0", "/p?page=2", `rel="next"`},
		"/p?page=4":        {0, "", "There is nothing on this page", `rel="next"`},
		"/p?page=200":      {0, "", "/p?page=199", "page=201"},
		"/p?q=PUSH&page=2": {50, "push 50", "/p?page=3&q=PUSH", ""},
		"/p?q=PUSH&page=3": {1, "push 0", "/p?page=2&q=PUSH", `rel="next"`},
		"/p?q=push+10":     {2, "push 100", "push 10", "page=2"},
	} {
		got := a.Get(page, ann).Want(200).Says(want.links)
		if want.none != "" {
			got.Lacks(want.none)
		}
		if names := namesOf(got); len(names) != want.rows || want.rows > 0 && names[0] != want.first {
			t.Errorf("%s: %d rows, %q", page, len(names), names)
		}
	}
	token := a.Mine(by).Token.Reveal()
	for _, path := range []string{"/p", "/p/" + token + "/audit"} {
		for _, page := range []string{"0", "-1", "201", "1.0", "x", "", "%2B1", "99999999999999999999"} {
			a.Get(path+"?page="+page, ann).Want(400)
		}
		a.Get(path+"?page=1", ann).Want(200)
		a.Get(path+"?page=200", ann).Want(200)
		a.Get(path+"?page=1&page=1", ann).Want(400)
	}
}

func TestASearchFindsWordsInNamesAndNotes(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, by := a.AddSessionUser("ann@example.com"), a.Actor("ann@example.com")
	a.Mine(by, servertest.Called("Zürich VPN"), func(in *store.NewPush) { in.Note = secret.New("for Äpfel GmbH") })
	a.Store.Clock.Advance(time.Second)
	a.Mine(by, servertest.Called("other"))
	expired := a.Mine(by, servertest.Called("gone"))
	if _, err := a.Store.DeletePush(ctx, by, expired.Token); err != nil {
		t.Fatal(err)
	}
	for words, found := range map[string]string{
		"zÜRICH": "Zürich VPN", "äpfel": "Zürich VPN", "vpn gmbh": "Zürich VPN", "vpn other": "", "": "other Zürich VPN", "  ": "other Zürich VPN",
		"nothing": "", "gone": "", "%": "", "rich": "Zürich VPN", strings.Repeat("x", 255): "",
	} {
		got := a.Get("/p?q="+url.QueryEscape(words), ann).Want(200)
		if names := strings.Join(namesOf(got), " "); names != found {
			t.Errorf("%q: %q", words, names)
		}
		if found == "" {
			got.Says("Nothing was found")
		}
	}
	a.Get("/p?state=expired&q=gone", ann).Want(200).Says("gone", `name="state" value="expired"`)
	a.Get("/p?q="+strings.Repeat("x", 256), ann).Want(400)
	a.Get("/p?q=a&q=b", ann).Want(400)
	a.Get("/p?q=%ff", ann).Want(400)
}

func TestHostileTextsAreInert(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, by := a.AddSessionUser("ann@example.com"), a.Actor("ann@example.com")
	for _, text := range servertest.Hostile {
		p := a.Mine(by, servertest.Called(text), func(in *store.NewPush) { in.Note, in.Views = secret.New(text), new(1) })
		path := "/p/" + p.Token.Reveal()
		visitor := store.Actor{IP: text, Client: "192.0.2.7", UserAgent: text, Referrer: secret.New(text)}
		live := a.Get(path+"/audit", ann).Want(200)
		if _, err := a.Store.Retrieve(ctx, visitor, p.Token, secret.Text{}, nil); err != nil {
			t.Fatal(err)
		}
		for _, page := range []servertest.Answer{
			live, a.Get(path+"/audit", ann).Want(200), a.Get("/p?state=expired", ann).Want(200),
			a.Get("/p?q="+url.QueryEscape(text), ann).Want(200),
		} {
			for _, live := range []string{"<script>", "<img src=x", "<svg onload", `href="javascript`, "<!--"} {
				if strings.Contains(page.Body, live) {
					t.Errorf("%q is alive: %s", text, live)
				}
			}
			if page.Header.Get("Content-Security-Policy") == "" || page.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", page.Header)
			}
		}
	}
}

func TestTheAuditPageShowsWhatHappenedWhenAndFromWhere(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, by := a.AddSessionUser("ann@example.com"), a.Actor("ann@example.com")
	p := a.Mine(by, servertest.Called("Database"), func(in *store.NewPush) { in.Views = new(60) })
	path := "/p/" + p.Token.Reveal() + "/audit"
	a.Store.Clock.Advance(time.Second)
	who := store.Actor{IP: "203.0.113.7", Client: "203.0.113.7", UserAgent: "Firefox", Referrer: secret.New("https://chat.example.com/")}
	for range 50 {
		if _, err := a.Store.Retrieve(ctx, who, p.Token, secret.Text{}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Store.Retrieve(ctx, by, p.Token, secret.Text{}, nil); err != nil {
		t.Fatal(err)
	}
	a.Get(path, ann).Want(200).Says("Database", "50 of 60", a.URL+"/p/"+p.Token.Reveal()+"/r", "<svg", "Created", "Opened",
		"203.0.113.7", "Firefox", "https://chat.example.com/", "2026-01-01 00:00:01 UTC", "?page=2", ".csv", `value="7"`, `value="60"`)
	a.Get(path+"?page=2", ann).Want(200).Says("Opened by you").Lacks(`rel="next"`)
	a.Get(path+"?page=3", ann).Want(200).Says("There is nothing on this page")
	a.Store.Clock.Advance(7*day - time.Second)
	a.Get(path, a.SignInAgain("ann@example.com")).Want(200).Says("Expired", "Database", "Opened").Lacks(`action="/p/`, `id="link"`, `class="qr"`)
}

func TestTheListTellsWhatIsNewAndIsFiltered(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, by := a.AddSessionUser("ann@example.com"), a.Actor("ann@example.com")
	a.Mine(by, servertest.Called("quiet"))
	a.Store.Clock.Advance(time.Second)
	last := a.Mine(by, servertest.Called("last"), func(in *store.NewPush) { in.Views = new(3) }).Token
	a.Store.Clock.Advance(time.Second)
	a.Mine(by, servertest.Called("brief"), func(in *store.NewPush) {
		in.Kind, in.Payload, in.Lifetime = record.URL, secret.New("https://example.com"), time.Hour
	})
	for range 2 {
		a.Get(pushes + "/" + last.Reveal()).Want(200)
	}
	a.Get("/p", ann).Want(200).Says("0 of 5", "2 of 3", "Last view left", "Expires within a day", `Active<span class="total"> 3</span>`, `Ended<span class="total"> 0</span>`)
	for query, want := range map[string]string{
		"": "brief|last|quiet", "?kind=url": "brief", "?kind=text&news=unopened": "quiet", "?news=last": "last", "?news=soon": "brief", "?news=opened&q=la": "last",
		"?order=end": "brief|quiet|last", "?kind=&news=&order=&q=": "brief|last|quiet", "?news=guessed": "",
	} {
		got := a.Get("/p"+query, ann).Want(200)
		if names := strings.Join(namesOf(got), "|"); names != want {
			t.Errorf("%s: %q", query, names)
		}
		if want == "last" {
			got.Says("1 found")
		}
	}
	a.Get("/p?news=guessed", ann).Says("No secret on this tab matches the filter.", `href="/p"`)
	a.Get("/p?q=gone&order=end", ann).Says("No active secret has these words", `href="/p?order=end&q=gone&state=expired">Search the ended ones`, `href="/p?order=end"`)
	for _, query := range []string{"kind=x", "news=x", "news=opened&news=last", "kind=text&kind=url"} {
		a.Get("/p?"+query, ann).Want(400)
	}
}

func TestTheAuditPageSumsUpTheLog(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, by := a.AddSessionUser("ann@example.com"), a.Actor("ann@example.com")
	p := a.Mine(by, func(in *store.NewPush) { in.Passphrase, in.Views = secret.New("open sesame"), new(60) })
	path := "/p/" + p.Token.Reveal() + "/audit"
	if words := a.Get(path, ann).Page().Words(); !strings.Contains(words, "Not opened yet") {
		t.Error(words)
	}
	chrome := "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
	for i, passphrase := range []string{"wrong", "open sesame", "open sesame"} {
		a.Store.Clock.Advance(time.Hour)
		who := store.Actor{IP: fmt.Sprintf("203.0.113.%d", i), Client: "203.0.113.7", UserAgent: chrome}
		if _, err := a.Store.Retrieve(ctx, who, p.Token, secret.New(passphrase), nil); (err != nil) != (passphrase == "wrong") {
			t.Fatal(err)
		}
	}
	page := a.Get(path, ann).Want(200).Says(`<summary>Chrome on Windows</summary><bdi>`+chrome, `class="event failed_passphrase"`)
	words := page.Page().Words()
	for _, want := range []string{"Opened 2 times", "first 2026-01-01 02:00 UTC", "last 2026-01-01 03:00 UTC", "from 2 addresses", "1 wrong passphrase"} {
		if !strings.Contains(words, want) {
			t.Errorf("it does not say %q: %s", want, words)
		}
	}
}
