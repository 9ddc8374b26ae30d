package secret_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
)

func TestNothingPrintsASecret(t *testing.T) {
	t.Parallel()
	const marker = "hunter2-marker"
	s := secret.New(marker)
	holder := struct {
		Public string
		Inner  struct{ S secret.Text }
		List   []secret.Text
		hidden secret.Text
	}{Public: "shown", List: []secret.Text{s}, hidden: s}
	holder.Inner.S = s

	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%p"} {
		fmt.Fprintf(&out, verb+"\n", s)
		fmt.Fprintf(&out, verb+"\n", &s)
		fmt.Fprintf(&out, verb+"\n", holder)
	}
	j := env.Must(json.Marshal(holder))(t)
	out.Write(j)
	log := zerolog.New(&out)
	log.Info().Stringer("a", s).Interface("b", holder).Any("c", s).Err(fmt.Errorf("broke on %v: %w", s, errors.ErrUnsupported)).Send()

	for _, form := range []string{marker, fmt.Sprintf("%x", marker), fmt.Sprintf("%X", marker)} {
		if strings.Contains(out.String(), form) {
			t.Errorf("a secret was printed:\n%s", out.String())
		}
	}
	if !strings.Contains(out.String(), "[redacted]") {
		t.Error("nothing says that something was redacted")
	}
	if s.Reveal() != marker || s.Len() != len(marker) || s.IsZero() {
		t.Error("the secret itself was changed")
	}
}
