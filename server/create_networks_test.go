package server_test

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/server/servertest"
)

func from(address string) http.Header { return http.Header{"X-Forwarded-For": {address}} }

func TestNetworksDecideWhoMayCreateWithoutAToken(t *testing.T) {
	t.Parallel()
	for _, anonymous := range []bool{true, false} {
		a := servertest.New(t, func(c *config.Config) {
			c.AllowAnonymous = anonymous
			c.CreateNetworks = []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("2001:db8::/32")}
		})
		ann := a.AddTokenUser("ann@example.com")
		push := `{"push":{"payload":"x"}}`
		var token string
		for address, may := range map[string]bool{
			"10.1.0.0": true, "10.1.255.255": true, "2001:db8::1": true, "::ffff:10.1.2.3": true,
			"10.0.255.255": false, "10.2.0.0": false, "2001:db9::": false, "127.0.0.1": false, "no address": false,
		} {
			made, form, sent := a.Do("POST", pushes, push, from(address)), a.Get("/", from(address)), a.SendForm(servertest.Typed(nil), from(address))
			if may {
				token = made.Want(http.StatusCreated).Text("url_token")
				form.Want(http.StatusOK)
				sent.Want(http.StatusOK)
				continue
			}
			if made.Want(http.StatusUnauthorized); made.Problem() != "unauthorized" {
				t.Errorf("%s is told %s", address, made.Body)
			}
			form.To("/users/sign_in")
			sent.To("/users/sign_in")
		}
		a.Do("POST", pushes, push).Want(http.StatusUnauthorized)
		a.Do("POST", pushes, push, ann, from("203.0.113.7")).Want(http.StatusCreated)

		want := map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[anonymous]
		for _, address := range []string{"10.1.2.3", "203.0.113.7"} { // reading is as it was
			a.Get(pushes+"/"+token, from(address)).Want(want)
			a.Get(pushes+"/"+token+"/preview", from(address)).Want(want)
			a.Get("/p/"+token+"/r", from(address)).Want(http.StatusOK)
		}
	}
}

func TestOnlyATrustedProxyNamesTheClient(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) {
		c.TrustedProxies = nil
		c.CreateNetworks = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	a.Do("POST", pushes, `{"push":{"payload":"x"}}`, from("10.1.2.3")).Want(http.StatusUnauthorized)
}

func TestTheDocumentationSaysThatAccessDependsOnTheAddress(t *testing.T) {
	t.Parallel()
	for _, anonymous := range []bool{true, false} {
		a := servertest.New(t, func(c *config.Config) {
			c.AllowAnonymous, c.CreateNetworks = anonymous, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		})
		words := a.Get("/help/api").Page().Words()
		if n := strings.Count(words, "and anyone at an address that may create without one"); n != 1 {
			t.Errorf("it is said %d times", n)
		}
		doc := a.Get("/api/v2/openapi").Object()["paths"].(map[string]any)[pushes].(map[string]any)["post"].(map[string]any)
		security, responses := doc["security"].([]any), doc["responses"].(map[string]any)
		needsNothing := func(need any) bool { return len(need.(map[string]any)) == 0 }
		if !slices.ContainsFunc(security, needsNothing) || len(security) < 2 || responses["401"] == nil {
			t.Errorf("anonymous %v: %v, %v", anonymous, security, responses["401"])
		}
	}
}
