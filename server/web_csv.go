package server

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"strings"

	"pushbox/store"
)

// csvName is what a downloaded log is called. It says nothing of which push: names
// of files stay in many places.
const csvName = "audit-log.csv"

// csvHead is the first row: the names that the API has for the same things.
var csvHead = []string{"created_at", "kind", "ip", "user_agent", "referrer"}

// maxCSV is how many pages of a log go into a file at most: more than there can be,
// which is a row for each view that a push may have, and the lesser ones.
const maxCSV = 4096

// auditCSV gives the whole audit log of a push as CSV (RFC 4180), oldest first. It
// reads the log page by page; entries do not move in it.
func (s *Server) auditCSV(r *request) (reply, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	rows := [][]string{csvHead}
	for page := 1; page <= maxCSV; page++ {
		log, err := s.store.Audit(r.Context(), r.actor, r.urlToken, page)
		if err != nil {
			return reply{}, err
		}
		for _, e := range log {
			rows = append(rows, []string{Stamp(e.At), e.Kind.String(), harmless(e.IP), harmless(e.UserAgent), harmless(e.Referrer)})
		}
		if err := w.WriteAll(rows); err != nil {
			return reply{}, err
		}
		if rows = rows[:0]; len(log) < store.PageSize {
			break
		}
	}
	return reply{
		status: http.StatusOK,
		text:   &text{"text/csv; charset=utf-8", b.Bytes()},
		header: [][2]string{{"Content-Disposition", `attachment; filename="` + csvName + `"`}},
	}, nil
}

// harmless keeps a spreadsheet from taking for a formula what a visitor sent: it
// puts an apostrophe before =, +, -, @ and controls that a cell begins with. It
// does so behind a semicolon or a tab too, at which some programs divide cells.
func harmless(cell string) string {
	if !strings.ContainsAny(cell, "=+-@\t\r\n") {
		return cell
	}
	var out strings.Builder
	begins := true
	for _, c := range cell {
		if begins && strings.ContainsRune("=+-@\t\r\n", c) {
			out.WriteByte('\'')
		}
		out.WriteRune(c)
		begins = c == ';' || c == '\t' || begins && (c == ' ' || c == '"')
	}
	return out.String()
}
