package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

// shown is a retrieval's answer with that payload, and more members.
func shown(payload, more string) string {
	return `{"url_token":"` + aToken + `","expired":false,"payload":"` + payload + `"` + more + `}`
}

func TestARetrievalIsReadFromEitherServer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, body string
		want       string // payload, views, files
	}{
		{
			"pushbox",
			shown("p", `,"kind":"text","views_remaining":4,"expire_after_days":7,"files":[{"filename":"a.txt","content_type":"text/plain","size":3,"url":"https://h/x"}]`),
			"p 4 7 [a.txt 3]",
		},
		{"Password Pusher", shown("p", `,"views_remaining":0,"files":[{"filename":"a.txt","content_type":"text/plain","url":"https://h/x"}]`), "p 0 -1 [a.txt -1]"},
		{"its last view, told as expired", `{"expired":true,"payload":"p","files":[]}`, "p -1 -1 []"},
		{"numbers as text", shown("p", `,"views_remaining":"3","expire_after_days":"12"`), "p 3 12 []"},
		{"odd types where they do no harm", shown("p", `,"views_remaining":1.5,"files":"none","html_url":7,"kind":null`), "p -1 -1 []"},
		{"no payload", `{"expired":false,"payload":null,"files":null}`, " -1 -1 []"},
		{"exactly", shown(`a\u0000\r\n\u00e4\ud83d\ude00\u001b `, ""), "a\x00\r\nä😀\x1b  -1 -1 []"},
	} {
		f := serving(t, says(http.StatusOK, test.body))
		p, err := f.client().Retrieve(t.Context(), f.link(), secret.Text{})
		files := []string{}
		for _, file := range p.Files {
			files = append(files, fmt.Sprint(file.Name, " ", file.Size))
		}
		if got := fmt.Sprint(p.Payload.Reveal(), " ", p.ViewsRemaining, " ", p.Days, " ", files); err != nil || got != test.want {
			t.Errorf("%s: %q, %v; want %q", test.name, got, err, test.want)
		}
		if p.PassphraseInURL {
			t.Errorf("%s: there was no passphrase", test.name)
		}
	}
}

func TestRequestsAreAsTheAPIWantsThem(t *testing.T) {
	t.Parallel()
	f := serving(t, says(http.StatusOK, shown("p", "")))
	c := f.client()
	env.Must(c.Retrieve(t.Context(), f.link(), secret.Text{}))(t)
	env.OK(t, c.Expire(t.Context(), f.link()))
	for i, method := range []string{http.MethodGet, http.MethodDelete} {
		r := f.requests()[i]
		if r.Method != method || r.RequestURI != "/api/v2/pushes/"+aToken || r.Header.Get("Accept") != "application/json" ||
			r.Header.Get("User-Agent") != "pushbox/test" || r.Header.Get("Authorization") != "Bearer "+apiKey || r.Header.Get("X-Push-Passphrase") != "" {
			t.Errorf("%s %s %v", r.Method, r.RequestURI, r.Header)
		}
	}
}

func TestTheTokenGoesToItsOwnServerAlone(t *testing.T) {
	t.Parallel()
	home, other := serving(t, says(http.StatusOK, shown("p", ""))), serving(t, says(http.StatusOK, shown("p", "")))
	c := home.client()
	env.Must(c.Retrieve(t.Context(), other.link(), secret.Text{}))(t)
	env.OK(t, c.Expire(t.Context(), other.link()))
	homeless := New(Options{Token: secret.New(apiKey), Stall: time.Minute})
	env.OK(t, homeless.Expire(t.Context(), other.link()))
	for _, r := range other.requests() {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("%s carried the token", r.Method)
		}
	}
}

// withPassphrase behaves as pushbox does, or without a header as Password Pusher.
func withPassphrase(right, header string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		given, message := r.URL.Query().Get("passphrase"), ""
		if header != "" {
			given, message = r.Header.Get(header)+given, `,"message":"Give it in the header `+header+`."`
		}
		if given != right {
			says(http.StatusUnauthorized, `{"error":"That passphrase is incorrect."`+message+`}`)(w, r)
			return
		}
		says(http.StatusOK, shown("p", ""))(w, r)
	}
}

func TestThePassphraseStaysOutOfTheURLWhereItCan(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, header, right, given string
		requests                   int
		inURL, ok                  bool
	}{
		{"pushbox", passphraseHeader, "pass-marker", "pass-marker", 1, false, true},
		{"pushbox, a wrong one", passphraseHeader, "pass-marker", "other", 1, false, false},
		{"pushbox, none", passphraseHeader, "pass-marker", "", 1, false, false},
		{"pushbox, letters beyond ASCII", passphraseHeader, "pässwört", "pässwört", 1, false, true},
		{"pushbox, blanks around it", passphraseHeader, " p ", " p ", 1, true, true},
		{"pushbox, a line end in it", passphraseHeader, "p\nq", "p\nq", 1, true, true},
		{"Password Pusher", "", "pass-marker", "pass-marker", 2, true, true},
		{"Password Pusher, a wrong one", "", "pass-marker", "other", 2, false, false},
		{"Password Pusher, none", "", "pass-marker", "", 1, false, false},
	} {
		f := serving(t, withPassphrase(test.right, test.header))
		p, err := f.client().Retrieve(t.Context(), f.link(), secret.New(test.given))
		if (err == nil) != test.ok || !test.ok && !errors.Is(err, ErrPassphrase) {
			t.Errorf("%s: %v", test.name, err)
		}
		silent(t, err)
		asked := f.requests()
		if len(asked) != test.requests || p.PassphraseInURL != test.inURL {
			t.Errorf("%s: %d requests, in the URL: %v", test.name, len(asked), p.PassphraseInURL)
		}
		if !test.inURL && test.header != "" && asked[0].URL.RawQuery != "" {
			t.Errorf("%s: the query is %s", test.name, asked[0].URL.RawQuery)
		}
	}
}

func TestWhatHasExpiredIsToldApart(t *testing.T) {
	t.Parallel()
	f := serving(t, says(http.StatusOK, `{"expired":true,"payload":null,"files":[]}`))
	_, err := f.client().Retrieve(t.Context(), f.link(), secret.Text{})
	env.ErrorIs(t, "it", err, ErrExpired)
}

func TestRefusalsAreToldInTheServersWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status     int
		retry      string
		body, want string
		wait       time.Duration
	}{
		{404, "", `{"error":"not-found","message":"There is nothing at this address."}`, "There is nothing at this address.", 0},
		{404, "", `{"error":"not-found"}`, "not-found", 0},
		{404, "", `{"error":"not-found","code":"not-found","message":"There is nothing at this address."}`, "There is nothing at this address.", 0},
		{403, "", `{"error":"That push doesn't belong to you.","code":"forbidden"}`, "That push doesn't belong to you.", 0},
		{401, "", `{"error":"unauthorized","message":"The API token is not valid."}`, "The API token is not valid.", 0},
		{422, "", `{"payload":["is required"],"expire_after_days":["is too large","is odd"]}`, "expire_after_days is too large; expire_after_days is odd; payload is required", 0},
		{422, "", `{"error":"Kind is not included in the list"}`, "Kind is not included in the list", 0},
		{429, "17", `{"error":"too-many-requests","message":"Try later."}`, "Try later.", 17 * time.Second},
		{429, "99999999999", `{}`, "the server answers 429 Too Many Requests", 24 * time.Hour},
		{429, "-5", ``, "the server answers 429 Too Many Requests", 0},
		{503, "Fri, 31 Dec 1999 23:59:59 GMT", `<html>`, "the server answers 503 Service Unavailable", 0},
		{507, "", `{"error":"insufficient-storage","message":"The server has no space left for this."}`, "The server has no space left for this.", 0},
		{500, "", `{"error":"a\u001b[31mb\nc\u202ed"}`, "a [31mb c d", 0},
		{500, "", `{"error":"` + strings.Repeat("ä", 300) + `"}`, strings.Repeat("ä", 250) + "…", 0},
	} {
		f := serving(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", test.retry)
			says(test.status, test.body)(w, r)
		})
		_, err := f.client().Retrieve(t.Context(), f.link(), secret.Text{})
		refused := (*StatusError)(nil)
		if !errors.As(err, &refused) || err.Error() != test.want || refused.Status != test.status || refused.RetryAfter != test.wait {
			t.Errorf("%d: %v, %+v", test.status, err, refused)
		}
		if errors.Is(err, ErrPassphrase) {
			t.Errorf("%d was taken for a wrong passphrase", test.status)
		}
	}
}

func TestAnAnswerOfSomethingElseIsNoSuccess(t *testing.T) {
	t.Parallel()
	long := `{"payload":"` + strings.Repeat("x", maxAnswer) + `"}`
	for name, body := range map[string]string{"a page": "<html>", "nothing": "", "null": "null", "a list": "[]", "too much": long, "half": `{"payload":"`} {
		f := serving(t, says(http.StatusOK, body))
		_, err := f.client().Retrieve(t.Context(), f.link(), secret.Text{})
		env.ErrorIs(t, name, err, ErrAnswer)
		if _, err := f.client().Create(t.Context(), NewPush{Payload: secret.New("x")}, nil); !errors.Is(err, ErrAnswer) {
			t.Errorf("created, %s: %v", name, err)
		}
	}
}

func TestNoRedirectIsFollowedWithSecrets(t *testing.T) {
	t.Parallel()
	other := serving(t, says(http.StatusOK, shown("p", "")))
	for location, want := range map[string]string{
		other.URL + "/p/" + aToken: other.URL, "https://push.example.com:443/" + aToken: "https://push.example.com",
		"": "HOME", "/elsewhere": "HOME", "ftp://x/" + aToken: "", "://" + aToken: "", "https://ann:marker@x/": "",
	} {
		f := serving(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusPermanentRedirect)
		})
		c := f.client()
		_, get := c.Retrieve(t.Context(), f.link(), secret.New("pass-marker"))
		_, post := c.Create(t.Context(), NewPush{Payload: secret.New("marker")}, nil)
		for _, err := range []error{get, post, c.Expire(t.Context(), f.link())} {
			redirect := (*RedirectError)(nil)
			if !errors.As(err, &redirect) || redirect.To != strings.ReplaceAll(want, "HOME", f.URL) {
				t.Errorf("%s: %v", location, err)
			}
			silent(t, err)
		}
	}
	env.Equal(t, "redirects were followed", len(other.requests()), 0)
}

func TestFailuresOfTheConnectionTellNoSecret(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(nil)
	l := mustLink(t, gone.URL+"/p/"+aToken)
	gone.Close()
	cut := serving(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for _, l := range []Link{l, cut.link(), mustLink(t, "https://nowhere.invalid/p/"+aToken), mustLink(t, "https"+strings.TrimPrefix(cut.URL, "http")+"/p/"+aToken)} {
		c := New(Options{Home: l.Server, Token: secret.New(apiKey), Stall: time.Minute})
		_, get := c.Retrieve(t.Context(), l, secret.New(" marker "))
		_, post := c.Create(t.Context(), NewPush{Payload: secret.New("marker")}, nil)
		for _, err := range []error{get, post, c.Expire(t.Context(), l)} {
			if err == nil {
				t.Errorf("%s answered", l.Server)
			}
			silent(t, err)
		}
	}
	if n := len(cut.requests()); n != 4 { // a push is sent again
		t.Errorf("3 requests were sent %d times, not 4", n)
	}
}

func TestALinkIsMadeWhereTheServerTellsNone(t *testing.T) {
	t.Parallel()
	for html, ok := range map[string]bool{
		"https://push.example.com/p/" + aToken + "/r": true, "": false, "javascript:alert(1)": false, `https://x/p/` + aToken + `?a=\u001b[31m`: false,
	} {
		f := serving(t, says(http.StatusCreated, `{"url_token":"`+aToken+`","html_url":"`+html+`"}`))
		p, err := f.client().Create(t.Context(), NewPush{Payload: secret.New("x")}, nil)
		want := html
		if !ok {
			want = f.URL + "/p/" + aToken
		}
		if err != nil || p.Link.Reveal() != want {
			t.Errorf("%q became %q, %v", html, p.Link.Reveal(), err)
		}
	}
}
