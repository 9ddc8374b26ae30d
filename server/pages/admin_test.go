package pages_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
)

const bobEmail = "bob@example.com"

// administered is a site with an administrator, who is signed in, and a member: accounts 1
// and 2.
func administered(t *testing.T, changes ...func(*config.Config)) (a *servertest.Server, admin *servertest.Browser) {
	t.Helper()
	a = servertest.NewSite(t, changes...)
	a.AddAccount(bobEmail, servertest.AnnPassword)
	env.OK(t, a.Store.SetAdmin(ctx, store.Actor{Role: store.Operator}, servertest.AnnEmail, true, false))
	return a, a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
}

// account is an account as the store has it.
func account(t *testing.T, a *servertest.Server, id record.AccountID) record.Account {
	t.Helper()
	one, err := a.Store.AccountByID(ctx, id)
	env.OK(t, err)
	return one
}

func TestOnlyAdministratorsEnterTheAdministration(t *testing.T) {
	t.Parallel()
	a, admin := administered(t)
	member, anyone := a.SignedIn(bobEmail, servertest.AnnPassword), a.Browser()
	token := a.AddToken(servertest.AnnEmail)
	for _, path := range []string{"/admin", "/admin/accounts", "/admin/accounts/2", "/admin/invite", "/admin/log"} {
		admin.Get(path).Want(http.StatusOK)
		member.Get(path).Want(http.StatusNotFound)
		anyone.Get(path).To("/users/sign_in")
		a.Get(path, token).To("/users/sign_in")
	}
	member.Post("/admin/accounts/1", "do", "disable").Want(http.StatusNotFound)
	anyone.Post("/admin/accounts/2", "do", "disable").To("/users/sign_in")
	a.Do("POST", "/admin/accounts/2", "do=disable", servertest.Urlencoded, token).To("/users/sign_in")
	admin.Do("POST", "/admin/accounts/2", "do=disable", http.Header{"Content-Type": servertest.Urlencoded["Content-Type"], "Sec-Fetch-Site": {"cross-site"}}).Want(http.StatusForbidden)
	if one := account(t, a, 2); one.Disabled {
		t.Error("the account is disabled")
	}
	if !admin.Get("/").Shows("Administration") || member.Get("/").Shows("Administration") {
		t.Error("the navigation is not as the account is")
	}
	admin.Get("/admin/accounts/1").Want(http.StatusOK).Lacks(`value="password"`)
	admin.Get("/admin/accounts/2").Want(http.StatusOK).Says(`value="password"`)
	admin.Post("/admin/accounts/1", "do", "password").Want(http.StatusConflict)
	admin.Post("/admin/accounts/2", "do", "grant").To("/admin/accounts/2")
	member.Get("/admin").Want(http.StatusOK)
	member.Post("/admin/accounts/1", "do", "revoke").To("/admin/accounts/1")
	admin.Get("/admin").Want(http.StatusNotFound)
	member.Post("/admin/accounts/2", "do", "disable").Want(http.StatusConflict).Says("This is the last administrator.")
	member.Get("/admin").Want(http.StatusOK)
}

func TestAnAdministratorNeedsTheSecondFactorThatAllNeed(t *testing.T) {
	t.Parallel()
	_, admin := administered(t, func(c *config.Config) { c.RequireMFA = true })
	admin.Get("/admin").To("/users/mfa")
	admin.Post("/admin/accounts/2", "do", "disable").To("/users/mfa")
	admin.EnableMFA()
	admin.Get("/admin").Want(http.StatusOK)
}

// Each act does what it says, and is offered only where it makes a difference.
func TestAnAdministratorChangesAnAccount(t *testing.T) {
	t.Parallel()
	a, admin := administered(t)
	const page = "/admin/accounts/2"
	member := a.SignedIn(bobEmail, servertest.AnnPassword)
	token := a.AddToken(bobEmail)
	link := "/p/" + a.Create(`"payload":"x"`, token)
	member.EnableMFA()

	did := func(name, says string) {
		t.Helper()
		admin.Post(page, "do", name).To(page)
		admin.Get(page).Says(says)
	}
	offers := func(names ...string) {
		t.Helper()
		if got := admin.Get(page).Inputs("do"); !slices.Equal(got, names) {
			t.Errorf("offered: %v, not %v", got, names)
		}
	}
	offers("grant", "password", "sign_out", "tokens", "mfa", "disable", "expire", "remove")
	did("mfa", "The account has no second factor any more.")
	if one := account(t, a, 2); one.MFA() {
		t.Error("it has one")
	}
	member.Get("/p").Want(http.StatusOK)
	did("sign_out", "All sessions of the account have ended.")
	member.Get("/p").To("/users/sign_in")
	a.Get("/api/v2/pushes/active", token).Want(http.StatusOK)
	member = a.SignedIn(bobEmail, servertest.AnnPassword)
	did("tokens", "All sessions and API tokens of the account have ended.")
	member.Get("/p").To("/users/sign_in")
	a.Get("/api/v2/pushes/active", token).Want(http.StatusUnauthorized)
	did("disable", "The account is disabled.")
	offers("enable", "grant", "expire", "remove")
	a.Browser().SignIn(bobEmail, servertest.AnnPassword).Want(http.StatusForbidden)
	a.Get(link).Want(http.StatusOK)
	did("enable", "The account is enabled.")
	did("expire", "All active secrets of the account have ended.")
	a.Get(link).Want(http.StatusNotFound)
	did("grant", "The account is an administrator's now.")
	offers("revoke", "password", "sign_out", "tokens", "disable", "expire", "remove")
	did("revoke", "The account is a member's now.")

	for _, typed := range []string{"", "bob", servertest.AnnEmail} {
		admin.Post(page, "do", "remove", "email", typed).Want(http.StatusUnprocessableEntity).Says("This is not the address of the account.")
	}
	account(t, a, 2)
	admin.Post(page, "do", "remove", "email", " BOB@example.com ").To("/admin/accounts")
	admin.Get("/admin/accounts").Says("The account is removed.").Says("1 account").Lacks(bobEmail)
	admin.Get(page).Want(http.StatusNotFound)
	admin.Post(page, "do", "enable").Want(http.StatusNotFound)
}

func TestAnAddressIsConfirmedByAnAdministrator(t *testing.T) {
	t.Parallel()
	a, admin := administered(t)
	if _, err := a.Store.SignUp(ctx, store.Actor{Client: "192.0.2.9"}, "eve@example.com", secret.New(servertest.AnnPassword)); err != nil {
		t.Fatal(err)
	}
	admin.Get("/admin/accounts").Says("address not confirmed")
	admin.Post("/admin/accounts/3", "do", "confirm").To("/admin/accounts/3")
	admin.Get("/admin/accounts/3").Says("The address of the account is confirmed.").Lacks("address not confirmed")
}

func TestAnAdministratorSeesNothingOfAPush(t *testing.T) {
	t.Parallel()
	a, admin := administered(t)
	token := a.AddToken(bobEmail)
	push := a.Create(`"payload":"marker-text","name":"marker-name","note":"marker-note"`, token)
	handle := a.Handle(push)
	for _, path := range []string{"/admin", "/admin/accounts", "/admin/accounts/2", "/admin/invite", "/admin/log"} {
		admin.Get(path).Lacks("marker").Lacks(push).Lacks(handle)
	}
	admin.Get("/p/" + push + "/audit").Want(http.StatusForbidden)
	admin.Get("/p").Lacks("marker")
}

func TestUnknownAccountsAndActsAreRefused(t *testing.T) {
	t.Parallel()
	a, admin := administered(t)
	for _, id := range []string{"0", "3", "-1", "x", "18446744073709551616", "+2"} {
		admin.Get("/admin/accounts/" + id).Want(http.StatusNotFound)
		admin.Post("/admin/accounts/"+id, "do", "disable").Want(http.StatusNotFound)
	}
	for _, name := range []string{"", "explode", "DISABLE"} {
		admin.Post("/admin/accounts/2", "do", name).Want(http.StatusBadRequest)
	}
	if one := account(t, a, 2); !one.Active() {
		t.Errorf("%+v", one)
	}
}

func TestAccountsAreFoundByTheirAddresses(t *testing.T) {
	t.Parallel()
	a, admin := administered(t)
	admin.Get("/admin/accounts").Says("2 accounts").Says("your account")
	for i := range store.PageSize {
		a.Store.Account(fmt.Sprintf("user%03d@example.net", i))
	}
	first := admin.Get("/admin/accounts").Lacks("52 accounts").Says("user049@example.net").Lacks(bobEmail).Lacks("Newest")
	if got := strings.Count(first.Body, "@example.net</bdi>"); got != store.PageSize {
		t.Errorf("%d rows", got)
	}
	second := admin.Get(first.Page().Link("Older")).Says(bobEmail).Says("your account").Lacks("example.net").Says("Newest")
	if older := second.Page().Link("Older"); older != "" {
		t.Errorf("there are more at %s", older)
	}
	admin.Get("/admin/accounts?q=BOB").Says("1 account").Says(bobEmail).Lacks("example.net")
	admin.Get("/admin/accounts?q=bob&before=2").Says("No match")
	if got := admin.Get("/admin/accounts?q=%3Cb%3E").Says("No match"); strings.Contains(got.Body, "<b>") {
		t.Error("the words are in the page as they are")
	}
	admin.Get("/admin/accounts?q=example.net").Says("50 accounts").Lacks("before=")
	for _, query := range []string{"before=x", "before=-1", "q=" + strings.Repeat("x", 256), "q=a&q=b"} {
		admin.Get("/admin/accounts?" + query).Want(http.StatusBadRequest)
	}
}

func TestTheInstanceLogIsShownFromItsEnd(t *testing.T) {
	t.Parallel()
	a, admin := administered(t)
	operator := store.Actor{Role: store.Operator}
	for i := range 60 {
		env.OK(t, a.Store.SetDisabled(ctx, operator, bobEmail, i%2 == 0))
	}
	rows := func(got servertest.Answer) int {
		return strings.Count(got.Want(http.StatusOK).Body, `<th scope="row">`)
	}
	page := admin.Get("/admin/log").Says("Account enabled").Says("command line").Says(bobEmail)
	if rows(page) != store.PageSize {
		t.Errorf("%d rows", rows(page))
	}
	older := page.Page().Link("Older")
	if older == "" {
		t.Fatal("no link leads to older events")
	}
	second := admin.Get(older).Says("Account added").Says("Newest")
	last, err := a.Store.LastAdminEvent(ctx)
	env.OK(t, err)
	if all := rows(page) + rows(second); all != int(last) || second.Page().Link("Older") != "" {
		t.Errorf("%d rows on both pages, of %d events", all, last)
	}
	today := a.Store.Clock.Now().UTC().Format(time.DateOnly)
	for query, want := range map[string]int{
		"event=account_disable": 30, "event=account_disable&account=2": 30, "event=account_disable&account=1": 0,
		"event=admin_grant": 1, "before=1": 0, "before=2": 1, "before=99999999": store.PageSize, "account=77": 0,
		"who=BOB&event=account_disable": 30, "who=zoe": 0, "day=2001-02-03": 0, "day=" + today + "&event=account_disable": 30,
	} {
		if got := rows(admin.Get("/admin/log?" + query)); got != want {
			t.Errorf("%s: %d rows, not %d", query, got, want)
		}
	}
	for _, query := range []string{"event=nothing", "account=x", "account=-1", "before=x", "event=a&event=b", "day=today", "day=2026-02-30", "who=" + strings.Repeat("x", 256), "account=99999999999999999999"} {
		admin.Get("/admin/log?" + query).Want(http.StatusBadRequest)
	}
}

// A day of the log is what happened between two midnights in UTC, on the page and in the download.
func TestADayOfTheLogIsFound(t *testing.T) {
	t.Parallel()
	a, admin := administered(t)
	operator := store.Actor{Role: store.Operator}
	days := make([]string, 3)
	for i := range days {
		a.Store.Clock.Advance(24 * time.Hour)
		days[i] = a.Store.Clock.Now().UTC().Format(time.DateOnly)
		env.OK(t, a.Store.SetDisabled(ctx, operator, bobEmail, true))
		env.OK(t, a.Store.SetDisabled(ctx, operator, bobEmail, false))
	}
	admin = a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	for i, day := range days {
		for _, path := range []string{"/admin/log?who=bob&day=", "/admin/log.jsonl?who=bob&day="} {
			got := admin.Get(path + day).Want(http.StatusOK)
			if n := strings.Count(got.Body, "Account enabled") + strings.Count(got.Body, `"account_enable"`); n == 0 {
				t.Errorf("%s lacks what happened on day %d", path, i)
			}
			for j, other := range days {
				if j != i && strings.Contains(got.Body, other+"T") {
					t.Errorf("%s of %s has an event of %s", path, day, other)
				}
			}
		}
	}
}

func TestTheOverviewSaysHowTheServerFares(t *testing.T) {
	t.Parallel()
	a, admin := administered(t)
	a.Create(`"payload":"marker-text"`, a.AddToken(bobEmail))
	page := admin.Get("/admin").Want(http.StatusOK).Says("Overview").Says("Signed in").Says("Secrets created").Lacks("marker")
	if got := strings.Count(page.Body, `<th scope="row">`); got == 0 || got > 10 {
		t.Errorf("%d events", got)
	}
}

// With a filter, a page reads a bounded number of events, and leads to where it stopped.
func TestAFilterOfTheLogReadsABoundedNumberOfEvents(t *testing.T) {
	t.Parallel()
	env.NeedLong(t, "it makes 12,000 events")
	a, admin := administered(t)
	for range 12_000 {
		env.OK(t, a.Store.NoteReload(ctx, store.Actor{Role: store.Operator}, false, nil))
	}
	got := admin.Get("/admin/log?event=admin_grant").Says("There are no such events")
	admin.Get(got.Page().Link("Older")).Says("Became administrator").Says("Newest")
}

func TestTheActivityIsShownAsChartsAndAsATable(t *testing.T) {
	t.Parallel()
	a, admin := administered(t)
	token := a.AddToken(bobEmail)
	for range 3 {
		a.Create(`"payload":"marker-text"`, token)
	}
	a.Create(`"payload":"marker-text"`)
	today := a.Store.Clock.Now().UTC().Format(time.DateOnly)
	page := admin.Get("/admin/activity").Want(http.StatusOK).Says("Secrets created").Says("at most 3 a day").Lacks("marker").Lacks("Some numbers are missing")
	for _, want := range []string{"<title>" + today + ": 3</title>", ": 3 in total, at most 3 a day</title>", ">3</span> <span>0</span>", `<th scope="row">` + today + `</th>`} {
		if !strings.Contains(page.Body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if got := strings.Count(page.Body, `<th scope="row">`); got != 30 {
		t.Errorf("the table has %d days", got)
	}
	_, short := administered(t, func(c *config.Config) { c.PurgeAfter = 24 * time.Hour })
	short.Get("/admin/activity").Says("Some numbers are missing").Lacks("Pushes created").Says("Refused sign-ins")
}

// What the log composes of a detail is in the language of the page, in all that it knows.
func TestTheLogIsInTheLanguageOfThePage(t *testing.T) {
	t.Parallel()
	a, admin := administered(t)
	operator := store.Actor{Role: store.Operator}
	person := store.External{
		Identity: record.Identity{Issuer: "https://id.example.com", Subject: "bob"}, Provider: "Acme", Email: bobEmail, Verified: true, Link: true,
	}
	_, err := a.Store.SignInAs(ctx, store.Actor{Client: "192.0.2.9"}, person)
	env.OK(t, err)
	person.Denied, person.Why = true, "the person is in no group of allowed_groups"
	if _, err := a.Store.SignInAs(ctx, store.Actor{Client: "192.0.2.9"}, person); err == nil {
		t.Fatal("a denied person signs in")
	}
	_, err = a.Store.ExpirePushes(ctx, operator, bobEmail)
	env.OK(t, err)
	env.OK(t, a.Store.EndAccess(ctx, operator, bobEmail, true))
	env.OK(t, a.Store.RenameAccount(ctx, operator, bobEmail, "robert@example.com"))
	_, err = a.Store.Backup(ctx, operator, filepath.Join(t.TempDir(), "backup"), func(int64, int64) {})
	env.OK(t, err)
	page := admin.Get("/admin/log?lang=de").Want(http.StatusOK)
	for _, want := range []string{"durch Acme", "durch Acme, subject „bob“: die Person ist in keiner Gruppe aus allowed_groups", "Geheimnisse: 0", "auch API-Token und Webhooks wurden beendet", "vorher " + bobEmail, ", Schlüssel "} {
		page.Says(want)
	}
	for _, english := range []string{"by Acme", "the person", "0 pushes", "its API tokens", "it was", ", key "} {
		page.Lacks(english)
	}
	admin.Get("/admin/log.jsonl").Says("and its API tokens and webhooks ended").Says("it was " + bobEmail)
}
