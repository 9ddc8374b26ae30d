package main

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pushbox/internal/proctest"
)

func TestMain(m *testing.M) { proctest.Main(m) }

// Which client is served and which is refused does not depend on time. The floods do, so only the
// command measures them; what they rest on are the tests of internal/limit.
func TestAttacksCostTheAttacker(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"twenty dead images":                             {"404: 21 times", "page of a good link: 200, by the API: 200"},
		"twenty clicks on an expired link":               {"404: 20 times", "page of a good link: 200, by the API: 200"},
		"twenty-one unknown links":                       {"404: 20 times, 429: 1 times", "page of a good link: 200, by the API: 200"},
		"ten wrong sign-ins":                             {"403: 10 times", "right password: 303", "right password: 429", "new password: 303"},
		"a PIN is guessed, as fast as allowed":           {"20 guesses heard, then 429 for about 10m0s", "right PIN: 200"},
		"a PIN is guessed, without a pause":              {"50 guesses heard, then 403", "right PIN: 403"},
		"a PIN is guessed until the push is frozen":      {"right PIN: 403", "right PIN: 200"},
		"files of an account that was made a second ago": {"6 of 15 files of 8 MiB are stored", "a push: 201"},
		"answers with a key of 6 MB":                     {"422: 10 times", "0 MB more"},
	}
	bin, err := exec.LookPath("pushbox")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range attacks() {
		expected, ok := want[a.name]
		if !ok {
			continue
		}
		delete(want, a.name)
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp("", "attack-") // shorter than t.TempDir: sockets have short names
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			lines, err := a.on(context.WithoutCancel(t.Context()), bin, dir, 0)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range lines {
				got = append(got, l.what)
			}
			if !slices.Equal(got, expected) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(expected, "\n"))
			}
		})
	}
	if len(want) > 0 {
		t.Errorf("attacks that are not there: %v", want)
	}
}
