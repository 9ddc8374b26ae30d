package server_test

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pushbox/config"
)

func from(address string) http.Header { return http.Header{"X-Forwarded-For": {address}} }

func TestNetworksDecideWhoMayCreateWithoutAToken(t *testing.T) {
	t.Parallel()
	for _, anonymous := range []bool{true, false} {
		a := newAPI(t, func(c *config.Config) {
			c.AllowAnonymous = anonymous
			c.CreateNetworks = []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("2001:db8::/32")}
		})
		ann := a.user("ann@example.com")
		push := `{"push":{"payload":"x"}}`
		var token string
		for address, may := range map[string]bool{
			"10.1.0.0": true, "10.1.255.255": true, "2001:db8::1": true, "::ffff:10.1.2.3": true,
			"10.0.255.255": false, "10.2.0.0": false, "2001:db9::": false, "127.0.0.1": false, "no address": false,
		} {
			made, form, sent := a.do("POST", pushes, push, from(address)), a.get("/", from(address)), a.sendForm(typed(nil), from(address))
			if may {
				token = made.want(http.StatusCreated).text("url_token")
				form.want(http.StatusOK)
				sent.want(http.StatusCreated)
				continue
			}
			if made.want(http.StatusUnauthorized); made.problem() != "unauthorized" {
				t.Errorf("%s is told %s", address, made.body)
			}
			form.to("/users/sign_in")
			sent.to("/users/sign_in")
		}
		a.do("POST", pushes, push).want(http.StatusUnauthorized)
		a.do("POST", pushes, push, ann, from("203.0.113.7")).want(http.StatusCreated)

		want := map[bool]int{true: http.StatusOK, false: http.StatusUnauthorized}[anonymous]
		for _, address := range []string{"10.1.2.3", "203.0.113.7"} { // reading is as it was
			a.get(pushes+"/"+token, from(address)).want(want)
			a.get(pushes+"/"+token+"/preview", from(address)).want(want)
			a.get("/p/"+token+"/r", from(address)).want(http.StatusOK)
		}
	}
}

func TestWhoTheClientIsSaysAProxyOnlyIfItIsTrusted(t *testing.T) {
	t.Parallel()
	a := newAPI(t, func(c *config.Config) {
		c.TrustedProxies = nil
		c.CreateNetworks = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	})
	a.do("POST", pushes, `{"push":{"payload":"x"}}`, from("10.1.2.3")).want(http.StatusUnauthorized)
}

func TestTheDocumentationTellsThatItDependsOnTheAddress(t *testing.T) {
	t.Parallel()
	for _, anonymous := range []bool{true, false} {
		a := newAPI(t, func(c *config.Config) {
			c.AllowAnonymous, c.CreateNetworks = anonymous, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
		})
		words := a.get("/help/api").page().words()
		if n := strings.Count(words, "and everybody at an address that may create without one"); n != 1 {
			t.Errorf("it is said %d times", n)
		}
		doc := a.get("/api/v2/openapi").object()["paths"].(map[string]any)[pushes].(map[string]any)["post"].(map[string]any)
		security, responses := doc["security"].([]any), doc["responses"].(map[string]any)
		nobody := func(need any) bool { return len(need.(map[string]any)) == 0 }
		if !slices.ContainsFunc(security, nobody) || len(security) < 2 || responses["401"] == nil {
			t.Errorf("anonymous %v: %v, %v", anonymous, security, responses["401"])
		}
	}
}
