package server

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"pushbox/internal/email"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

const (
	errLogFilter = action.BadRequest("The log has no such event.")

	logWindow  = 500 // events that are read at a time
	logWindows = 20  // that a page reads at most: with a filter it may find few, and links to the rest
)

// Fields of the query of the log.
const (
	eventField = "event"
	aboutField = "account"
)

// A logQuery is what a page of the instance log shows.
type logQuery struct {
	kind    record.AdminKind // 0: all
	account record.AccountID // 0: all
	before  uint64           // only events of lower numbers; 0: from the newest
}

// logView is a page of the instance log, newest event first.
type logView struct {
	Rows    []logRow
	Kind    string // of the filter; empty: all
	Kinds   []string
	Account string // of the filter, by number; empty: all
	Next    string // the path of older events; empty: there are none
	First   string // the path of the newest events; empty: this is it
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

// readLogQuery reads the query of a page of the log.
func readLogQuery(query string) (q logQuery, err error) {
	pairs, err := body.ParseQuery(query)
	if err != nil {
		return q, err
	}
	if q.before, err = numberIn(pairs, beforeField); err != nil {
		return q, err
	}
	account, err := numberIn(pairs, aboutField)
	if q.account = record.AccountID(account); err != nil {
		return q, err
	}
	name, _, err := pairs.Only(eventField)
	if err != nil || name.IsZero() {
		return q, err
	}
	i := slices.IndexFunc(record.AdminKinds(), func(k record.AdminKind) bool { return k.String() == name.Reveal() })
	if i < 0 {
		return q, errLogFilter
	}
	q.kind = record.AdminKinds()[i]
	return q, nil
}

// path returns the path of the page of events before a number; 0: of the newest.
func (q logQuery) path(before uint64) string { return q.at(logPath, before) }

// at adds the query for the events before a number to a path.
func (q logQuery) at(path string, before uint64) string {
	v := url.Values{}
	if q.kind != 0 {
		v.Set(eventField, q.kind.String())
	}
	if q.account != 0 {
		v.Set(aboutField, strconv.FormatUint(uint64(q.account), 10))
	}
	if before != 0 {
		v.Set(beforeField, strconv.FormatUint(before, 10))
	}
	return pagePath(path, v, 1)
}

func (q logQuery) fits(e store.AdminEventInfo) bool {
	return (q.kind == 0 || e.Kind == q.kind) && (q.account == 0 || e.Account == q.account || e.By.Account == q.account)
}

// logLines answers with all events that the query asks for, oldest first, as JSON lines. It
// reads them on the way, so the log is never in memory as a whole.
func (s *Server) logLines(r *action.Request) (action.Reply, error) {
	q, err := readLogQuery(r.URL.RawQuery)
	if err != nil {
		return action.Reply{}, err
	}
	last, err := s.store.LastAdminEvent(r.Context())
	if err != nil {
		return action.Reply{}, err
	}
	if q.before == 0 || q.before > last {
		q.before = last + 1 // an export must not make events that it then waits for
	}
	return action.Reply{
		Status: http.StatusOK, Lines: func(write func(any) error) error {
			return s.exportEvents(r, q, func(line store.AdminLine) error { return write(line) })
		},
		Header: [][2]string{{"Content-Disposition", `attachment; filename="instance-log.jsonl"`}},
	}, nil
}

// exportEvents reads the events of a query, in parts, and writes a line for each.
func (s *Server) exportEvents(r *action.Request, q logQuery, write func(store.AdminLine) error) error {
	for after := uint64(0); ; {
		window, err := s.store.AdminEvents(r.Context(), time.Time{}, after, logWindow)
		if err != nil {
			return err
		}
		for _, e := range window {
			if after = e.Number; after >= q.before {
				return nil
			}
			if q.fits(e) {
				if err := write(e.Line()); err != nil {
					return err
				}
			}
		}
		if len(window) < logWindow {
			return nil
		}
	}
}

// logPage shows events of the instance log.
func (s *Server) logPage(r *action.Request) (action.Reply, error) {
	q, found, rest, err := s.findEvents(r)
	if err != nil {
		return action.Reply{}, err
	}
	v := logView{Kind: q.kind.String(), Lines: q.at(logLinesPath, 0), Rows: make([]logRow, len(found))}
	for _, k := range record.AdminKinds() {
		v.Kinds = append(v.Kinds, k.String())
	}
	if q.account != 0 {
		v.Account = strconv.FormatUint(uint64(q.account), 10)
	}
	if rest != 0 {
		v.Next = q.path(rest)
	}
	if q.before != 0 {
		v.First = q.path(0)
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

// findEvents returns the query and the page of events that it asks for, newest first, and the
// number before which there may be more; 0 if there are no more.
func (s *Server) findEvents(r *action.Request) (q logQuery, found []store.AdminEventInfo, rest uint64, err error) {
	if q, err = readLogQuery(r.URL.RawQuery); err != nil {
		return q, nil, 0, err
	}
	last, err := s.store.LastAdminEvent(r.Context())
	if err != nil {
		return q, nil, 0, err
	}
	before := last + 1
	if q.before != 0 {
		before = min(q.before, before)
	}
	for range logWindows {
		if before <= 1 {
			return q, found, 0, nil
		}
		after := before - min(before, logWindow+1)
		window, err := s.store.AdminEvents(r.Context(), time.Time{}, after, int(before-1-after))
		if err != nil {
			return q, nil, 0, err
		}
		for _, e := range slices.Backward(window) {
			if e.Number >= before || !q.fits(e) {
				continue
			}
			if len(found) == store.PageSize {
				return q, found, found[len(found)-1].Number, nil
			}
			found = append(found, e)
		}
		if len(window) == 0 { // the oldest events were removed
			return q, found, 0, nil
		}
		before = after + 1
	}
	return q, found, before, nil
}
