package manage

import (
	"net/http"
	"slices"
	"time"

	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/store"
	"pushbox/store/record"
)

const (
	// ErrLogFilter refuses a filter that the log does not have.
	ErrLogFilter = action.BadRequest("The log has no such event.")

	logWindow  = 500 // events that are read at a time
	logWindows = 20  // the most events that a page reads: with a filter it may find few, and links to the rest
)

// Fields of the query of the log.
const (
	EventField = "event"
	AboutField = "account"
)

// A LogQuery selects events for a page of the instance log.
type LogQuery struct {
	Kind    record.AdminKind // 0: all
	Account record.AccountID // 0: all
	Before  uint64           // only events of lower numbers; 0: from the newest
}

// readLogQuery reads the query of a page of the log.
func readLogQuery(query string) (q LogQuery, err error) {
	pairs, err := body.ParseQuery(query)
	if err != nil {
		return q, err
	}
	if q.Before, err = numberIn(pairs, BeforeField); err != nil {
		return q, err
	}
	account, err := numberIn(pairs, AboutField)
	if q.Account = record.AccountID(account); err != nil {
		return q, err
	}
	name, _, err := pairs.Only(EventField)
	if err != nil || name.IsZero() {
		return q, err
	}
	i := slices.IndexFunc(record.AdminKinds(), func(k record.AdminKind) bool { return k.String() == name.Reveal() })
	if i < 0 {
		return q, ErrLogFilter
	}
	q.Kind = record.AdminKinds()[i]
	return q, nil
}

func (q LogQuery) fits(e store.AdminEventInfo) bool {
	return (q.Kind == 0 || e.Kind == q.Kind) && (q.Account == 0 || e.Account == q.Account || e.By.Account == q.Account)
}

// LogLines answers with all events that the query asks for, oldest first, as JSON lines. It reads
// them while it sends, so the log is never in memory as a whole.
func (s *Desk) LogLines(r *action.Request) (action.Reply, error) {
	q, err := readLogQuery(r.URL.RawQuery)
	if err != nil {
		return action.Reply{}, err
	}
	last, err := s.Store.LastAdminEvent(r.Context())
	if err != nil {
		return action.Reply{}, err
	}
	if q.Before == 0 || q.Before > last {
		q.Before = last + 1 // an export must not wait for the events that it causes
	}
	return action.Reply{
		Status: http.StatusOK, Lines: func(write func(any) error) error {
			return s.ExportEvents(r, q, func(line store.AdminLine) error { return write(line) })
		},
		Header: [][2]string{{"Content-Disposition", `attachment; filename="instance-log.jsonl"`}},
	}, nil
}

// ExportEvents reads the events of a query, in parts, and writes a line for each.
func (s *Desk) ExportEvents(r *action.Request, q LogQuery, write func(store.AdminLine) error) error {
	for after := uint64(0); ; {
		window, err := s.Store.AdminEvents(r.Context(), time.Time{}, after, logWindow)
		if err != nil {
			return err
		}
		for _, e := range window {
			if after = e.Number; after >= q.Before {
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

// FindEvents returns the query and the page of events that it asks for, newest first, and the
// number before which there may be more; 0 if there are no more.
func (s *Desk) FindEvents(r *action.Request) (q LogQuery, found []store.AdminEventInfo, rest uint64, err error) {
	if q, err = readLogQuery(r.URL.RawQuery); err != nil {
		return q, nil, 0, err
	}
	last, err := s.Store.LastAdminEvent(r.Context())
	if err != nil {
		return q, nil, 0, err
	}
	before := last + 1
	if q.Before != 0 {
		before = min(q.Before, before)
	}
	for range logWindows {
		if before <= 1 {
			return q, found, 0, nil
		}
		after := before - min(before, logWindow+1)
		window, err := s.Store.AdminEvents(r.Context(), time.Time{}, after, int(before-1-after))
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
