package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"pushbox/internal/hint"
)

func TestAPasswordIsAskedForTwiceAndNeverShown(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, typed, want, err string }{
		{"the same twice", "hunter2-marker\rhunter2-marker\r", "hunter2-marker", ""},
		{"lines that end otherwise", "hunter2-marker\nhunter2-marker\n", "hunter2-marker", ""},
		{"corrected while typed", "hunter2-markex\x7fr\rhunter2-marker\r", "hunter2-marker", ""},
		{"other letters", "pässwört-marker\rpässwört-marker\r", "pässwört-marker", ""},
		{"nothing", "\r\r", "", ""},
		{"another", "hunter2-marker\rhunter3-marker\r", "", "the two passwords differ"},
		{"Ctrl-C", "hunter2-marker\x03", "", "interrupted"},
		{"Ctrl-D", "hunter2-marker\r\x04", "", "interrupted"},
		{"the end", "hunter2-marker", "", "interrupted"},
	} {
		c, out, restored := typist(strings.NewReader(test.typed))
		got, err := c.twice(t.Context(), "Password")
		if test.err == "" && err != nil || test.err != "" && (err == nil || err.Error() != test.err) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.err)
		}
		if got.Reveal() != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got.Reveal(), test.want)
		}
		if strings.Contains(out.String(), "marker") || !strings.Contains(out.String(), "Password: ") {
			t.Errorf("%s: the terminal showed %q", test.name, out)
		}
		if *restored != 1 {
			t.Errorf("%s: the terminal was restored %d times", test.name, *restored)
		}
	}
}

func TestASignalEndsAQuestionAndRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	silent, hangUp := io.Pipe() // a terminal at which nothing is typed
	t.Cleanup(func() { _ = hangUp.Close() })
	c, _, restored := typist(silent)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.twice(ctx, "Password"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if *restored != 1 {
		t.Errorf("the terminal was restored %d times", *restored)
	}
}

func TestATerminalThatCannotBeSwitchedIsAnError(t *testing.T) {
	t.Parallel()
	c, _, _ := typist(strings.NewReader("x\rx\r"))
	broken := errors.New("broken")
	c.raw = func() (func() error, error) { return nil, broken }
	if _, err := c.twice(t.Context(), "Password"); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func TestOnlyTheSameAddressConfirmsARemoval(t *testing.T) {
	t.Parallel()
	for typed, ok := range map[string]bool{
		alice + "\r":                true,
		" Alice@Example.com\t\r":    true,
		"bob@example.com\r":         false,
		"\r":                        false,
		"y\r":                       false,
		strings.ToUpper(alice):      false, // and no Enter
		alice[:len(alice)-1] + "\r": false,
	} {
		c, out, _ := typist(strings.NewReader(typed))
		err := (&app{console: c}).confirm(t.Context(), alice, "destroys it")
		if (err == nil) != ok {
			t.Errorf("%q: %v", typed, err)
		}
		if !strings.Contains(out.String(), "This destroys it.") {
			t.Errorf("%q: the terminal showed %q", typed, out)
		}
	}
}

func TestWithoutATerminalARemovalIsRefused(t *testing.T) {
	t.Parallel()
	a := &app{console: newConsole(strings.NewReader(alice+"\n"), io.Discard)}
	if err := a.confirm(t.Context(), alice, "destroys it"); exitCode(err) != exitUsage || hint.Of(err) != "if that is what you want, add --yes" {
		t.Errorf("%v", err)
	}
}
