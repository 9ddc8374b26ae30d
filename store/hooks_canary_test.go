package store_test

import (
	"bytes"
	"os"
	"testing"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
	"pushbox/store/record"
	"pushbox/store/storetest"
)

func TestTheFileHoldsNothingOfAWebhookOrAMessageInClear(t *testing.T) {
	t.Parallel()
	f := storetest.New(t)
	ann := f.Account("ann@example.com")
	const address = "https://canary-hooks.example/canary-path-77"
	h, err := f.AddHook(ctx, storetest.Operator, "ann@example.com", secret.New(address), record.Events())
	env.OK(t, err)
	p := storetest.Push(t, f, ann, func(in *store.NewPush) { in.Name, in.Views = secret.New("canary-name-4f1c"), ptr(1) })
	by := store.Actor{IP: "203.0.113.77", UserAgent: "canary-agent-4f1c"}
	if _, err := f.Retrieve(ctx, by, p.Token, secret.Text{}, nil); err != nil {
		t.Fatal(err)
	}
	due, _, err := f.DueMessages(ctx, dueHooks(9))
	if err != nil || len(due) != 3 {
		t.Fatalf("%d messages are due, %v", len(due), err)
	}
	content, err := os.ReadFile(f.Path)
	env.OK(t, err)
	if !bytes.Contains(content, due[0].Sealed) || !bytes.Contains(content, h.Sealed) {
		t.Fatal("they are not in the file that was read")
	}
	markers := []string{address, "canary-hooks.example", "canary-path-77", h.Secret.Reveal(), "canary-name-4f1c", by.IP, by.UserAgent, p.Token.Reveal()}
	for _, m := range due {
		n, err := f.OpenNotice(ctx, m)
		env.OK(t, err)
		markers = append(markers, n.ID)
	}
	for _, marker := range markers {
		for _, trace := range traces(marker) {
			if bytes.Contains(content, trace) {
				t.Errorf("it holds %q", trace)
			}
		}
	}
}
