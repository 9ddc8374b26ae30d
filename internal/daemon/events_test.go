package daemon

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"pushbox/config"
	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/store"
)

func TestTheLogHasEachNewEventOnceAndNoNames(t *testing.T) {
	t.Parallel()
	s := opened(t, settingsFor(env.ShortDir(t)))
	defer closed(t, s)
	var out bytes.Buffer
	log := newLogger(&out, config.Log{Level: "info", Format: "json"})
	f, err := newFollower(t.Context(), s, log)
	env.OK(t, err)
	if _, err := f.look(t.Context()); err != nil || out.Len() > 0 {
		t.Fatalf("before anything was done: %s, %v", &out, err)
	}
	by := store.Actor{Role: store.Operator}
	if _, err := s.AddAccount(t.Context(), by, "ann-marker@example.com", secret.New("correct horse battery")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.look(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateToken(t.Context(), by, "ann-marker@example.com", store.TokenTerms{Label: "label-marker"}); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := f.run(ended); err != nil { // looks once more
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"event":"account_create","event_number":2,"actor":"operator","account_id":1`) ||
		!strings.Contains(lines[1], `"event":"token_create","event_number":3,"actor":"operator","account_id":1,"token_id":1`) {
		t.Errorf("the log is\n%s", &out)
	}
	if strings.Contains(out.String(), "marker") {
		t.Errorf("the log has names:\n%s", &out)
	}
}
