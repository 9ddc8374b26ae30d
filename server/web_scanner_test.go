package server_test

import (
	"net/http"
	"strings"
	"testing"

	"pushbox/server/servertest"
)

func TestARequestThatPressesNoButtonCountsNoView(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for name, test := range servertest.Scanners {
		for _, step := range []string{"true", "false"} {
			token := a.Create(`"payload":"inside it","retrieval_step":` + step)
			before := a.Trace(token)
			for _, path := range []string{"/p/" + token, "/p/" + token + "/r", "/f/" + token, "/p/" + token + "?utm_source=x"} {
				got := a.Do(test.Method, path, "", test.Header)
				if got.Status >= 500 || strings.Contains(got.Body, "inside it") || got.Header.Get("Set-Cookie") != "" {
					t.Errorf("%s: %d %v", name, got.Status, got.Header)
				}
			}
			if after := a.Trace(token); after != before {
				t.Errorf("%s, with a step %s: %v became %v", name, step, before, after)
			}
		}
	}
}

func TestAPersonFollowsALinkFromAnywhere(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for _, from := range []http.Header{
		{"Sec-Fetch-Site": {"cross-site"}},
		{"Sec-Fetch-Site": {"none"}},
		{"Sec-Fetch-Site": {"same-origin"}},
		{"Referer": {"https://teams.example/"}, "Cookie": {"other=1"}},
	} {
		token := a.Create(`"payload":"inside it","retrieval_step":false`)
		a.Get("/p/"+token+"?utm_source=chat", servertest.Navigation(from)).Want(http.StatusOK).Page().Has("inside it")
		if after := a.Trace(token); after.Views != 1 {
			t.Errorf("%v: %v", from, after)
		}
	}
}
