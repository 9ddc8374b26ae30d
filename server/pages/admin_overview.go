package pages

import (
	"errors"
	"net/http"

	"pushbox/server/action"
	"pushbox/server/manage"
	"pushbox/store/record"
)

// overviewEvents is how many events the overview shows.
const overviewEvents = 10

// overviewView is the first page of the administration: numbers, health and the last events.
type overviewView struct {
	Charts []chart
	Health *findingsView // nil: there are no findings
	Rows   []logRow
}

// overviewPage shows how the server fares.
func (s *Set) overviewPage(r *action.Request) (action.Reply, error) {
	activity, err := s.readActivity(r)
	if err != nil {
		return action.Reply{}, err
	}
	v := overviewView{Charts: activity.Charts}
	all, err := s.Manage.FindingsNow(r)
	switch {
	case err == nil:
		found := newFindingsView(all)
		v.Health = &found
	case !errors.Is(err, record.ErrNotFound):
		return action.Reply{}, err
	}
	found, _, err := s.Manage.FindEvents(r, manage.LogQuery{})
	v.Rows = newLogRows(found[:min(len(found), overviewEvents)])
	return action.Show(http.StatusOK, "admin_overview", v), err
}
