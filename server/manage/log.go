package manage

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sort"
	"strings"
	"time"

	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/store"
	"pushbox/store/record"
)

const (
	// ErrLogFilter refuses a filter that the log does not have.
	ErrLogFilter = action.BadRequest("The log has no such event.")
	// ErrDay refuses a day that is no date.
	ErrDay = action.BadRequest("A day in the query must be a date such as 2026-01-31.")

	logWindow  = 500 // events that are read at a time
	logWindows = 20  // the most events that a page reads: with a filter it may find few, and links to the rest
)

// Fields of the query of the log.
const (
	EventField = "event"
	AboutField = "account"
	WhoField   = "who" // of pages
	DayField   = "day" // of pages
)

// A LogQuery selects events for a page of the instance log.
type LogQuery struct {
	Kind    record.AdminKind // 0: all
	Account record.AccountID // 0: all
	Before  uint64           // only events of lower numbers; 0: from the newest
	Who     string           // part of an address of the account, or of the one that did it; empty: all
	Day     time.Time        // in UTC; zero: all
}

// ReadLogPage reads the query of a page for browsers, which has more filters than the API.
func ReadLogPage(query string) (q LogQuery, err error) {
	if q, err = ReadLogQuery(query); err != nil {
		return q, err
	}
	pairs, err := body.ParseQuery(query)
	if err != nil {
		return q, err
	}
	who, _, err := pairs.Only(WhoField)
	if q.Who = strings.ToLower(strings.TrimSpace(who.Reveal())); err != nil {
		return q, err
	}
	if len(q.Who) > MaxSearch {
		return q, ErrSearch
	}
	day, _, err := pairs.Only(DayField)
	if err != nil || day.IsZero() {
		return q, err
	}
	if q.Day, err = time.Parse(time.DateOnly, day.Reveal()); err != nil {
		return q, ErrDay
	}
	return q, nil
}

// ReadLogQuery reads the query of a part of the log.
func ReadLogQuery(query string) (q LogQuery, err error) {
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
	return (q.Kind == 0 || e.Kind == q.Kind) && (q.Account == 0 || e.Account == q.Account || e.By.Account == q.Account) &&
		(q.Who == "" || strings.Contains(strings.ToLower(e.Email), q.Who) || strings.Contains(strings.ToLower(e.ByEmail), q.Who))
}

// bounds returns the first event that the query may ask for, and the one behind its last. Numbers have no
// gap, and times never run back, so a day is found without reading the others.
func (s *Desk) bounds(ctx context.Context, q LogQuery) (first, end uint64, err error) {
	last, err := s.Store.LastAdminEvent(ctx)
	if err != nil {
		return 0, 0, err
	}
	if first, end = 1, last+1; q.Before != 0 {
		end = min(q.Before, end)
	}
	if q.Day.IsZero() {
		return first, end, nil
	}
	at := func(t time.Time) uint64 { // the first event at t or later
		return 1 + uint64(sort.Search(int(last), func(i int) bool {
			one, failed := s.Store.AdminEvents(ctx, time.Time{}, uint64(i), 1)
			err = errors.Join(err, failed)
			return len(one) == 0 || !one[0].At.Before(t)
		}))
	}
	return at(q.Day), min(end, at(q.Day.AddDate(0, 0, 1))), err
}

// LogLines answers with all events that the query asks for, oldest first, as JSON lines. It reads
// them while it sends, so the log is never in memory as a whole.
func (s *Desk) LogLines(r *action.Request) (action.Reply, error) {
	q, err := ReadLogPage(r.URL.RawQuery)
	if err != nil {
		return action.Reply{}, err
	}
	first, end, err := s.bounds(r.Context(), q) // an export must not wait for the events that it causes
	if err != nil {
		return action.Reply{}, err
	}
	q.Before = end
	return action.Reply{
		Status: http.StatusOK, Lines: func(write func(any) error) error {
			return s.ExportEvents(r, q, first, func(line store.AdminLine) error { return write(line) })
		},
		Header: [][2]string{{"Content-Disposition", `attachment; filename="instance-log.jsonl"`}},
	}, nil
}

// ExportEvents reads the events of a query from the first number on, in parts, and writes a line for each.
func (s *Desk) ExportEvents(r *action.Request, q LogQuery, first uint64, write func(store.AdminLine) error) error {
	for after := first - 1; ; {
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

// FindEvents returns the page of events that the query asks for, newest first, and the number before
// which there may be more; 0 if there are no more.
func (s *Desk) FindEvents(r *action.Request, q LogQuery) (found []store.AdminEventInfo, rest uint64, err error) {
	first, before, err := s.bounds(r.Context(), q)
	if err != nil {
		return nil, 0, err
	}
	for range logWindows {
		if before <= first {
			return found, 0, nil
		}
		after := max(before-min(before, logWindow+1), first-1)
		window, err := s.Store.AdminEvents(r.Context(), time.Time{}, after, int(before-1-after))
		if err != nil {
			return nil, 0, err
		}
		for _, e := range slices.Backward(window) {
			if e.Number >= before || !q.fits(e) {
				continue
			}
			if len(found) == store.PageSize {
				return found, found[len(found)-1].Number, nil
			}
			found = append(found, e)
		}
		if len(window) == 0 { // the oldest events were removed
			return found, 0, nil
		}
		before = after + 1
	}
	return found, before, nil
}
