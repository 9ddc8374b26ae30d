package server_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"pushbox/internal/clientip"
	"pushbox/server/servertest"
)

// opensFrom sends the API's and the pages' requests that open a push from an address, and fails the
// test unless all may, or all are refused without a trace.
func opensFrom(a *servertest.Server, token, address string, may bool, more ...http.Header) {
	a.T.Helper()
	before := a.Trace(token)
	header := append([]http.Header{from(address)}, more...)
	page, open := a.Get("/p/"+token+"/r", header...), a.Send("/p/"+token, map[string]string{"passphrase": "open sesame"}, header...)
	right := a.Get(pushes+"/"+token+"?passphrase=open+sesame", header...)
	if may {
		page.Want(http.StatusOK).Page().Lacks("does not open from your network")
		open.Want(http.StatusOK).Page().Has("inside it")
		right.Want(http.StatusOK).Has(map[string]string{"payload": "inside it"})
		return
	}
	for _, got := range []servertest.Answer{page, open, a.Get("/p/"+token, header...), a.Send("/p/"+token, nil, header...)} {
		got.Want(http.StatusForbidden).Page().Has("This secret does not open from your network", "ask the sender").Lacks("inside it", "10.1.", "2001:db8")
		if _, asks := got.Page().Field("passphrase"); asks || strings.Contains(got.Body, "10.1.") {
			a.T.Errorf("%s gets a form: %s", address, got.Body)
		}
	}
	for _, got := range []servertest.Answer{right, a.Get(pushes+"/"+token, header...), a.Get(pushes+"/"+token+"?passphrase=wrong", header...)} {
		if got.Want(http.StatusForbidden); got.Problem() != "wrong-network" || strings.Contains(got.Body, "10.1.") {
			a.T.Errorf("%s is told %s", address, got.Body)
		}
	}
	if after := a.Trace(token); after != before {
		a.T.Errorf("from %s: %+v became %+v", address, before, after)
	}
}

func TestAPushOpensOnlyFromItsNetworks(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann, bob := a.AddTokenUser("ann@example.com"), a.AddTokenUser("bob@example.com")
	for _, sender := range []http.Header{ann, {}} {
		token := a.Create(`"payload":"inside it","passphrase":"open sesame","expire_after_views":90,"networks":["10.1.2.3/16","2001:db8::7/32","192.0.2.7"]`, sender)
		for address, may := range map[string]bool{
			"10.1.0.0": true, "10.1.255.255": true, "::ffff:10.1.2.3": true, "2001:db8:ffff::1": true, "192.0.2.7": true,
			"10.0.255.255": false, "10.2.0.0": false, "2001:db9::": false, "192.0.2.8": false, "::10.1.2.3": false, "no address": false,
		} {
			opensFrom(a, token, address, may)
			opensFrom(a, token, address, may, bob)
		}
		if sender.Get("Authorization") != "" {
			a.Get(pushes+"/"+token+"?passphrase=open+sesame", sender, from("203.0.113.7")).Want(http.StatusOK).Has(map[string]string{"payload": "inside it"})
		}
		a.Do("DELETE", pushes+"/"+token, "", from("203.0.113.7")).Want(http.StatusOK) // with the link, as the sender allows
		a.Get(pushes+"/"+token, from("203.0.113.7")).Want(http.StatusOK).Has(map[string]string{"payload": "null"})
		a.Get("/p/"+token+"/r", from("203.0.113.7")).Want(http.StatusNotFound)
	}
	for _, action := range []string{"active", "expired"} {
		a.Create(`"payload":"x","networks":"10.1.2.3/16"`, ann)
		if got := a.Get(pushes+"/"+action, ann).Want(http.StatusOK); !strings.Contains(got.Body, `"networks":["10.1.0.0/16"`) {
			t.Errorf("%s: %s", action, got.Body)
		}
	}
}

func TestAPushThatOpensAtOnceDoesSoOnlyFromItsNetworks(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.Create(`"payload":"inside it","retrieval_step":false,"networks":"10.0.0.0/8"`)
	a.Get("/p/"+token, servertest.Visit, from("11.0.0.0")).Want(http.StatusForbidden).Page().Has("does not open from your network")
	a.Get("/p/"+token, servertest.Visit, from("10.255.255.255")).Want(http.StatusOK).Page().Has("inside it")
	if trace := a.Trace(token); trace.Views != 1 {
		t.Errorf("%+v", trace)
	}
	again := a.Send("/p/"+token, nil, from("10.0.0.0")).Want(http.StatusOK)
	cookie := http.Header{}
	for _, c := range (&http.Response{Header: again.Header}).Cookies() {
		if c.Name == "again" {
			cookie.Set("Cookie", c.Name+"="+c.Value)
		}
	}
	a.Get("/p/"+token+"/r", cookie, from("10.0.0.0")).Want(http.StatusOK).Page().Has("a moment ago")
	a.Get("/p/"+token+"/r", cookie, from("11.0.0.0")).Want(http.StatusForbidden).Page().Lacks("a moment ago")
}

func TestNetworksAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	many := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, "10.0.0."+strconv.Itoa(i))
		}
		return strings.Join(all, ", ")
	}
	const none = "has no address or network as entry %: write such as 192.0.2.7, 10.0.0.0/8 or 2001:db8::/32"
	for text, want := range map[string]string{
		`""`: "[]", `null`: "[]", `[]`: "[]", `" , "`: "[]",
		`"10.1.2.3/8 , 10.0.0.0/8\t10.9.9.9/8"`:     `["10.0.0.0/8"]`,
		`["::ffff:10.1.2.3","::ffff:10.1.2.3/104"]`: `["10.1.2.3/32","10.0.0.0/8"]`,
		`["2001:DB8::1","fe80::1%eth0"]`:            `["2001:db8::1/128","fe80::1/128"]`,
		`"0.0.0.0/0 ::/0"`:                          `["0.0.0.0/0","::/0"]`,
		`"` + many(16) + `"`:                        `["10.0.0.0/32","10.0.0.1/32"`,
		`"` + many(17) + `"`:                        "has more than 16 entries: at most 16 are possible",
		`"10.0.0.0/33"`:                             strings.ReplaceAll(none, "%", "1"),
		`["10.0.0.0/8","office"]`:                   strings.ReplaceAll(none, "%", "2"),
		`["10.0.0.0/8",7]`:                          strings.ReplaceAll(none, "%", "2"),
		`[["10.0.0.0/8"]]`:                          strings.ReplaceAll(none, "%", "1"),
		`"10.0.0.0/8:80"`:                           strings.ReplaceAll(none, "%", "1"),
		`7`:                                         "must be a text",
		`{"a":"10.0.0.0/8"}`:                        "must be a text",
		`"` + strings.Repeat(" ", 2048) + `"`:       "[]",
		`"` + strings.Repeat(" ", 2049) + `"`:       "is too long (maximum is 2048 bytes)",
	} {
		got := a.Do("POST", pushes, `{"push":{"payload":"x","networks":`+text+`}}`)
		is := `"networks":` + want
		if !strings.HasPrefix(want, "[") {
			got.Want(http.StatusUnprocessableEntity)
			is = `{"networks":["` + want + `"]}`
		}
		if !strings.Contains(got.Body, is) {
			t.Errorf("%.60s: %s", text, got.Body)
		}
	}
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	for _, body := range []string{"push[networks]=10.1.2.3/8+2001:db8::/32", "push[networks][]=10.0.0.0/8&push[networks][]=2001:db8::/32"} {
		if got := a.Do("POST", pushes, "push[payload]=x&"+body, form).Want(http.StatusCreated); !strings.Contains(got.Body, `"networks":["10.0.0.0/8","2001:db8::/32"]`) {
			t.Errorf("%s: %s", body, got.Body)
		}
	}
	if clientip.MaxNetworks != 16 {
		t.Error("the documentation says 16")
	}
}

func TestTheSenderSeesTheNetworksOnItsPages(t *testing.T) {
	t.Parallel()
	a := servertest.NewSite(t)
	b := a.SignedIn(servertest.AnnEmail, servertest.AnnPassword)
	made := b.Post("/", "push[kind]", "text", "push[payload]", "x", "push[networks]", "10.1.2.3/16, ::1").Want(http.StatusSeeOther)
	receipt := b.Get(made.Header.Get("Location")).Want(http.StatusOK).Page().Has("only from 10.1.0.0/16, ::1/128")
	token := strings.Split(made.Header.Get("Location"), "/")[2]
	b.Get("/p/" + token + "/audit").Want(http.StatusOK).Page().Has("only from 10.1.0.0/16, ::1/128")
	same := receipt.Find(func(n servertest.Node) bool { return strings.Contains(servertest.Attr(n, "href"), "networks=") })
	if len(same) != 1 {
		t.Fatalf("the form with the same options: %v", same)
	}
	field := b.Get(servertest.Attr(same[0], "href")).Want(http.StatusOK).Page().ID("networks")
	if got := servertest.Attr(field, "value"); got != "10.1.0.0/16 ::1/128" {
		t.Errorf("the form has %q", got)
	}
	if got := servertest.Attr(b.Get("/?networks="+url.QueryEscape("10.0.0.0/8 office")).Page().ID("networks"), "value"); got != "" {
		t.Errorf("a wrong option is shown: %q", got)
	}
	anonymous := a.SendForm(servertest.Typed(map[string]string{"networks": "10.0.0.0/8"})).Want(http.StatusOK)
	anonymous.Page().Has("only from 10.0.0.0/8")
	wrong := b.Post("/", "push[kind]", "text", "push[payload]", "x", "push[networks]", "office").Want(http.StatusUnprocessableEntity).Page()
	wrong.Has("Enter at most 16 addresses or networks")
	if got := servertest.Attr(wrong.ID("networks"), "value"); got != "office" {
		t.Errorf("what was typed is %q", got)
	}
}
