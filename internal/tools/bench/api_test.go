package main

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

func TestEachVersionOfPasswordPushersAPIHasItsRequests(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ api, path, object, view string }{
		{"v2", "/api/v2/pushes", "push", "/api/v2/pushes/TOKEN"},
		{"v1", "/p.json", "password", "/p/TOKEN.json"},
	} {
		a := apis[test.api]
		create, view, remove := a.create(push{payload: "hunter", views: 7, passphrase: "open", file: true}), a.view("TOKEN"), a.remove("TOKEN")
		if create.method != "POST" || create.path != test.path || create.status != 201 {
			t.Errorf("%s creates by %s %s", test.api, create.method, create.path)
		}
		var body map[string]struct {
			Payload    string `json:"payload"`
			Days       int    `json:"expire_after_days"`
			Views      int    `json:"expire_after_views"`
			Passphrase string `json:"passphrase"`
			Files      []struct {
				Filename string `json:"filename"`
				Content  []byte `json:"content"`
			} `json:"files"`
		}
		if err := json.Unmarshal(create.body, &body); err != nil {
			t.Fatal(err)
		}
		if p := body[test.object]; len(body) != 1 || p.Payload != "hunter" || p.Views != 7 || p.Days != 7 || p.Passphrase != "open" || len(p.Files) != 1 || string(p.Files[0].Content) != "hunter" {
			t.Errorf("%s sends %s", test.api, create.body)
		}
		if view.method != "GET" || view.path != test.view || view.body != nil || view.status != 200 {
			t.Errorf("%s views by %s %s", test.api, view.method, view.path)
		}
		if remove.method != "DELETE" || remove.path != test.view || remove.body != nil || remove.status != 200 {
			t.Errorf("%s deletes by %s %s", test.api, remove.method, remove.path)
		}
		if wrong := a.viewWith("?x=y", 401)("TOKEN"); wrong.method != "GET" || wrong.path != test.view+"?x=y" || wrong.status != 401 {
			t.Errorf("%s views with a query by %s %s", test.api, wrong.method, wrong.path)
		}
	}
}

func TestOtherServersHaveTheirRequests(t *testing.T) {
	t.Parallel()
	const armor = `-----BEGIN PGP MESSAGE-----\n\nhunterAA\n-----END PGP MESSAGE-----`
	for _, test := range []struct {
		api    string
		views  int
		create request
		view   request
		token  string // an answer to the create, for the token abc
		shown  string // an answer to the view
	}{
		{
			"ots", 1,
			request{method: "POST", path: "/api/create", body: []byte(`{"secret":"hunter"}`), status: 201},
			request{method: "GET", path: "/api/get/abc", status: 200},
			`{"success":true,"expires_at":"2026-11-22T10:00:00Z","secret_id":"abc"}`, `{"success":true,"secret":"hunter"}`,
		},
		{
			"yopass", 1,
			request{method: "POST", path: "/create/secret", body: []byte(`{"message":"` + armor + `","expiration":86400,"one_time":true}`), status: 200},
			request{method: "GET", path: "/secret/abc", status: 200},
			`{"message":"abc"}`, `{"message":"` + armor + `","one_time":true}`,
		},
		{
			"yopass", 2,
			request{method: "POST", path: "/create/secret", body: []byte(`{"message":"` + armor + `","expiration":86400,"one_time":false}`), status: 200},
			request{method: "GET", path: "/secret/abc", status: 200},
			`{"message":"abc"}`, `{"message":"` + armor + `","one_time":false}`,
		},
	} {
		a := apis[test.api]
		if got := a.create(push{payload: "hunter", views: test.views}); !reflect.DeepEqual(got, test.create) {
			t.Errorf("%s creates by %+v", test.api, got)
		}
		if got := a.view("abc"); !reflect.DeepEqual(got, test.view) {
			t.Errorf("%s views by %+v", test.api, got)
		}
		if token, err := a.tokenIn([]byte(test.token)); token != "abc" || err != nil {
			t.Errorf("%s: the token is %q, %v", test.api, token, err)
		}
		if err := a.checkView([]byte(test.shown), "hunter"); err != nil {
			t.Errorf("%s: %v", test.api, err)
		}
		if err := a.checkView([]byte(test.shown), "longer than hunter"); !errors.Is(err, errNoPayload) {
			t.Errorf("%s: another payload: %v", test.api, err)
		}
	}
}

func TestAnOpenPGPMessageHasShortLines(t *testing.T) {
	t.Parallel()
	want := `-----BEGIN PGP MESSAGE-----\n\n` + payload(130)[:64] + `\n` + payload(130)[64:128] + `\n` + payload(130)[128:] + `AA\n-----END PGP MESSAGE-----`
	if got := armored(payload(130)); got != want {
		t.Errorf("got %s", got)
	}
}

func TestTheTokenIsFoundInAnAnswer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answer, token string
		err           error
	}{
		{`{"url_token":"abc","html_url":"x"}`, "abc", nil},
		{`{"kind": "text", "url_token" : "abc"}`, "abc", nil},
		{`{"url_token":""}`, "", errNoToken},
		{`{"url_token":null}`, "", errNoToken},
		{`{"url_token":"abc`, "", errNoToken},
		{`{"url_token"`, "", errNoToken},
		{`{"error":"no"}`, "", errNoToken},
		{``, "", errNoToken},
	} {
		if token, err := apis["v2"].tokenIn([]byte(test.answer)); token != test.token || !errors.Is(err, test.err) {
			t.Errorf("%s: got %q, %v", test.answer, token, err)
		}
	}
}

func TestAViewMustHaveTheWholePayload(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answer string
		err    error
	}{
		{`{"payload":"12345","files":[]}`, nil},
		{`{"payload": "12345"}`, nil},
		{`{"payload":"1234"}`, errNoPayload},
		{`{"payload":"123456"}`, errNoPayload},
		{`{"payload":null,"note":"12345"}`, errNoPayload},
		{`{"expired":true}`, errNoPayload},
	} {
		if err := apis["v2"].checkView([]byte(test.answer), "abcde"); !errors.Is(err, test.err) {
			t.Errorf("%s: got %v", test.answer, err)
		}
	}
}
