package cli

import (
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"pushbox/internal/terminal"
)

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
	return &progress{what: shortened(what), out: a.stderr}
}

// shortened leaves room for the bar beside a long name.
func shortened(what string) string {
	const longest = 32 // characters
	if all := []rune(what); len(all) > longest {
		return string(all[:longest-1]) + "…"
	}
	return what
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
