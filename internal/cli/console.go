package cli

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/term"

	"pushbox/internal/secret"
)

// A console asks questions of whoever sits at the terminal, if somebody does.
type console struct {
	in       io.Reader
	out      io.Writer
	terminal bool                                     // in is one
	raw      func() (restore func() error, err error) // switches echo and line editing off
}

func newConsole(in io.Reader, out io.Writer) *console {
	c := &console{in: in, out: out}
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
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

// talk runs a conversation on the terminal, and leaves the terminal as it was
// whether the conversation ends or ctx. In the second case the goroutine that
// reads the terminal stays: nothing can end that read but the process, which is
// about to.
func (c *console) talk(ctx context.Context, conversation func(*term.Terminal) error) error {
	restore, err := c.raw()
	if err != nil {
		return err
	}
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{c.in, c.out}, "")
	done := make(chan error, 1)
	go func() { done <- conversation(t) }()
	select {
	case <-ctx.Done():
		err = ctx.Err()
	case err = <-done:
	}
	if errors.Is(err, io.EOF) { // Ctrl-C or Ctrl-D
		err = errInterrupted
	}
	return errors.Join(err, restore())
}

// newPassword asks for a password twice, without echo.
func (c *console) newPassword(ctx context.Context) (password secret.Text, err error) {
	answers := make(chan secret.Text, 1)
	err = c.talk(ctx, func(t *term.Terminal) error {
		first, err := t.ReadPassword("Password: ")
		if err != nil {
			return err
		}
		second, err := t.ReadPassword("The same again: ")
		if err == nil && first != second {
			err = withHint(errors.New("the two passwords differ"), "run the command again")
		}
		answers <- secret.New(first)
		return err
	})
	if err != nil {
		return secret.Text{}, err
	}
	return <-answers, nil
}

// line asks for a line, with an explanation in front.
func (c *console) line(ctx context.Context, explanation, question string) (string, error) {
	answers := make(chan string, 1)
	err := c.talk(ctx, func(t *term.Terminal) error {
		if _, err := io.WriteString(t, explanation+"\n"); err != nil {
			return err
		}
		t.SetPrompt(question)
		answer, err := t.ReadLine()
		answers <- answer
		return err
	})
	if err != nil {
		return "", err
	}
	return <-answers, nil
}
