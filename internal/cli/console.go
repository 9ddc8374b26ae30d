package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
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

const progressPeriod = 100 * time.Millisecond // between two updates of a bar

// A progress shows on a terminal how much of a task is done. It is safe for concurrent
// use.
type progress struct {
	what string

	mu          sync.Mutex
	out         io.Writer                // nil: there is no terminal, or the end was shown
	bar         *progressbar.ProgressBar // nil: nothing was set so far
	done, total int64                    // what it shows
}

// progress begins to show the progress of a task. The caller must call end. If standard
// error is not a terminal, nothing is shown. what names the task, and must be safe to
// show on a terminal.
func (a *app) progress(what string) *progress {
	if !terminal.Is(a.stderr) {
		return &progress{}
	}
	const longest = 32 // characters, which leave room for the bar
	if all := []rune(what); len(all) > longest {
		what = string(all[:longest-1]) + "…"
	}
	return &progress{what: what, out: a.stderr}
}

// set shows that done bytes of total are done. A total of 0 or less means unknown. Both
// may grow or shrink. After end it does nothing.
func (p *progress) set(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.out == nil:
		return
	case p.bar == nil, (total > 0) != (p.total > 0):
		p.bar = p.newBar(total)
	case total > 0 && (total != p.total || done > total):
		p.bar.ChangeMax64(beyond(done, total))
	}
	p.done, p.total = done, total
	_ = p.bar.Set64(done) // it fails only if the terminal fails
}

// beyond returns the length of a bar: one more than the total, because a bar ends when it
// reaches its length, and the total may still grow.
func beyond(done, total int64) int64 { return max(done, total) + 1 }

func (p *progress) newBar(total int64) *progressbar.ProgressBar {
	length := int64(-1) // not known
	if total > 0 {
		length = beyond(0, total)
	}
	return progressbar.NewOptions64(
		length,
		progressbar.OptionSetWriter(p.out),
		progressbar.OptionSetDescription(p.what),
		progressbar.OptionSetWidth(20),
		progressbar.OptionShowBytes(true),
		progressbar.OptionShowCount(),
		progressbar.OptionUseIECUnits(true),
		progressbar.OptionThrottle(progressPeriod),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetSpinnerChangeInterval(0), // or it starts a goroutine
	)
}

// end shows a complete bar as full, and goes to the next line.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil && p.out != nil {
		if p.total > 0 && p.done == p.total {
			p.bar.ChangeMax64(p.total)
		}
		_, _ = io.WriteString(p.out, "\n")
	}
	p.out = nil
}
