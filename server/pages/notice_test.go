package pages_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pushbox/server/servertest"
	"pushbox/store"
)

// notices are the texts of the notices on a page.
func noticesOn(r servertest.Answer) (texts []string) {
	for _, n := range r.Page().Elements("div") {
		if class := servertest.Attr(n, "class"); strings.HasPrefix(class, "notice ") && servertest.Attr(n, "role") == "status" {
			texts = append(texts, strings.Join(strings.Fields(servertest.TextOf(n)), " "))
		}
	}
	return texts
}

// wantNotice fails the test unless the page has that one notice, and the next page has none.
func wantNotice(t *testing.T, b *servertest.Browser, path, want string) {
	t.Helper()
	if got := strings.Join(noticesOn(b.Get(path).Want(http.StatusOK)), "|"); got != want {
		t.Errorf("%s says %q, not %q", path, got, want)
	}
	if got := noticesOn(b.Get(path)); len(got) > 0 {
		t.Errorf("%s says it again: %q", path, got)
	}
}

func TestAPageTellsOnceWhatAnActionDid(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b, by := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword), a.Actor(servertest.AnnEmail)
	mine := func(name string) string { return a.Mine(by, servertest.Called(name)).Token.Reveal() }

	edited := "/p/" + mine("router")
	b.Post(edited+"/edit", "days", "8", "views", "6").To(edited + "/audit")
	wantNotice(t, b, edited+"/audit", "The changes were saved.")

	b.Post("/users/pushes/delete", "push-"+mine("root of <web-03>"), "on", "back", "order=end&q=web&news=soon&page=3&kind=text").
		To("/p?kind=text&news=soon&order=end&page=3&q=web")
	wantNotice(t, b, "/p", "“root of <web-03>” was deleted.")
	b.Post("/users/pushes/delete", "push-"+mine(""), "on", "back", "state=expired").To("/p?state=expired")
	wantNotice(t, b, "/p", "The secret was deleted.")
	b.Post("/users/pushes/delete", "push-"+mine("a"), "on", "push-"+mine("b"), "on", "push-x", "on", "back", "//evil.example").To("/p")
	wantNotice(t, b, "/p", "2 secrets were deleted.")
	b.Post("/users/pushes/delete", "back", "page=0").To("/p")
	wantNotice(t, b, "/p", "Nothing was deleted: no active secret was selected.")
	logged := mine("logged")
	log := b.Post("/users/pushes/delete", "push-"+logged, "on", "log", "on").Want(http.StatusSeeOther).Header.Get("Location")
	if log != "/p/"+a.Handle(logged)+"/audit" {
		t.Errorf("it leads to %s", log)
	}
	wantNotice(t, b, log, "“logged” was deleted.")

	other := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	b.Post("/users/sessions/end", "others", "yes").To("/users/sessions")
	wantNotice(t, b, "/users/sessions", "All other sessions have ended.")
	other.Get("/p").To("/users/sign_in")
	b.Post("/users/token/revoke", "id", "7").To("/users/token")
	wantNotice(t, b, "/users/token", "The token was revoked.")
	b.Post("/users/sign_out").To("/users/sign_in")
	wantNotice(t, b, "/users/sign_in", "You are signed out.")
}

func TestOnlyTheOwnerDeletesPushesAndAPageOfThemAtMost(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	a.AddAccount("bob@example.com", servertest.AnnPassword)
	of := a.Mine(a.Actor("bob@example.com"), func(in *store.NewPush) { in.DeletableByViewer = new(false) }).Token
	b.Post("/users/pushes/delete", "push-"+of.Reveal(), "on").Want(http.StatusForbidden)
	a.Browser().Post("/users/pushes/delete", "push-"+of.Reveal(), "on").To("/users/sign_in")
	b.Do(http.MethodPost, "/users/pushes/delete", "push-"+of.Reveal()+"=on", http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"cross-site"},
	}).Want(http.StatusForbidden)
	if p, err := a.Store.Preview(ctx, of); err != nil || !p.Live() {
		t.Errorf("it is %v, %v", p.State, err)
	}
	var fields []string
	for i := range store.PageSize + 1 {
		fields = append(fields, "push-"+store.NewToken(time.Unix(int64(i), 0)).Reveal(), "on")
	}
	b.Post("/users/pushes/delete", fields...).Want(http.StatusBadRequest)
	b.Post("/users/pushes/delete", fields[2:]...).To("/p")
}

func TestACookieNamesNoticesAndNothingElse(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b, by := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword), a.Actor(servertest.AnnEmail)
	a.AddAccount("bob@example.com", servertest.AnnPassword)
	bobs := a.Mine(a.Actor("bob@example.com"), servertest.Called("of bob"))
	if _, err := a.Store.DeletePush(ctx, a.Actor("bob@example.com"), bobs.Token); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		"deleted.<b>": "The secret was deleted.", "deleted." + bobs.Handle().String(): "The secret was deleted.",
		"deleted_several.9999999999999999999999": "9223372036854775807 secrets were deleted.",
		"problem_internal_title":                 "", "": "", ".": "", "first_lead": "",
	} {
		b.Cookies["notice"] = value
		if got := strings.Join(noticesOn(b.Get("/p")), "|"); got != want {
			t.Errorf("%q says %q", value, got)
		}
		if b.Cookies["notice"] != "" {
			t.Errorf("%q stays", value)
		}
	}
	b.Cookies["notice"] = "edited"
	if got := noticesOn(b.Get("/p/" + a.Mine(by).Token.Reveal() + "/r").Want(http.StatusOK)); len(got) > 0 || b.Cookies["notice"] == "" {
		t.Errorf("recipients see %q", got)
	}
	c := b.Post("/users/sign_out").Cookies()[0]
	if c.Name != "notice" || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.MaxAge != 60 || c.Path != "/" {
		t.Errorf("%+v", c)
	}
}

func TestTheFirstAccountIsToldWhatIsNext(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	b := a.Browser()
	b.Post(a.FirstPath(), "email", servertest.AnnEmail, "password", servertest.AnnPassword).To("/")
	wantNotice(t, b, "/", "You are signed in as ann@example.com. Good next steps: Two-factor sign-in · API tokens")
}
