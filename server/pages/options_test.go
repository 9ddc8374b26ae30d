package pages_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"pushbox/config"
	"pushbox/server/servertest"
)

// made sends the form, and returns the path of the receipt and the cookie that stays in the browser.
func made(t *testing.T, a *servertest.Server, fields map[string]string, by ...http.Header) (receipt string, cookie *http.Cookie) {
	t.Helper()
	bracketed := make(map[string]string)
	for name, text := range servertest.Typed(fields) {
		bracketed["push["+name+"]"] = text
	}
	got := a.Send("/", bracketed, by...).Want(http.StatusSeeOther)
	for _, c := range (&http.Response{Header: got.Header}).Cookies() {
		if c.Name == "made" {
			cookie = c
		}
	}
	if cookie == nil {
		t.Fatalf("it left %v", got.Header.Values("Set-Cookie"))
	}
	return got.Header.Get("Location"), cookie
}

func TestTheBrowserThatMadeAPushIsToldSo(t *testing.T) {
	t.Parallel()
	const (
		mistake   = "You made this. Opening it uses a view."
		elsewhere = "It is not the link to send."
	)
	a := servertest.New(t)
	receipt, cookie := made(t, a, map[string]string{"retrieval_step": servertest.Unticked})
	push, _, _ := strings.Cut(receipt, "/receipt/")
	if cookie.Path != push || !cookie.HttpOnly || cookie.MaxAge != 0 || !cookie.Expires.IsZero() {
		t.Errorf("the cookie is %v", cookie)
	}
	here := http.Header{"Cookie": {"made=1"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}
	a.Get(push+"/r", here).Page().Has(mistake)
	a.Get(push, here).Page().Has(mistake, "5 views left")
	a.Get(push + "/r").Page().Lacks("You made this")
	a.Get(receipt, here).Page().Lacks(elsewhere)
	a.Get(receipt).Page().Has(elsewhere)
	a.Get(push, http.Header{"Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}).Page().Has("hunter2", "4 views left")

	ann := a.AddSessionUser("ann@example.com")
	receipt, _ = made(t, a, nil, ann)
	push, _, _ = strings.Cut(receipt, "/receipt/")
	both := ann.Clone()
	both.Set("Cookie", both.Get("Cookie")+"; made=1")
	a.Get(push+"/r", both).Page().Has("This is your own secret. Opening it uses no view.").Lacks("You made this")
	a.Get(receipt, ann).Page().Lacks(elsewhere)
}

func TestThePathOfTheCookieBeginsWithTheBasePath(t *testing.T) {
	t.Parallel()
	a := servertest.New(t, func(c *config.Config) { c.BasePath = "/push" })
	got := a.Send("/push/", map[string]string{"push[kind]": "text", "push[payload]": "x", "push[expire_after_days]": "7", "push[expire_after_views]": "5"}).Want(http.StatusSeeOther)
	if !slices.ContainsFunc((&http.Response{Header: got.Header}).Cookies(), func(c *http.Cookie) bool {
		return c.Name == "made" && strings.HasPrefix(c.Path, "/push/p/") && strings.HasPrefix(got.Header.Get("Location"), c.Path+"/receipt/")
	}) {
		t.Errorf("%v", got.Header)
	}
}

func TestTheFormTakesTheOptionsOfAnEarlierPush(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	ann := a.AddSessionUser("ann@example.com")
	for name, test := range map[string]struct {
		fields map[string]string
		want   url.Values
	}{
		"usual":   {nil, url.Values{"kind": {"text"}, "expire_after_duration": {"12"}, "expire_after_views": {"5"}, "retrieval_step": {"on"}, "deletable_by_viewer": {"on"}}},
		"strict":  {map[string]string{"expire_after_views": "1", "expire_after_days": "5", "expire_after_unit": "hours", "expire_after_duration": "", "reveal": "type", "deletable_by_viewer": servertest.Unticked, "passphrase": "open sesame"}, url.Values{"kind": {"text"}, "expire_after_days": {"5"}, "expire_after_unit": {"hours"}, "expire_after_views": {"1"}, "retrieval_step": {"on"}, "deletable_by_viewer": {"off"}, "reveal": {"type"}}},
		"address": {map[string]string{"kind": "url", "url": "https://a", "retrieval_step": servertest.Unticked}, url.Values{"kind": {"url"}, "expire_after_duration": {"12"}, "expire_after_views": {"5"}, "retrieval_step": {"off"}, "deletable_by_viewer": {"off"}}},
	} {
		receipt, _ := made(t, a, test.fields, ann)
		push, _, _ := strings.Cut(receipt, "/receipt/")
		want := "/?" + test.want.Encode()
		for _, path := range []string{receipt, push + "/audit"} {
			if got := a.Get(path, ann).Page().Link("Send again with the same options"); got != want {
				t.Errorf("%s: %s, not %s", name, got, want)
			}
		}
		form := a.Get(want, ann).Page().Lacks("open sesame")
		for _, field := range []string{"expire_after_duration", "expire_after_days", "expire_after_unit", "expire_after_views"} {
			control := form.Find(func(n servertest.Node) bool { return servertest.Attr(n, "name") == "push["+field+"]" })[0]
			value := servertest.Attr(control, "value")
			for option := range control.Descendants() {
				if has(option, "selected") {
					value = servertest.Attr(option, "value")
				}
			}
			if test.want.Has(field) && value != test.want.Get(field) {
				t.Errorf("%s: %s is %q", name, field, value)
			}
		}
		for id, on := range map[string]bool{"kind-" + test.want.Get("kind"): true, "step": test.want.Get("retrieval_step") == "on", "typed": test.want.Has("reveal")} {
			if box := form.ID(id); box == nil || has(box, "checked") != on {
				t.Errorf("%s: %s is not %t", name, id, on)
			}
		}
		a.Send(receipt, nil, ann)
		if got := a.Get(receipt, ann).Page().Link("Send again with the same options"); got != want {
			t.Errorf("%s: after its end: %s", name, got)
		}
	}
}

// has reports whether an element has an attribute.
func has(n servertest.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

func TestTheFormIgnoresOptionsBeyondTheTerms(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	plain := a.Get("/").Page()
	for _, query := range []string{
		"expire_after_views=101", "expire_after_views=0", "expire_after_views=%3Cb%3E", "expire_after_duration=18", "expire_after_duration=-1",
		"expire_after_days=91&expire_after_unit=days", "expire_after_days=0&expire_after_unit=hours", "expire_after_days=2161&expire_after_unit=hours", "expire_after_days=3&expire_after_unit=weeks",
		"retrieval_step=maybe", "deletable_by_viewer=", "close_after_first_view=18", "close_after_first_view=x", "open_from=2026-01-02T08:00", "expires_at=2026-01-02T08:00", "reveal=press", "client_encrypted=off", "payload=x", "passphrase=x", "name=x",
	} {
		if got := a.Get("/?" + query).Page(); got.Body != plain.Body {
			t.Errorf("%s changes the form", query)
		}
	}
	for _, query := range []string{"expire_after_views=100", "expire_after_days=90&expire_after_unit=days", "expire_after_days=2160&expire_after_unit=hours", "expire_after_duration=17", "close_after_first_view=17", "client_encrypted=on"} {
		if got := a.Get("/?" + query).Page(); got.Body == plain.Body {
			t.Errorf("%s does not change the form", query)
		}
	}
}

func TestANewLinkTakesThePlaceOfOneThatWasNotOpened(t *testing.T) {
	t.Parallel()
	const anew = "Make a new link"
	a := servertest.New(t)
	again := map[string]string{"anew": "on"}
	receipt, _ := made(t, a, nil)
	push, _, _ := strings.Cut(receipt, "/receipt/")
	a.Get(receipt).Page().Has(anew)
	got := a.Send(receipt, again).Want(http.StatusSeeOther)
	if to := got.Header.Get("Location"); !strings.HasPrefix(to, "/?") || strings.Contains(to, "hunter2") {
		t.Errorf("it leads to %s", to)
	}
	a.Get(push + "/r").Want(http.StatusNotFound)

	opened, _ := made(t, a, nil)
	push, _, _ = strings.Cut(opened, "/receipt/")
	a.Send(push, nil).Want(http.StatusOK) // after the sender loaded the receipt
	a.Get(opened).Page().Lacks(anew)
	if to := a.Send(opened, again).Want(http.StatusSeeOther).Header.Get("Location"); to != opened {
		t.Errorf("one that was opened leads to %s", to)
	}

	ann := a.AddSessionUser("ann@example.com")
	own, _ := made(t, a, nil, ann)
	push, _, _ = strings.Cut(own, "/receipt/")
	page := a.Get(push+"/audit", ann).Page().Has(anew)
	_, rest, _ := strings.Cut(page.Body, `name="push-`)
	handle, _, _ := strings.Cut(rest, `"`)
	form := map[string]string{"log": "on", "anew": "on", "push-" + handle: "on"}
	if to := a.Send("/users/pushes/delete", form, ann).Want(http.StatusSeeOther).Header.Get("Location"); !strings.HasPrefix(to, "/?") || !strings.Contains(to, "kind=text") {
		t.Errorf("the owner is led to %s", to)
	}
	a.Get(push+"/audit", ann).Page().Lacks(anew).Has("Send again with the same options")
}
