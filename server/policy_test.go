package server_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/env"
	"pushbox/internal/testkit/oidctest"
	"pushbox/server/servertest"
	"pushbox/store/storetest"
)

// strictly has a policy for accounts, and rules for all.
func strictly(c *config.Config) {
	sendsMail(c)
	c.EnableRequests = true
	c.Policy.ExpireAfterViewsMax = 50
	c.Policies = []config.NamedPolicy{{Name: "finance", Policy: config.Policy{
		Kinds: []string{"text", "file"}, RequirePassphrase: config.On, EnableMail: config.Off,
		ExpireAfterDaysDefault: 2, ExpireAfterDaysMax: 3, ExpireAfterViewsMax: 4, MaxFileUploads: 1, MaxFileSize: 1024,
	}}, {Name: "sealed", Policy: config.Policy{RequireEncryption: config.On}}}
}

func give(a *servertest.Server, email, policy string) {
	a.T.Helper()
	env.OK(a.T, a.Store.SetPolicy(ctx, storetest.Operator, email, policy))
}

func TestAPolicyHoldsForBothVersionsOfTheAPI(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, strictly)
	ann, bob := a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")
	give(a, "ann@example.com", "finance")
	for fields, want := range map[string]string{
		`"passphrase":"p"`:                       "",
		``:                                       `{"passphrase":["is required by this server's rules"]}`,
		`"passphrase":" "`:                       `{"passphrase":["is required by this server's rules"]}`,
		`"passphrase":"p","expire_after_days":3`: "",
		`"passphrase":"p","expire_after_days":4`: `{"expire_after_days":["must be between 1 and 3"]}`,
		`"passphrase":"p","expire_after_duration":8`:          "",
		`"passphrase":"p","expire_after_duration":9`:          `{"expire_after_duration":["must be between 1 and 3 days"]}`,
		`"passphrase":"p","expire_after_views":4`:             "",
		`"passphrase":"p","expire_after_views":5`:             `{"expire_after_views":["must be between 1 and 4"]}`,
		`"passphrase":"p","kind":"qr"`:                        `{"kind":["qr pushes are disabled"]}`,
		`"passphrase":"p","notify_emails_to":"a@example.net"`: `{"notify_emails_to":["must be empty: by this server's rules, no mail has links"]}`,
	} {
		body := `{"push":{` + strings.TrimSuffix(`"payload":"x",`+fields, ",") + `}}`
		got := a.Do("POST", pushes, body, ann)
		if want != "" {
			if got.Want(http.StatusUnprocessableEntity); strings.TrimSpace(got.Body) != want {
				t.Errorf("%s: %s, not %s", body, got.Body, want)
			}
			a.Do("POST", pushes, body, bob).Want(http.StatusCreated)
			continue
		}
		got.Want(http.StatusCreated)
	}
	a.Do("POST", pushes, `{"push":{"payload":"x","passphrase":"p"}}`, ann).Has(map[string]string{"expire_after_days": "2", "expire_after_views": "4"})
	a.Do("POST", "/p.json", `{"password":{"payload":"x"}}`, ann).Want(http.StatusUnprocessableEntity)
	a.Do("POST", "/p.json", `{"password":{"payload":"x","passphrase":"p","expire_after_days":4}}`, ann).Want(http.StatusCreated).Has(map[string]string{"expire_after_days": "2"})
	a.Do("POST", pushes, `{"push":{"payload":"x","expire_after_views":51}}`).Want(http.StatusUnprocessableEntity)
	a.Do("POST", pushes, `{"push":{"payload":"x","expire_after_views":50}}`).Want(http.StatusCreated)
	file := func(n int) string { return `{"filename":"f","content":"` + strings.Repeat("AAAA", n) + `"}` }
	for files, status := range map[string]int{file(341): 201, file(342): 413, file(1) + "," + file(1): 422} {
		a.Do("POST", pushes, `{"push":{"passphrase":"p","files":[`+files+`]}}`, ann).Want(status)
		a.Do("POST", pushes, `{"push":{"passphrase":"p","files":[`+files+`]}}`, bob).Want(http.StatusCreated)
	}
}

func TestAClientThatDoesNotEncryptIsToldHowTo(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, strictly)
	ann := a.AddTokenUser("ann@example.com")
	give(a, "ann@example.com", "sealed")
	got := a.Do("POST", pushes, `{"push":{"payload":"x"}}`, ann).Want(http.StatusUnprocessableEntity)
	if !strings.Contains(got.Body, "pushbox push --end-to-end") {
		t.Error(got.Body)
	}
	a.Do("POST", pushes, `{"push":{"payload":"`+envelope(t, "x")+`"}}`, ann).Want(http.StatusCreated)
	a.Do("POST", pushes, `{"push":{"payload":"https://example.com","kind":"url"}}`, ann).Want(http.StatusUnprocessableEntity)
}

func TestTheFormForSendingShowsThePolicy(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, strictly)
	ann, bob := a.AddSessionUser("ann@example.com"), a.AddSessionUser("bob@example.com")
	give(a, "ann@example.com", "finance")
	form := a.Get("/", ann).Want(http.StatusOK)
	if form.Tag("kind-text") == "" || form.Tag("kind-file") == "" || form.Tag("kind-url")+form.Tag("kind-qr") != "" {
		t.Error("the form has other kinds")
	}
	if !strings.Contains(form.Tag("passphrase"), " required") || !strings.Contains(form.Body, "Passphrase (required)") || form.Tag("mail-to") != "" {
		t.Errorf("%s %s", form.Tag("passphrase"), form.Tag("mail-to"))
	}
	if !strings.Contains(form.Tag("views"), `max="4"`) || form.TypedInto("days") != "2" {
		t.Errorf("%s %s", form.Tag("views"), form.Tag("days"))
	}
	other := a.Get("/", bob).Want(http.StatusOK)
	if strings.Contains(other.Tag("passphrase"), " required") || other.Tag("mail-to") == "" || other.Tag("kind-qr") == "" || !strings.Contains(other.Tag("views"), `max="50"`) {
		t.Error("the policy of one account holds for another")
	}
	again := a.SendForm(servertest.Typed(map[string]string{"expire_after_days": "3", "expire_after_views": "4"}), ann)
	if told := again.Problems(); len(told) != 1 || !strings.Contains(told[0], "Enter a passphrase") {
		t.Errorf("%q", told)
	}
	a.SendForm(servertest.Typed(map[string]string{"expire_after_days": "3", "expire_after_views": "4", "passphrase": "p"}), ann).PushToken()
	give(a, "ann@example.com", "sealed")
	if form = a.Get("/", ann).Want(http.StatusOK); !strings.Contains(form.Tag("encrypt"), " checked disabled") || form.Tag("kind-url") != "" {
		t.Errorf("%s", form.Tag("encrypt"))
	}
	if told := a.SendForm(servertest.Typed(nil), ann).Problems(); len(told) != 1 {
		t.Errorf("%q", told)
	}
}

func TestPagesShowThePolicyOfAnAccount(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, strictly)
	ann := a.AddSessionUser("ann@example.com")
	makeAdmin(a, "ann@example.com", true)
	a.Get("/users/account", ann).Lacks("finance")
	give(a, "ann@example.com", "finance")
	a.Get("/users/account", ann).Says("finance")
	a.Get("/admin", ann).Says("Policy: <bdi>finance</bdi>")
	page := a.Get("/admin/accounts/1", ann).Says("finance", "sealed").Lacks("not in the settings")
	if !strings.Contains(page.Body, "<option selected>finance</option>") {
		t.Error(page.Body)
	}
	a.Do("POST", "/admin/accounts/1", "do=policy&policy=nothing", ann, servertest.Urlencoded).Want(http.StatusNotFound)
	a.Do("POST", "/admin/accounts/1", "do=policy&policy=sealed", ann, servertest.Urlencoded).Want(http.StatusSeeOther)
	a.Get("/users/account", ann).Says("sealed")
}

// byGroup has a policy for people of a group.
func byGroup(c *config.Config) {
	c.Policies = []config.NamedPolicy{{Name: "finance", Groups: []string{"money"}}}
}

func wantPolicy(a *servertest.Server, email, want string) {
	a.T.Helper()
	if one, err := a.Store.AccountByEmail(ctx, email); err != nil || one.Policy != want {
		a.T.Errorf("%s has the policy %q, not %q, %v", email, one.Policy, want, err)
	}
}

func TestGroupsOfAProxyDecideThePolicy(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, behindProxy(byGroup))
	for groups, want := range map[string]string{"staff, money": "finance", "staff": ""} {
		asNamed(a.Browser(), "/users/sign_in", "pat@example.com", groups).To("/")
		wantPolicy(a, "pat@example.com", want)
	}
}

// Policies alone make pushbox ask the provider for groups that its token lacks.
func TestGroupsOfAProviderDecideThePolicy(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		p := oidctest.New(t)
		a := servertest.NewSite(t, office(p), byGroup)
		p.Now = a.Store.Clock.Now
		for _, groups := range [][]string{{"staff", "money"}, {"staff"}} {
			p.Person["groups"], p.More = groups, nil
			if elsewhere {
				delete(p.Person, "groups")
				p.More = oidctest.Claims{"groups": groups}
			}
			b := a.Browser()
			b.Get(atProvider(b, "office")).To("/")
			want := ""
			if len(groups) == 2 {
				want = "finance"
			}
			wantPolicy(a, "pat@example.com", want)
		}
	}
}
