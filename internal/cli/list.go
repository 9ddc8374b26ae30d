package cli

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// A listing prints one kind of things, as a table for people or as JSON for programs.
type listing[T any] struct {
	header []string
	row    func(T) []string
	find   func(cmd *cobra.Command, args []string) ([]T, error)
}

// on makes a command print the listing, as JSON with --json. If only a part was found, it
// prints that part before it returns the error.
func (l listing[T]) on(a *app, cmd *cobra.Command) *cobra.Command {
	asJSON := cmd.Flags().Bool("json", false, "print one JSON object a line")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		list, err := l.find(cmd, args)
		if err != nil && len(list) == 0 {
			return err
		}
		return errors.Join(l.print(a.stdout, list, *asJSON), err)
	}
	return cmd
}

// print writes a list to w: a table with a header, or one JSON object a line.
func (l listing[T]) print(w io.Writer, list []T, asJSON bool) error {
	rows := [][]string{l.header}
	for _, one := range list {
		if !asJSON {
			rows = append(rows, l.row(one))
		} else if err := json.NewEncoder(w).Encode(one); err != nil {
			return err
		}
	}
	if asJSON {
		return nil
	}
	return writeTable(w, rows)
}

// writeTable writes rows in columns, the first row being the header.
func writeTable(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = printable(row[i])
		}
		if _, err := io.WriteString(t, strings.Join(row, "\t")+"\n"); err != nil {
			return err
		}
	}
	return t.Flush()
}

// stamp writes a time, or a mark if there is none.
func stamp(t time.Time, none string) string {
	if t.IsZero() {
		return none
	}
	return t.UTC().Format(time.RFC3339)
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
