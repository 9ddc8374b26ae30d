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
	"unicode/utf8"

	"golang.org/x/term"

	"pushbox/internal/hint"
	"pushbox/internal/humanize"
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

const (
	progressPeriod = 100 * time.Millisecond // between two updates of a line
	progressWidth  = 20                     // characters of a bar
)

// A progress shows on a terminal how much of a task is done. It is safe for concurrent
// use.
type progress struct {
	what   string
	format func(int64) string // nil: as bytes

	mu          sync.Mutex
	out         io.Writer // nil: there is no terminal, or the end was shown
	done, total int64     // bytes; a total of 0 or less is not known
	shown       time.Time // when it was last shown; zero: never
	width       int       // characters of the line then
}

// progress begins to show the progress of a task. The caller must call end. If standard
// error is not a terminal, nothing is shown. what names the task, and must be safe to
// show on a terminal.
func (a *app) progress(what string) *progress {
	if !terminal.Is(a.stderr) {
		return &progress{}
	}
	const longest = 26 // characters, which leave room for the bar
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
	p.done, p.total = done, total
	if time.Since(p.shown) >= progressPeriod {
		p.show()
	}
}

// end shows what was done last, and goes to the next line.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out != nil && !p.shown.IsZero() {
		p.show()
		_, _ = io.WriteString(p.out, "\n")
	}
	p.out = nil
}

func (p *progress) show() {
	if p.out == nil {
		return
	}
	format := p.format
	if format == nil {
		format = humanize.Size
	}
	line := p.what + "  " + format(p.done)
	if p.total > 0 {
		part := min(1, float64(p.done)/float64(p.total))
		bar := strings.Repeat("#", int(part*progressWidth))
		line = fmt.Sprintf("%s %3d%% [%-*s]  %s of %s", p.what, int(part*100), progressWidth, bar, format(p.done), format(p.total))
	}
	width := utf8.RuneCountInString(line)
	// Spaces cover what is left of a longer line. If the terminal fails, the task continues.
	_, _ = fmt.Fprintf(p.out, "\r%s%s", line, strings.Repeat(" ", max(0, p.width-width)))
	p.shown, p.width = time.Now(), width
}
