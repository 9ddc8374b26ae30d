package pages

import (
	"net/http"
	"net/url"
	"strconv"

	"pushbox/internal/email"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/server/manage"
	"pushbox/store/record"
)

// logView is a page of the instance log, newest event first.
type logView struct {
	Rows    []logRow
	Kind    string // of the filter; empty: all
	Kinds   []string
	Account string // of the filter, by number; empty: all
	Next    string // the path of older events; empty: there are none
	First   string // the path of the newest events; empty: the page shows them
	Lines   string // the path of all these events as JSON lines
}

// A logRow is an event of the instance log.
type logRow struct {
	At        display.Time
	Kind      string // of a message, log_...
	By        string // of a message, log_by_...
	Who       string // the number of the account that did it; empty: see By
	WhoEmail  string // its address; empty if that is no longer known
	Email     string // of the account that it is about
	Account   record.AccountID
	Detail    string
	IP        string
	Agent     display.Agent
	UserAgent string
}

// logPathOf returns the path of the page of events before a number; 0: of the newest.
func logPathOf(q manage.LogQuery, before uint64) string { return logAt(q, logPath, before) }

// logAt adds the query for the events before a number to a path.
func logAt(q manage.LogQuery, path string, before uint64) string {
	v := url.Values{}
	if q.Kind != 0 {
		v.Set(manage.EventField, q.Kind.String())
	}
	if q.Account != 0 {
		v.Set(manage.AboutField, strconv.FormatUint(uint64(q.Account), 10))
	}
	if before != 0 {
		v.Set(manage.BeforeField, strconv.FormatUint(before, 10))
	}
	return pagePath(path, v, 1)
}

// logPage shows events of the instance log.
func (s *Set) logPage(r *action.Request) (action.Reply, error) {
	q, found, rest, err := s.Manage.FindEvents(r)
	if err != nil {
		return action.Reply{}, err
	}
	v := logView{Kind: q.Kind.String(), Lines: logAt(q, logLinesPath, 0), Rows: make([]logRow, len(found))}
	for _, k := range record.AdminKinds() {
		v.Kinds = append(v.Kinds, k.String())
	}
	if q.Account != 0 {
		v.Account = strconv.FormatUint(uint64(q.Account), 10)
	}
	if rest != 0 {
		v.Next = logPathOf(q, rest)
	}
	if q.Before != 0 {
		v.First = logPathOf(q, 0)
	}
	for i, e := range found {
		v.Rows[i] = logRow{
			At: display.NewTime(e.At), Kind: e.Kind.String(), By: e.By.Kind(), Email: email.Shown(e.Email), Account: e.Account,
			Detail: e.Detail, IP: e.By.IP, Agent: display.ParseAgent(e.By.UserAgent), UserAgent: e.By.UserAgent,
		}
		if by := e.By.Account; by != 0 && by != e.Account {
			v.Rows[i].Who, v.Rows[i].WhoEmail = strconv.FormatUint(uint64(by), 10), e.ByEmail
		}
	}
	return action.Show(http.StatusOK, "admin_log", v), nil
}
