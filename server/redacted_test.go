package server

import (
	"net/http/httptest"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/intake"
	"pushbox/store"
	"pushbox/store/storetest"
)

// No value that carries a secret, on the way from a body to the store or to a page,
// prints it.
func TestNothingThatCarriesASecretPrintsIt(t *testing.T) {
	t.Parallel()
	const canary = "canary-of-a-secret-3b1f"
	s, err := New(Options{Config: config.Default(), Store: storetest.New(t).Store})
	env.OK(t, err)
	carriers := make(map[string]any)
	for mediaType, content := range map[string]string{
		body.TypeJSON: `{"push":{"payload":"` + canary + `","passphrase":"` + canary + `","name":"` + canary + `"}}`,
		body.TypeForm: "push[payload]=" + canary + "&push[passphrase]=" + canary + "&push[note]=" + canary,
	} {
		r := sent(t, s, mediaType, content)
		c, _, err := s.intake.ReceivePush(r, intake.PushV2)
		if err != nil || c.Fields.Text("payload") != canary {
			t.Fatal(c.Fields, err)
		}
		push := store.NewPush{Payload: secret.New(canary), Passphrase: secret.New(canary), Name: secret.New(canary), Note: secret.New(canary)}
		r.Grant, r.Name, r.Actor.Referrer = secret.New(canary), secret.New(canary), secret.New("https://"+canary)
		for what, v := range map[string]any{
			"the request": *r, "the request's address": r, "the actor": r.Actor, "the create request": *c, "its address": c,
			"the fields": c.Fields, "the reader of fields": intake.FieldReader{Fields: c.Fields}, "the new push": push,
		} {
			carriers[mediaType+": "+what] = v
		}
	}
	r := sent(t, s, body.TypeForm, "password="+canary+"&old="+canary)
	form := make(body.Form)
	err = body.Read(r.Context(), &r.Body, body.Options{Flat: true, MaxText: action.SmallBody}, form)
	if err != nil || form.Text("password").Reveal() != canary {
		t.Fatal(form, err)
	}
	carriers["a page's form"], carriers["its address"] = form, &form
	hr := httptest.NewRequest("GET", action.FirstPath+canary, nil)
	hr.Header.Set("Referer", "https://"+canary)
	firstRoute := []action.Route{{Name: "first_form", Method: "GET", Pattern: action.FirstPath + ":" + action.NameParam}}
	first := s.newRequest(&door{router: newRouter(firstRoute, "")}, httptest.NewRecorder(), hr)
	if first.Name.Reveal() != canary || first.Actor.Referrer.Reveal() != "https://"+canary {
		t.Fatal(first.Name.Reveal(), first.Actor.Referrer.Reveal())
	}
	first.Request, first.Body = nil, body.Reader{} // the path and the header as they came in are the library's
	carriers["a request for the first account"], carriers["its actor"] = *first, first.Actor
	carriers["a line of an audit log"] = store.LogEntry{Referrer: first.Actor.Referrer, Recipients: secret.New(canary)}
	for what, v := range carriers {
		env.Hides(t, what, v, canary)
	}
}

// sent returns a request with a body, as actions get it.
func sent(t *testing.T, s *Server, mediaType, content string) *action.Request {
	t.Helper()
	hr := httptest.NewRequestWithContext(t.Context(), "POST", "/api/v2/pushes", strings.NewReader(content))
	hr.Header.Set("Content-Type", mediaType)
	return s.newRequest(&s.full, httptest.NewRecorder(), hr)
}
