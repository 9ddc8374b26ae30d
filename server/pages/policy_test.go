package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/testkit/oidctest"
	"pushbox/server/servertest"
)

func TestTheFormForSendingShowsThePolicy(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.Strictly)
	ann, bob := a.AddSessionUser("ann@example.com"), a.AddSessionUser("bob@example.com")
	a.GivePolicy("ann@example.com", "finance")
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
	a.GivePolicy("ann@example.com", "sealed")
	if form = a.Get("/", ann).Want(http.StatusOK); !strings.Contains(form.Tag("encrypt"), " checked disabled") || form.Tag("kind-url") != "" {
		t.Errorf("%s", form.Tag("encrypt"))
	}
	if told := a.SendForm(servertest.Typed(nil), ann).Problems(); len(told) != 1 {
		t.Errorf("%q", told)
	}
}

func TestPagesShowThePolicyOfAnAccount(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.Strictly)
	ann := a.AddSessionUser("ann@example.com")
	a.SetAdmin("ann@example.com", true)
	a.Get("/users/account", ann).Lacks("finance")
	a.GivePolicy("ann@example.com", "finance")
	a.Get("/users/account", ann).Says("finance")
	a.Get("/admin/accounts", ann).Says("Policy: <bdi>finance</bdi>")
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
