package main

import (
	"fmt"
	"io"
	"os"
)

// progress shows the current step in a line of a terminal. Without a terminal it shows
// nothing.
type progress struct{ terminal io.Writer }

// newProgress shows progress on w if that is a terminal.
func newProgress(w io.Writer) *progress {
	f, isFile := w.(*os.File)
	if !isFile {
		return &progress{io.Discard}
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &progress{io.Discard}
	}
	return &progress{w}
}

const clearLine = "\r\x1b[K"

// show replaces the line. An error of the terminal must not stop the trial.
func (p *progress) show(text string) { _, _ = fmt.Fprint(p.terminal, clearLine, text) }

func (p *progress) clear() { _, _ = fmt.Fprint(p.terminal, clearLine) }
