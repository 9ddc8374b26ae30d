package main

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestEachAPIHasItsRequests(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ api, path, object, view string }{
		{"v2", "/api/v2/pushes", "push", "/api/v2/pushes/TOKEN"},
		{"v1", "/p.json", "password", "/p/TOKEN.json"},
	} {
		a := apis[test.api]
		create, view := a.create("hunter", 7), a.view("TOKEN")
		if create.method != "POST" || create.path != test.path || create.status != 201 {
			t.Errorf("%s creates by %s %s", test.api, create.method, create.path)
		}
		var body map[string]struct {
			Payload string `json:"payload"`
			Days    int    `json:"expire_after_days"`
			Views   int    `json:"expire_after_views"`
		}
		if err := json.Unmarshal(create.body, &body); err != nil {
			t.Fatal(err)
		}
		if p := body[test.object]; len(body) != 1 || p.Payload != "hunter" || p.Views != 7 || p.Days != 7 {
			t.Errorf("%s sends %s", test.api, create.body)
		}
		if view.method != "GET" || view.path != test.view || view.body != nil || view.status != 200 {
			t.Errorf("%s views by %s %s", test.api, view.method, view.path)
		}
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
		if token, err := apis["v2"].token([]byte(test.answer)); token != test.token || !errors.Is(err, test.err) {
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
		if err := apis["v2"].checkView([]byte(test.answer), 5); !errors.Is(err, test.err) {
			t.Errorf("%s: got %v", test.answer, err)
		}
	}
}
