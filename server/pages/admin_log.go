package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/email"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/server/manage"
	"pushbox/store"
	"pushbox/store/record"
)

// logView is a page of the instance log, newest event first.
type logView struct {
	Rows    []logRow
	Kind    string // of the filter; empty: all
	Kinds   []string
	Who     string // of the filter, a part of an address; empty: all
	Day     string // of the filter; empty: all
	Account string // of the filter, by number; empty: all
	Next    string // the path of older events; empty: there are none
	First   string // the path of the newest events; empty: the page shows them
	Lines   string // the path of all these events as JSON lines
}

// Filtered reports whether the page leaves events out.
func (v logView) Filtered() bool { return v.Kind+v.Account+v.Who+v.Day != "" }

// A logRow is an event of the instance log.
type logRow struct {
	At       display.Time
	Kind     string // of a message, log_...
	By       string // of a message, log_by_...
	Who      string // the number of the account that did it; empty: see By
	WhoEmail string // its address; empty if that is no longer known
	Email    string // of the account that it is about
	Account  record.AccountID
	Details  []detail
	IP       string
	Agent    display.Agent
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
	if q.Who != "" {
		v.Set(manage.WhoField, q.Who)
	}
	if !q.Day.IsZero() {
		v.Set(manage.DayField, q.Day.Format(time.DateOnly))
	}
	if before != 0 {
		v.Set(manage.BeforeField, strconv.FormatUint(before, 10))
	}
	return pagePath(path, v, 1)
}

// logPage shows events of the instance log.
func (s *Set) logPage(r *action.Request) (action.Reply, error) {
	q, err := manage.ReadLogPage(r.URL.RawQuery)
	if err != nil {
		return action.Reply{}, err
	}
	found, rest, err := s.Manage.FindEvents(r, q)
	if err != nil {
		return action.Reply{}, err
	}
	v := logView{Kind: q.Kind.String(), Who: q.Who, Lines: logAt(q, logLinesPath, 0), Rows: newLogRows(found)}
	for _, k := range record.AdminKinds() {
		v.Kinds = append(v.Kinds, k.String())
	}
	if q.Account != 0 {
		v.Account = strconv.FormatUint(uint64(q.Account), 10)
	}
	if !q.Day.IsZero() {
		v.Day = q.Day.Format(time.DateOnly)
	}
	if rest != 0 {
		v.Next = logPathOf(q, rest)
	}
	if q.Before != 0 {
		v.First = logPathOf(q, 0)
	}
	return action.Show(http.StatusOK, "admin_log", v), nil
}

func newLogRows(found []store.AdminEventInfo) []logRow {
	rows := make([]logRow, len(found))
	for i, e := range found {
		rows[i] = logRow{
			At: display.NewExactTime(e.At), Kind: e.Kind.String(), By: e.By.Kind(), Email: email.Shown(e.Email), Account: e.Account,
			Details: readDetails(e.Kind, e.Detail), IP: e.By.IP, Agent: display.ParseAgent(e.By.UserAgent),
		}
		if by := e.By.Account; by != 0 && by != e.Account {
			rows[i].Who, rows[i].WhoEmail = strconv.FormatUint(uint64(by), 10), email.Shown(e.ByEmail)
		}
	}
	return rows
}

// eventMarks are the marks of events, by how the names of their kinds end: those of an audit log.
var eventMarks = []struct{ end, mark string }{
	{"_refused", "failed_passphrase"},
	{"_create", "creation"},
	{"_add", "creation"},
	{"_grant", "creation"},
	{"_link", "creation"},
	{"_enable", "creation"},
	{"_remove", "expire"},
	{"_removed", "expire"},
	{"_revoke", "expire"},
	{"_disable", "expire"},
	{"_unlink", "expire"},
	{"_end", "expire"},
	{"_expire", "expire"},
	{"purge", "expire"},
	{"sign_in", "view"},
	{"_confirm", "view"},
}

// Mark is the class of the event's mark; empty: it has no particular one.
func (r logRow) Mark() string {
	for _, m := range eventMarks {
		if strings.HasSuffix(r.Kind, m.end) {
			return m.mark
		}
	}
	return ""
}
