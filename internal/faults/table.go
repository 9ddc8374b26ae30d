package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Between these two lines of docs/testing.md is the table.
const (
	tableBegins = "<!-- the table of go run ./internal/faults --markdown -->"
	tableEnds   = "<!-- the end of it -->"
)

// writeTable writes the table of docs/testing.md, with the lines around it.
func writeTable(out io.Writer, faults []fault) error {
	var b strings.Builder
	b.WriteString(tableBegins + "\n| Fault | What is wrong | Caught by |\n|---|---|---|\n")
	for _, f := range faults {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", f.name, f.says, f.catchers())
	}
	b.WriteString(tableEnds + "\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// catchers names the harnesses of a fault, as a cell, each once.
func (f fault) catchers() string {
	var cells []string
	for i, h := range f.by {
		if slices.Index(f.by, h) == i {
			cells = append(cells, h.row+": `"+h.test+"`")
		}
	}
	text := strings.Join(cells, "; else ")
	if again := len(f.by) - len(cells); again > 0 {
		text += fmt.Sprintf(", else again, up to %d times", len(f.by))
	}
	return text
}

// writeList writes a line about each fault.
func writeList(out io.Writer, faults []fault) error {
	for _, f := range faults {
		if _, err := fmt.Fprintf(out, "%-30s %s\n", f.name, f.says); err != nil {
			return err
		}
	}
	return nil
}
