package server

import (
	"context"
	"net/http"
	"slices"
	"time"

	"pushbox/server/action"
	"pushbox/store"
)

// activityDays is how many days the charts show.
const activityDays = 30

// activityView has charts of what happened in the last days.
type activityView struct {
	Charts []chart
	Days   []activityDay
	Cut    bool // there are no charts of some of it
}

// A chart shows a number for each day. It is as wide as it has days, in steps of barStep.
type chart struct {
	Name        string // of a message, activity_...
	Sum, Most   int
	Bars        []bar
	First, Last string // days
}

// A bar is the number of a day in a chart.
type bar struct {
	Day       string
	Number    int
	X, Y      int
	W, Height int
}

// Sizes in a chart.
const (
	barStep     = 10
	barWidth    = 8
	chartHeight = 60
)

// Width is the width of the chart.
func (c chart) Width() int { return len(c.Bars) * barStep }

// Tall is the height of the chart.
func (chart) Tall() int { return chartHeight }

// An activityDay is a row of the table: the numbers of a day, in the order of the charts.
type activityDay struct {
	Day     string
	Numbers []int
}

// countActivity counts what happened in the last days.
func (s *Server) countActivity(ctx context.Context) (store.Activity, error) {
	longest := 0
	for _, p := range append(slices.Clip(s.store.Policies()), s.store.Policy("")) {
		for _, k := range kindsOf(p) {
			longest = max(longest, k.Days.Max)
		}
	}
	a, err := s.store.Activity(ctx, activityDays, time.Duration(longest)*day)
	if keeps := s.cfg.PurgeAfter; keeps != 0 && keeps < activityDays*day { // some pushes are gone
		a.Created, a.Ended = nil, nil
	}
	return a, err
}

// activityPage shows what happened in the last days, as charts and as a table.
func (s *Server) activityPage(r *action.Request) (action.Reply, error) {
	a, err := s.recent.activity(r.Context())
	if err != nil {
		return action.Reply{}, err
	}
	var v activityView
	for i := range activityDays {
		v.Days = append(v.Days, activityDay{Day: a.First.AddDate(0, 0, i).Format(time.DateOnly)})
	}
	for _, c := range []struct {
		name    string
		numbers []int
	}{{"created", a.Created}, {"ended", a.Ended}, {"sign_ins", a.SignIns}, {"refused", a.Refused}} {
		if c.numbers == nil {
			v.Cut = true
			continue
		}
		for i, n := range c.numbers {
			v.Days[i].Numbers = append(v.Days[i].Numbers, n)
		}
		v.Charts = append(v.Charts, newChart(c.name, v.Days, c.numbers))
	}
	slices.Reverse(v.Days) // the table begins with the newest
	return action.Show(http.StatusOK, "admin_activity", v), nil
}

func newChart(name string, days []activityDay, numbers []int) chart {
	c := chart{Name: name, Most: slices.Max(numbers), First: days[0].Day, Last: days[len(days)-1].Day}
	for i, n := range numbers {
		c.Sum += n
		height := 0
		if n > 0 {
			height = max(2, n*chartHeight/c.Most)
		}
		c.Bars = append(c.Bars, bar{Day: days[i].Day, Number: n, X: i*barStep + 1, Y: chartHeight - height, W: barWidth, Height: height})
	}
	return c
}
