package api_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/server/servertest"
)

func TestACreateAnswersWithTheLinkAloneForAClientThatWantsText(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, servertest.TakesRequests)
	ann := a.AddTokenUser("ann@example.com")
	text := func(accept string) http.Header {
		return http.Header{"Accept": {accept}, "Authorization": ann["Authorization"]}
	}
	for _, accept := range []string{"text/plain", "text/plain; charset=utf-8", "TEXT/Plain", "text/*", "text/plain, */*;q=0.1", "application/json;q=0.5, text/plain;q=0.9"} {
		for path, body := range map[string]string{pushes: `{"push":{"payload":"x"}}`, "/p.json": `{"password":{"payload":"x"}}`, requests: `{"request":{"text":"x"}}`} {
			got := a.Do("POST", path, body, text(accept)).Want(http.StatusCreated)
			if got.Header.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.HasPrefix(got.Body, "http://") || strings.Count(got.Body, "\n") != 1 || !strings.HasSuffix(got.Body, "\n") {
				t.Fatalf("%s with %s: %v %q", path, accept, got.Header, got.Body)
			}
			a.Get("/"+strings.SplitN(strings.TrimSpace(got.Body), "/", 4)[3], nil).Want(http.StatusOK)
		}
	}
	for _, accept := range []string{"", "*/*", "text/html", "application/json, text/plain, */*", "text/plain;q=0", "text/plain;q=x", "text/plain, application/json", "text/html,*/*;q=0.8", "?"} {
		got := a.Do("POST", pushes, `{"push":{"payload":"x"}}`, text(accept)).Want(http.StatusCreated)
		if got.Header.Get("Content-Type") != "application/json; charset=utf-8" || got.Text("url_token") == "" {
			t.Errorf("%s: %v %s", accept, got.Header, got.Body)
		}
	}
}

func TestErrorsOfACreateAreSentencesForAClientThatWantsText(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	text := http.Header{"Accept": {"text/plain"}}
	bad := http.Header{"Accept": {"text/plain"}, "Authorization": {"Bearer x"}}
	for _, c := range []struct {
		path, body string
		header     http.Header
		status     int
		want       string
	}{
		{pushes, `{"push":{"payload":"","expire_after_days":0}}`, text, 422, "expire_after_days must be between 1 and 90.\npayload is required.\n"},
		{pushes, `{`, text, 400, "The request body is not valid JSON as this API reads it: "},
		{pushes, `{"push":{"payload":"x"}}`, bad, 401, "The API token is not valid.\n"},
		{pushes, `{"push":{"kind":"file"}}`, text, 401, "This needs an API token: send it as Authorization: Bearer TOKEN.\n"},
	} {
		got := a.Do("POST", c.path, c.body, c.header).Want(c.status)
		if got.Header.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.HasPrefix(got.Body, c.want) || !strings.HasSuffix(got.Body, ".\n") {
			t.Errorf("%s: %v %q", c.body, got.Header, got.Body)
		}
	}
	// Other answers are JSON, whatever a client wants.
	a.Get("/api/v2/version", text).Want(http.StatusOK).Has(map[string]string{"api_version": "2.1"})
	if got := a.Get(pushes+"/nothing", text).Want(http.StatusNotFound); got.Problem() != "not-found" {
		t.Errorf("an unknown push: %s", got.Body)
	}
}
