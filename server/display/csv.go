package display

import "strings"

// formulaStarts are characters that a spreadsheet may read as the start of a formula. Some
// spreadsheets treat the full-width forms like the plain ones.
const formulaStarts = "=+-@\t\r\n＝＋－＠"

// EscapeFormulas keeps a spreadsheet from reading a text as a formula: it puts an
// apostrophe before each of formulaStarts at the beginning of a cell. It does so
// behind a semicolon or a tab too, since some programs split cells there.
func EscapeFormulas(cell string) string {
	if !strings.ContainsAny(cell, formulaStarts) {
		return cell
	}
	var out strings.Builder
	begins := true
	for _, c := range cell {
		if begins && strings.ContainsRune(formulaStarts, c) {
			out.WriteByte('\'')
		}
		out.WriteRune(c)
		begins = c == ';' || c == '\t' || begins && (c == ' ' || c == '"')
	}
	return out.String()
}
