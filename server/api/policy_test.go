package api_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/server/servertest"
)

func TestAPolicyHoldsForBothVersionsOfTheAPI(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.Strictly)
	ann, bob := a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")
	a.GivePolicy("ann@example.com", "finance")
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
	a := servertest.New(t, servertest.Strictly)
	ann := a.AddTokenUser("ann@example.com")
	a.GivePolicy("ann@example.com", "sealed")
	got := a.Do("POST", pushes, `{"push":{"payload":"x"}}`, ann).Want(http.StatusUnprocessableEntity)
	if !strings.Contains(got.Body, "pushbox push --end-to-end") {
		t.Error(got.Body)
	}
	a.Do("POST", pushes, `{"push":{"payload":"`+servertest.Envelope(t, "x")+`"}}`, ann).Want(http.StatusCreated)
	a.Do("POST", pushes, `{"push":{"payload":"https://example.com","kind":"url"}}`, ann).Want(http.StatusUnprocessableEntity)
}
