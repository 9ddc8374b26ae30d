package api

import (
	"net/http/httptest"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/store"
	"pushbox/store/record"
)

func TestAnswersAndPassphrasesPrintNothing(t *testing.T) {
	t.Parallel()
	const canary = "canary-of-a-secret-3b1f"
	retrieved := newViewerJSON(store.PushInfo{Push: record.Push{State: record.Live}, Payload: secret.New(canary)}, "")
	if retrieved.Payload == nil || *retrieved.Payload != canary {
		t.Fatal(retrieved.Payload)
	}
	env.Hides(t, "an answer with a payload", action.Reply{Body: retrieved}, canary)
	hr := httptest.NewRequest("GET", "/?passphrase="+canary, nil)
	p := env.Must(new(Service).readPassphrase(&action.Request{Request: hr, Body: body.NewReader(hr, nil)}))(t)
	env.Equal(t, "the passphrase", p.Reveal(), canary)
	env.Hides(t, "a passphrase", p, canary)
}
