package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/servertest"
	"pushbox/store"
	"pushbox/store/record"
)

func TestUsersManageTheirWebhooks(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	a.AddAccount("bob@example.com", servertest.AnnPassword)
	ann, bob := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword), a.SignedIn("bob@example.com", servertest.AnnPassword)
	ann.Get("/users/webhooks").Want(http.StatusOK).Says("No webhooks yet.")
	add := func(address string, more ...string) servertest.Answer {
		return ann.Post("/users/webhooks", append([]string{"url", address, "password", servertest.AnnPassword}, more...)...)
	}
	add("http://hooks.example", "event_view", "on").Want(http.StatusUnprocessableEntity).Says("begins with https://")
	add("https://hooks.example").Want(http.StatusUnprocessableEntity).Says("Choose at least one event")
	ann.Post("/users/webhooks", "url", "https://hooks.example", "event_view", "on", "password", "wrong").Want(http.StatusForbidden).Says("No webhook was added.")
	made := add("https://hooks.example/path-marker", "event_view", "on", "event_expire", "on").Want(http.StatusCreated).Says("whsec_", "hooks.example").Lacks("marker")
	add("https://down.example", "event_freeze", "on", "form", "carrier pigeon").Want(http.StatusBadRequest)
	if kept := add("http://down.example", "event_freeze", "on", "form", "teams").Want(http.StatusUnprocessableEntity); !strings.Contains(kept.Body, `<option value="teams" selected>`) {
		t.Error("the form forgets what was chosen")
	}
	add("https://down.example", "event_freeze", "on", "form", "teams").Want(http.StatusCreated)
	if list := env.Must(a.Store.Hooks(ctx, servertest.AnnEmail))(t); list[0].Form != record.FormStandard || list[1].Form != record.FormTeams {
		t.Errorf("their forms are %v and %v", list[0].Form, list[1].Form)
	}
	page := ann.Get("/users/webhooks").Want(http.StatusOK).Says("hooks.example", "down.example", "Nothing was sent yet.", "JSON for a program: ", "Microsoft Teams: ").Lacks("marker", "whsec_")
	if strings.Contains(page.Body, made.Inner("token")) {
		t.Error("the list shows a secret")
	}

	ann.Post("/users/webhooks/test", "id", "1").To("/users/webhooks")
	ann.Get("/users/webhooks").Says("The receiver took the test.", "Status 204")
	ann.Post("/users/webhooks/test", "id", "2").To("/users/webhooks")
	ann.Get("/users/webhooks").Says("The test failed", "It cannot be reached")

	ann.Get("/users/account/export").Says(`"event":"test","status":204`, `"form":"teams"`)

	bob.Post("/users/webhooks/test", "id", "1").To("/users/webhooks")
	bob.Post("/users/webhooks/remove", "id", "1").To("/users/webhooks")
	bob.Get("/users/webhooks").Lacks("hooks.example")
	ann.Get("/users/webhooks").Says("hooks.example")

	env.OK(t, a.Store.DisableHook(ctx, store.Actor{Role: store.System}, 1, true))
	ann.Get("/users/webhooks").Says("disabled", "Status 204") // what was tried stays
	ann.Post("/users/webhooks/test", "id", "1").To("/users/webhooks")
	ann.Get("/users/webhooks").Lacks("until a test succeeds")
	ann.Post("/users/webhooks/remove", "id", "1").To("/users/webhooks")
	ann.Get("/users/webhooks").Says("The webhook was removed.").Lacks("hooks.example")
}

func TestAWebhookTakesTheSecondFactorOfItsAccount(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	ann := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	_, recovery := ann.EnableMFA()
	add := func(code string) servertest.Answer {
		return ann.Post("/users/webhooks", "url", "https://hooks.example", "event_view", "on", "password", servertest.AnnPassword, "code", code)
	}
	add("").Want(http.StatusForbidden)
	add(recovery[0]).Want(http.StatusCreated)
	add(recovery[0]).Want(http.StatusForbidden) // it was used
}

func TestAnAddressThatIsNotConfirmedHasNoWebhooks(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t, servertest.SignUps)
	if _, err := a.Store.SignUp(ctx, store.Actor{}, eveEmail, secret.New(evePassword)); err != nil {
		t.Fatal(err)
	}
	eve := a.Browser()
	eve.SignIn(eveEmail, evePassword).To("/")
	eve.Get("/users/webhooks").Want(http.StatusOK).Says("Confirm your address first")
	eve.Post("/users/webhooks", "url", "https://hooks.example", "event_view", "on", "password", evePassword).Want(http.StatusForbidden)
	if list, err := a.Store.Hooks(ctx, eveEmail); err != nil || len(list) != 0 {
		t.Errorf("it has %v, %v", list, err)
	}
}
