package pages

import (
	"encoding/csv"
	"io"
	"net/http"

	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/server/intake"
	"pushbox/store"
)

// csvName is the file name of a downloaded log. It does not identify the push, since
// file names stay in many places.
const csvName = "audit-log.csv"

// csvHead is the first row: the names of the keys in the API.
var csvHead = []string{"created_at", "kind", "ip", "user_agent", "referrer", "request_id", "recipient_email"}

// maxCSV is the most pages of a log in a file. A log cannot have more: it has at most one entry for
// each view that a push may have, and the minor entries.
const maxCSV = 4096

// auditCSV answers with the whole audit log of a push as CSV (RFC 4180), oldest first.
// It reads the log page by page, which is safe because entries never move.
func (s *Set) auditCSV(r *action.Request) (action.Reply, error) {
	return action.Reply{
		Status: http.StatusOK,
		Text:   &action.Text{Media: "text/csv; charset=utf-8", Write: func(to io.Writer) error { return s.writeCSV(r, to) }},
		Header: [][2]string{{"Content-Disposition", `attachment; filename="` + csvName + `"`}},
	}, nil
}

func (s *Set) writeCSV(r *action.Request, to io.Writer) error {
	w := csv.NewWriter(to)
	w.UseCRLF = true
	rows := [][]string{csvHead}
	for page := 1; page <= maxCSV; page++ {
		log, err := s.Store.Audit(r.Context(), r.Actor, r.Push, page)
		if err != nil {
			return err
		}
		for _, e := range log {
			rows = append(rows, []string{display.Stamp(e.At), e.Kind.String(), display.EscapeFormulas(e.IP), display.EscapeFormulas(e.UserAgent), display.EscapeFormulas(e.Referrer.Reveal()), intake.RequestIDText(e.Request), display.EscapeFormulas(provedBy(e))})
		}
		if err := w.WriteAll(rows); err != nil {
			return err
		}
		if rows = rows[:0]; len(log) < store.PageSize {
			break
		}
	}
	return nil
}
