package pages

import (
	"net/http"
	"net/url"
	"strings"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

// auditView shows one of the account's own pushes with its audit log.
type auditView struct {
	ownRow
	Note      string
	Asked     string        // the title of the request that it answers; empty: it answers none, or the request is gone
	Ends      display.Time  // when its time limit is reached
	OpensAt   *display.Time // nil: it can be opened now
	Closes    *timeLeft     // how long after its first view it ends; nil: that does not change when it ends
	Same      string        // the path of the form with the same options; empty: it answers a request
	Recipient secret.Text   // who may open it; empty: anyone with the link
	Step      bool          // its link leads to a page with a button first
	Typed     bool          // recipients type a number
	Networks  string        // from which it opens; empty: from anywhere
	Deletable bool          // by recipients, who have the link
	QR        *display.QR   // nil: the link is too long for one

	Log   []auditRow
	Sum   *auditSum // nil: the log is too long for it
	Full  int       // the number of minor entries once the log keeps no further ones; 0 before
	Pages pager
	CSV   string

	Certificate string // the path of the certificate of its end

	Edit editForm
}

// An auditSum is a summary of an audit log.
type auditSum struct {
	store.Summary
	First, Last *display.Time // nil: it was not opened
}

// An auditRow is a line of the audit log.
type auditRow struct {
	When     display.Time
	Kind     string // of a message, audit_kind_...
	Answer   bool   // it is the creation of an answer to a request
	IP       string
	Agent    string
	Program  display.Agent // names in the agent
	Referrer secret.Text
	To       secret.Text // the recipients of a mail
}

// Known reports whether the agent has a known browser or system.
func (r auditRow) Known() bool { return r.Program.Browser != "" || r.Program.System != "" }

// auditPage shows the audit log of a push.
func (s *Set) auditPage(r *action.Request) (action.Reply, error) {
	page, err := action.ReadPage(r)
	if err != nil {
		return action.Reply{}, err
	}
	h, err := s.Store.History(r.Context(), r.Actor, r.Push, page)
	if err != nil {
		return action.Reply{}, err
	}
	return showHistory(http.StatusOK, h, newEditForm(h), page, r.Base)
}

// showHistory returns the page of a push, with its audit log and the form of its limits.
func showHistory(status int, h store.History, edit editForm, page int, base string) (action.Reply, error) {
	at := func(page int) string { return pagePath(ownerPath(h.PushInfo)+"/audit", url.Values{}, page) }
	p := auditView{
		ownRow: newOwnRow(h.PushInfo, base), Note: h.Note.Reveal(), Asked: h.Asked.Reveal(), Ends: display.NewTime(h.ExpiresAt),
		OpensAt: opensLater(h.PushInfo), Closes: closes(h.PushInfo), Recipient: h.Recipient, Step: h.RetrievalStep, Typed: h.TypedReveal && h.Recipient.IsZero(), Networks: strings.ReplaceAll(h.Networks, " ", ", "), Deletable: h.DeletableByViewer,
		Log: make([]auditRow, len(h.Log)), Pages: newPager(page, int64(h.Seq) > int64(page)*store.PageSize, at),
		CSV: at(1) + ".csv", Certificate: ownerPath(h.PushInfo) + "/certificate", Edit: edit,
	}
	if !h.IsAnswer() {
		p.Same = formPath(h.PushInfo)
	}
	if h.Minor >= store.MaxMinorEntries {
		p.Full = store.MaxMinorEntries
	}
	for i, e := range h.Log {
		p.Log[i] = auditRow{
			When: display.NewExactTime(e.At), Kind: e.Kind.String(), Answer: e.Request != record.RequestID{}, IP: e.IP,
			Agent: e.UserAgent, Program: display.ParseAgent(e.UserAgent), Referrer: e.Referrer, To: e.Recipients,
		}
	}
	if h.Summary != nil {
		p.Sum = &auditSum{*h.Summary, display.OptionalTime(h.Summary.First), display.OptionalTime(h.Summary.Last)}
	}
	if h.Live() {
		p.QR = display.LinkQR(p.Link)
	}
	return action.Show(status, "audit", p), nil
}
