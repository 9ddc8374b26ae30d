package server_test

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
	"pushbox/store"
)

// signIn adds an account and returns the cookie of a session of it, and what acts
// as it.
func (a *api) signIn(email string) (http.Header, store.Actor) {
	a.t.Helper()
	account, err := a.store.AddAccount(ctx, email, ownersPassword)
	if err != nil {
		a.t.Fatal(err)
	}
	by := store.Actor{Account: account.ID, Client: "192.0.2.1", IP: "192.0.2.1"}
	return a.signInAgain(email), by
}

var ownersPassword = secret.New("a password for tests 17")

// signInAgain is for after a time that no session lasts.
func (a *api) signInAgain(email string) http.Header {
	a.t.Helper()
	session, err := a.store.SignIn(ctx, store.Actor{Client: "192.0.2.1", IP: "192.0.2.1"}, email, ownersPassword)
	if err != nil {
		a.t.Fatal(err)
	}
	return http.Header{"Cookie": {"pushbox_session=" + session.Secret.Reveal()}}
}

// mine makes a text push of an account.
func (a *api) mine(by store.Actor, changes ...func(*store.NewPush)) store.PushInfo {
	a.t.Helper()
	in := store.NewPush{Kind: store.Text, Payload: secret.New("x")}
	for _, change := range changes {
		change(&in)
	}
	p, err := a.store.CreatePush(ctx, by, in)
	if err != nil {
		a.t.Fatal(err)
	}
	return p
}

func called(name string) func(*store.NewPush) {
	return func(in *store.NewPush) { in.Name = secret.New(name) }
}

// sendOwn sends a form as a browser does from a page of the server's.
func (a *api) sendOwn(path string, fields map[string]string, headers ...http.Header) answer {
	a.t.Helper()
	return a.send(path, fields, append([]http.Header{{"Sec-Fetch-Site": {"same-origin"}}}, headers...)...)
}

var rowNames = regexp.MustCompile(`<th scope="row" class="long">\s*<a href="[^"]*">(?:<bdi>)?([^<]*)`)

// names are the names in the rows of a list.
func (r answer) names() (names []string) {
	for _, m := range rowNames.FindAllStringSubmatch(r.body, -1) {
		names = append(names, html.UnescapeString(m[1]))
	}
	return names
}

func TestEachOfTheOwnersPagesIsForWhomItIs(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	owner, by := a.signIn("owner@example.com")
	stranger, _ := a.signIn("stranger@example.com")
	token := a.mine(by, func(in *store.NewPush) { in.DeletableByViewer = new(true) }).Token.Reveal()
	nobodys := a.create(`"payload":"x"`)
	unknown := store.NewToken(time.Unix(0, 0)).Reveal()
	for _, row := range []struct {
		method, path              string
		nobody, stranger, owner   int
		ofNobody, ofUnknown, ofNo int // the same for the owner: a push of nobody, one that is not there, no token at all
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
			{"nobody", http.Header{}, token, row.nobody},
			{"somebody with a session that is none", http.Header{"Cookie": {"pushbox_session=x"}}, token, row.nobody},
			{"a stranger", stranger, token, row.stranger},
			{"the owner", owner, token, row.owner},
			{"the owner, in capitals", owner, strings.ToUpper(token), row.owner},
			{"somebody, of nobody's push,", owner, nobodys, row.ofNobody},
			{"somebody, of an unknown push,", owner, unknown, row.ofUnknown},
			{"somebody, of no push,", owner, "x", row.ofNo},
		} {
			path := strings.ReplaceAll(row.path, "TOKEN", c.token)
			got := a.do(row.method, path, "", c.header, http.Header{"Sec-Fetch-Site": {"same-origin"}})
			if row.method == "POST" {
				got = a.sendOwn(path, map[string]string{"days": "8"}, c.header)
			}
			if got.status != c.want {
				t.Errorf("%s %s by %s: %d, not %d", row.method, row.path, c.who, got.status, c.want)
			}
			if at := got.header.Get("Location"); c.want == 303 && at != "/users/sign_in" && at != "/p/"+token+"/audit" {
				t.Errorf("%s %s by %s: sent to %s", row.method, row.path, c.who, at)
			}
			if c.want == 403 && !strings.Contains(got.body, "not yours") {
				t.Errorf("%s %s by %s: %s", row.method, row.path, c.who, got.body)
			}
		}
	}
	if got := a.sendOwn("/p/"+token+"/edit", map[string]string{"days": "9"}, owner, http.Header{"Sec-Fetch-Site": {"cross-site"}}); got.status != 403 {
		t.Errorf("a form of another site: %d", got.status)
	}
	a.get("/p", a.user("token@example.com")).want(303) // an API token is nothing to a page
}

func TestTheListShowsOwnPushesNewestFirstWithWhatIsLeftOfThem(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann, by := a.signIn("ann@example.com")
	_, bob := a.signIn("bob@example.com")
	a.get("/p", ann).want(200).says("No active pushes")
	a.get("/p?state=expired", ann).want(200).says("No expired pushes")
	a.mine(bob, called("bob's"))
	old := a.mine(by, called("old"))
	a.store.Clock.Advance(time.Hour)
	link := a.mine(by, func(in *store.NewPush) { in.Kind, in.Payload = store.URL, secret.New("https://example.com") })
	a.get(pushes + "/" + old.Token.Reveal()).want(200)
	page := a.get("/p", ann).want(200)
	if got := strings.Join(page.names(), ", "); got != "Web address, old" {
		t.Errorf("rows: %s", got)
	}
	page.says("1 of 5", "0 of 5", "7 days", "/p/"+old.Token.Reveal()+"/audit", a.url+"/p/"+link.Token.Reveal()+"/r", "/p/"+old.Token.Reveal()+"/expire").lacks("bob")

	if _, err := a.store.DeletePush(ctx, by, link.Token); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		a.get(pushes + "/" + old.Token.Reveal()).want(200)
	}
	a.mine(by, called("brief"), func(in *store.NewPush) { in.Lifetime = 15 * time.Minute })
	a.get("/p", ann).says("15 minutes")
	a.store.Clock.Advance(15 * time.Minute)
	a.get("/p", ann).says("No active pushes")
	a.get("/p?state=expired", ann).says("Ended by hand", "All views used", "Time is over", "5 of 5").lacks("/expire")
}

func TestThePagesOfAList(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann, by := a.signIn("ann@example.com")
	for i := range 101 {
		a.mine(by, called(fmt.Sprintf("push %d", i)))
		a.store.Clock.Advance(time.Millisecond)
		if i == 49 {
			a.get("/p", ann).lacks("page=2")
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
		got := a.get(page, ann).want(200).says(want.links)
		if want.none != "" {
			got.lacks(want.none)
		}
		if names := got.names(); len(names) != want.rows || want.rows > 0 && names[0] != want.first {
			t.Errorf("%s: %d rows, %q", page, len(names), names)
		}
	}
	token := a.mine(by).Token.Reveal()
	for _, path := range []string{"/p", "/p/" + token + "/audit"} {
		for _, page := range []string{"0", "-1", "201", "1.0", "x", "", "%2B1", "99999999999999999999"} {
			a.get(path+"?page="+page, ann).want(400)
		}
		a.get(path+"?page=1", ann).want(200)
		a.get(path+"?page=200", ann).want(200)
		a.get(path+"?page=1&page=1", ann).want(400)
	}
}

func TestASearchFindsWordsInNamesAndNotes(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann, by := a.signIn("ann@example.com")
	a.mine(by, called("Zürich VPN"), func(in *store.NewPush) { in.Note = secret.New("for Äpfel GmbH") })
	a.store.Clock.Advance(time.Second)
	a.mine(by, called("other"))
	expired := a.mine(by, called("gone"))
	if _, err := a.store.DeletePush(ctx, by, expired.Token); err != nil {
		t.Fatal(err)
	}
	for words, found := range map[string]string{
		"zÜRICH": "Zürich VPN", "äpfel": "Zürich VPN", "vpn gmbh": "Zürich VPN", "vpn other": "", "": "other Zürich VPN", "  ": "other Zürich VPN",
		"nothing": "", "gone": "", "%": "", "rich": "Zürich VPN", strings.Repeat("x", 255): "",
	} {
		got := a.get("/p?q="+url.QueryEscape(words), ann).want(200)
		if names := strings.Join(got.names(), " "); names != found {
			t.Errorf("%q: %q", words, names)
		}
		if found == "" {
			got.says("Nothing was found")
		}
	}
	a.get("/p?state=expired&q=gone", ann).want(200).says("gone", `name="state" value="expired"`)
	a.get("/p?q="+strings.Repeat("x", 256), ann).want(400)
	a.get("/p?q=a&q=b", ann).want(400)
	a.get("/p?q=%ff", ann).want(400)
}

// hostile are texts that mean something somewhere.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'-alert(1)-'`, `{{.}}`, `</title><svg onload=alert(1)>`, `javascript:alert(1)`,
	"\u202e\u2066", `=HYPERLINK("http://evil.example","x")`, `<!--`, `&lt;b&gt;`, `</textarea>`, "\x00\x01", "`${1}`",
}

func TestHostileTextsAreInert(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann, by := a.signIn("ann@example.com")
	for _, text := range hostile {
		p := a.mine(by, called(text), func(in *store.NewPush) { in.Note, in.Views = secret.New(text), new(1) })
		path := "/p/" + p.Token.Reveal()
		visitor := store.Actor{IP: text, Client: "192.0.2.7", UserAgent: text, Referrer: text}
		live := a.get(path+"/audit", ann).want(200)
		if _, err := a.store.Retrieve(ctx, visitor, p.Token, secret.Text{}); err != nil {
			t.Fatal(err)
		}
		for _, page := range []answer{
			live, a.get(path+"/audit", ann).want(200), a.get("/p?state=expired", ann).want(200),
			a.get("/p?q="+url.QueryEscape(text), ann).want(200),
		} {
			for _, live := range []string{"<script>", "<img src=x", "<svg onload", `href="javascript`, "<!--"} {
				if strings.Contains(page.body, live) {
					t.Errorf("%q is alive: %s", text, live)
				}
			}
			if page.header.Get("Content-Security-Policy") == "" || page.header.Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", page.header)
			}
		}
	}
}

func TestTheAuditPageTellsWhoWhenAndFromWhere(t *testing.T) {
	t.Parallel()
	a := newAPI(t)
	ann, by := a.signIn("ann@example.com")
	p := a.mine(by, called("Database"), func(in *store.NewPush) { in.Views = new(60) })
	path := "/p/" + p.Token.Reveal() + "/audit"
	a.store.Clock.Advance(time.Second)
	who := store.Actor{IP: "203.0.113.7", Client: "203.0.113.7", UserAgent: "Firefox", Referrer: "https://chat.example.com/"}
	for range 50 {
		if _, err := a.store.Retrieve(ctx, who, p.Token, secret.Text{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.store.Retrieve(ctx, by, p.Token, secret.Text{}); err != nil {
		t.Fatal(err)
	}
	a.get(path, ann).want(200).says("Database", "50 of 60", a.url+"/p/"+p.Token.Reveal()+"/r", "<svg", "Created", "Opened",
		"203.0.113.7", "Firefox", "https://chat.example.com/", "2026-01-01 00:00:01 UTC", "?page=2", ".csv", `value="7"`, `value="60"`)
	a.get(path+"?page=2", ann).want(200).says("Opened by you").lacks(`rel="next"`)
	a.get(path+"?page=3", ann).want(200).says("There is nothing on this page")
	a.store.Clock.Advance(7*day - time.Second)
	a.get(path, a.signInAgain("ann@example.com")).want(200).says("Time is over", "Database", "Opened").lacks(`action="/p/`, `id="link"`, `class="qr"`)
}
