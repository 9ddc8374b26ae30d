package pages

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pushbox/internal/secret"
	"pushbox/internal/testkit/env"
	"pushbox/server/display"
)

// formula matches the beginning of a formula: in a cell or behind a separator that some
// programs accept, perhaps after spaces and quotation marks.
var formula = regexp.MustCompile(`(^|[;\t])[ "]*[=+\-@\t\r\n]`)

// FuzzCells checks that no cell of a log is a formula, whatever separates cells, and
// that a cell without its apostrophes is what was sent.
func FuzzCells(f *testing.F) {
	for _, text := range []string{"=1+1", "a;=1", "a\t@b", " \"-3", "Mozilla/5.0 (a; b-c)", "\r\n=1", "'=1", ";;;=", "a\x00=b", "\xff=1", "\u00a0=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cell := display.EscapeFormulas(text)
		// An apostrophe is what keeps a cell from being computed, and \t between two
		// of them is one that a cell begins with.
		if formula.MatchString(cell) {
			t.Fatalf("%q became %q", text, cell)
		}
		if utf8.ValidString(text) && strings.ReplaceAll(cell, "'", "") != strings.ReplaceAll(text, "'", "") {
			t.Fatalf("%q became %q", text, cell)
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		env.OK(t, w.WriteAll([][]string{{cell, "end"}}))
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(rows) != 1 || len(rows[0]) != 2 || rows[0][1] != "end" {
			t.Fatalf("%q makes the rows %q, %v", cell, rows, err)
		}
	})
}

func TestARowOfAnAuditLogPrintsNothing(t *testing.T) {
	t.Parallel()
	const canary = "canary-of-a-secret-3b1f"
	env.Hides(t, "a row of an audit log", auditRow{Referrer: secret.New(canary), To: secret.New(canary)}, canary)
}
