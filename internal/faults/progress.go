package main

import (
	"fmt"
	"io"
	"os"
)

// progress is a line on a terminal that says what is being done; elsewhere nothing.
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

// show replaces the line. What keeps it from being seen is no reason to stop.
func (p *progress) show(text string) { _, _ = fmt.Fprint(p.terminal, clearLine, text) }

func (p *progress) clear() { _, _ = fmt.Fprint(p.terminal, clearLine) }
