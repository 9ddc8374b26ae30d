package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"pushbox/internal/hint"
	"pushbox/internal/secret"
	"pushbox/internal/terminal"
)

// A console asks questions on the terminal, if there is one.
type console struct {
	in       io.Reader
	out      io.Writer
	terminal bool                                     // in is one
	raw      func() (restore func() error, err error) // switches echo and line editing off
}

func newConsole(in io.Reader, out io.Writer) *console {
	c := &console{in: in, out: out}
	f, ok := in.(*os.File)
	if !ok || !terminal.Is(in) {
		return c
	}
	c.terminal = true
	c.raw = func() (func() error, error) {
		state, err := term.MakeRaw(int(f.Fd()))
		return func() error { return term.Restore(int(f.Fd()), state) }, err
	}
	return c
}

var errInterrupted = errors.New("interrupted")

// talk runs a conversation on the terminal, and restores the terminal when the
// conversation or ctx ends. If ctx ends first, the goroutine that reads the terminal
// stays: only the end of the process can end that read, and it is near. talk reads no
// more than the conversation needs: the following input may answer another question.
func talk[T any](ctx context.Context, c *console, conversation func(*term.Terminal) (T, error)) (T, error) {
	type outcome struct {
		answer T
		err    error
	}
	var o outcome
	restore, err := c.raw()
	if err != nil {
		return o.answer, err
	}
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{bytewise{c.in}, c.out}, "")
	done := make(chan outcome, 1)
	go func() {
		answer, err := conversation(t)
		done <- outcome{answer, err}
	}()
	select {
	case <-ctx.Done():
		o.err = ctx.Err()
	case o = <-done:
	}
	if errors.Is(o.err, io.EOF) { // Ctrl-C or Ctrl-D
		o.err = errInterrupted
	}
	return o.answer, errors.Join(o.err, restore())
}

// A bytewise reader never reads ahead.
type bytewise struct{ io.Reader }

func (b bytewise) Read(p []byte) (int, error) { return b.Reader.Read(p[:min(1, len(p))]) }

// twice asks for a secret twice, without echo.
func (c *console) twice(ctx context.Context, what string) (secret.Text, error) {
	return talk(ctx, c, func(t *term.Terminal) (secret.Text, error) {
		first, err := t.ReadPassword(what + ": ")
		if err != nil {
			return secret.Text{}, err
		}
		again, err := t.ReadPassword("Repeat it: ")
		if err == nil && first != again {
			err = hint.With(fmt.Errorf("the two %ss differ", strings.ToLower(what)), "run the command again")
		}
		if err != nil {
			return secret.Text{}, err
		}
		return secret.New(first), nil
	})
}

// hidden asks for a line without echo.
func (c *console) hidden(ctx context.Context, question string) (secret.Text, error) {
	return talk(ctx, c, func(t *term.Terminal) (secret.Text, error) {
		answer, err := t.ReadPassword(question)
		return secret.New(answer), err
	})
}

// line shows an explanation, and asks for a line.
func (c *console) line(ctx context.Context, explanation, question string) (string, error) {
	return talk(ctx, c, func(t *term.Terminal) (string, error) {
		if _, err := io.WriteString(t, explanation+"\n"); err != nil {
			return "", err
		}
		t.SetPrompt(question)
		return t.ReadLine()
	})
}
