package pages_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pushbox/config"
	"pushbox/server/servertest"
)

// again returns the cookie with which a browser shows a view again; nil: the answer sets none.
func again(got servertest.Answer) http.Header {
	for _, c := range (&http.Response{Header: got.Header}).Cookies() {
		if c.Name == "again" {
			return http.Header{"Cookie": {c.Name + "=" + c.Value}}
		}
	}
	return nil
}

func TestAReloadShowsTheSameViewForAMoment(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	const text = `<hunter2> & "co"`
	token := a.Create(`"payload":"<hunter2> & \"co\"","expire_after_views":1,"passphrase":"open sesame 5781"`)
	path := "/p/" + token
	first := a.Send(path, map[string]string{"passphrase": "open sesame 5781"}).Want(http.StatusOK)
	if got := first.Header.Values("Set-Cookie"); !slices.ContainsFunc(got, func(c string) bool {
		return strings.HasPrefix(c, "again=") && strings.Contains(c, "Path="+path+"; Max-Age=60; HttpOnly")
	}) {
		t.Errorf("its cookies are %v", got)
	}
	cookie := again(first)
	for _, at := range []string{path, path + "/r"} { // to where a script moves the page of a view
		step := a.Get(at, cookie).Want(http.StatusOK).Page()
		step.Has("You opened this a moment ago").Lacks("hunter2")
		if _, asks := step.Field("passphrase"); asks {
			t.Error("it asks for the passphrase again")
		}
	}
	for range 3 {
		if got := a.Send(path, nil, cookie).Want(http.StatusOK); !strings.Contains(got.Page().Words(), text) || again(got) != nil {
			t.Errorf("it shows %s", got.Page().Words())
		}
	}
	if trace := a.Trace(token); trace.Views != 1 {
		t.Errorf("%+v", trace)
	}
	for name, header := range map[string]http.Header{
		"no key": {}, "another key": {"Cookie": {"again=" + base64.RawURLEncoding.EncodeToString(make([]byte, 32))}}, "no key at all": {"Cookie": {"again=x"}},
	} {
		if got := a.Send(path, nil, header); got.Status != http.StatusNotFound {
			t.Errorf("%s: %d", name, got.Status)
		}
	}
	other := "/p/" + a.Create(`"payload":"not yet"`)
	a.Get(other+"/r", cookie).Want(http.StatusOK).Page().Lacks("a moment ago")

	a.Store.Clock.Advance(59 * time.Second)
	a.Get(path, cookie).Want(http.StatusOK)
	a.Store.Clock.Advance(time.Second)
	a.Get(path, cookie).Want(http.StatusNotFound)
	a.Send(path, nil, cookie).Want(http.StatusNotFound)
}

func TestAnEndIsTheEndForAReload(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	for name, end := range map[string]func(path string){
		"a delete": func(path string) { a.Send(path+"/expire", nil).Want(http.StatusOK) },
		"its time": func(string) { a.Store.Clock.Advance(30 * time.Second) },
	} {
		token := a.Create(`"payload":"x","deletable_by_viewer":true,"expire_after_duration":0`)
		a.Store.Clock.Advance(15*time.Minute - 10*time.Second)
		cookie := again(a.Send("/p/"+token, nil).Want(http.StatusOK))
		a.Get("/p/"+token+"/r", cookie).Want(http.StatusOK).Page().Has("a moment ago")
		end("/p/" + token)
		if got := a.Send("/p/"+token, nil, cookie); got.Status != http.StatusNotFound {
			t.Errorf("after %s: %d", name, got.Status)
		}
	}
}

func TestFilesComeAgainToo(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	token := a.PushFiles("ann@example.com", []byte("the content")).Token.Reveal()
	first := a.Send("/p/"+token, nil).Want(http.StatusOK)
	second := a.Send("/p/"+token, nil, again(first)).Want(http.StatusOK)
	if got, want := second.Page().Elements("main")[0], first.Page().Elements("main")[0]; servertest.TextOf(got) != servertest.TextOf(want) {
		t.Errorf("%s is not %s", servertest.TextOf(got), servertest.TextOf(want))
	}
}

func TestNothingIsKeptForAReload(t *testing.T) {
	t.Parallel()
	off := servertest.New(t, func(c *config.Config) { c.ReloadWindow = 0 })
	on := servertest.New(t)
	ann := on.AddSessionUser("ann@example.com")
	on.SendForm(servertest.Typed(nil), ann)
	_, rest, _ := strings.Cut(on.Get("/p", ann).Body, `href="/p/`)
	for name, got := range map[string]servertest.Answer{
		"where it is off": off.Send("/p/"+off.Create(`"payload":"x"`), nil),
		"for an owner":    on.Send("/p/"+rest[:34], nil, ann),
		"by the API":      on.Get("/api/v2/pushes/" + on.Create(`"payload":"x"`)),
	} {
		if got.Want(http.StatusOK); again(got) != nil {
			t.Errorf("%s: a view is kept", name)
		}
	}
}

func TestTheMemoryForReloadsIsBounded(t *testing.T) {
	t.Parallel()
	a := servertest.New(t)
	text := strings.Repeat("x", 1<<20)
	kept := 0
	for range 20 {
		got := a.Send("/p/"+a.Create(`"payload":"`+text+`"`), nil).Want(http.StatusOK)
		if again(got) != nil {
			kept++
		}
	}
	if kept < 1 || kept > 15 {
		t.Errorf("%d of 20 are kept", kept)
	}
	a.Store.Clock.Advance(time.Minute)
	if got := a.Send("/p/"+a.Create(`"payload":"`+text+`"`), nil).Want(http.StatusOK); again(got) == nil {
		t.Error("the memory does not come back")
	}
}
