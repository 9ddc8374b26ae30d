package server

import (
	"net/http"
	"net/url"
	"time"

	"pushbox/store"
)

// auditPage is what the page of one of a person's own pushes shows.
type auditPage struct {
	ownRow
	Note      string
	Ends      moment   // its time limit
	Step      bool     // its link leads to a page with a button first
	Deletable bool     // by whoever has the link
	QR        *qrImage // nil: the link is too long for one

	Log   []auditRow
	Full  int // how many entries of the lesser kinds there are, where no more are kept; 0: fewer
	Pages pager
	CSV   string

	Edit editForm
}

// An auditRow is a line of the audit log.
type auditRow struct {
	When                moment
	Kind                string // of a message, audit_kind_...
	IP, Agent, Referrer string
	To                  string // whom a mail was sent to
}

// auditPage shows what happened to a push.
func (s *Server) auditPage(r *request) (reply, error) {
	page, err := readPage(r)
	if err != nil {
		return reply{}, err
	}
	h, err := s.store.History(r.Context(), r.actor, r.urlToken, page)
	if err != nil {
		return reply{}, err
	}
	return showHistory(http.StatusOK, h, newEditForm(h), page, r.base)
}

// showHistory shows a push with its audit log and the form of its limits.
func showHistory(status int, h store.History, edit editForm, page int, base string) (reply, error) {
	at := func(page int) string { return pagePath(revealPath(h.Token)+"/audit", url.Values{}, page) }
	p := auditPage{
		ownRow: newOwnRow(h.PushInfo, base), Note: h.Note.Reveal(), Ends: newMoment(h.ExpiresAt),
		Step: h.RetrievalStep, Deletable: h.DeletableByViewer,
		Log: make([]auditRow, len(h.Log)), Pages: newPager(page, int64(h.Seq) > int64(page)*store.PageSize, at),
		CSV: at(1) + ".csv", Edit: edit,
	}
	if h.Minor >= store.MaxMinorEntries {
		p.Full = store.MaxMinorEntries
	}
	for i, e := range h.Log {
		p.Log[i] = auditRow{When: newExactMoment(e.At), Kind: e.Kind.String(), IP: e.IP, Agent: e.UserAgent, Referrer: e.Referrer, To: e.Recipients.Reveal()}
	}
	if h.Live() {
		p.QR = linkQR(p.Link)
	}
	return show(status, "audit", p), nil
}

// newExactMoment is a moment to the second.
func newExactMoment(t time.Time) moment {
	m := newMoment(t)
	m.Text = t.UTC().Format("2006-01-02 15:04:05") + " UTC"
	return m
}
