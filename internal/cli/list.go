package cli

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
)

// A listing prints one kind of things, as a table for people or as JSON for programs.
type listing[T any] struct {
	header []string
	row    func(T) []string
}

// print writes a list to w: a table with a header, or one JSON object a line.
func (l listing[T]) print(w io.Writer, list []T, asJSON bool) error {
	if asJSON {
		for _, one := range list {
			if err := json.NewEncoder(w).Encode(one); err != nil {
				return err
			}
		}
		return nil
	}
	rows := [][]string{l.header}
	for _, one := range list {
		rows = append(rows, l.row(one))
	}
	return writeTable(w, rows)
}

// addJSONFlag adds the flag --json to a command that lists something.
func addJSONFlag(cmd *cobra.Command) (asJSON *bool) {
	return cmd.Flags().Bool("json", false, "print one JSON object a line")
}
