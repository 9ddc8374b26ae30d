package pages

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"pushbox/config"
	"pushbox/server/action"
	"pushbox/server/manage"
)

// activityView has charts of what happened in the last days.
type activityView struct {
	Charts []chart
	Days   []activityDay
	Cut    bool // some of the activity has no charts
}

// A chart shows a number for each day. Its width is the number of days times barStep.
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

// activityPage shows the activity of the last days as charts and as a table.
func (s *Set) activityPage(r *action.Request) (action.Reply, error) {
	v, err := s.readActivity(r)
	slices.Reverse(v.Days) // the table begins with the newest
	return action.Show(http.StatusOK, "admin_activity", v), err
}

func (s *Set) readActivity(r *action.Request) (v activityView, err error) {
	a, err := s.Manage.Recent.Activity(r.Context())
	if err != nil {
		return v, err
	}
	for i := range manage.ActivityDays {
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
	return v, nil
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

// findingsView has the findings about the installation, by their grades.
type findingsView struct {
	Bad                []manage.Finding // problems, then warnings
	Passed, Skipped    []manage.Finding
	Problems, Warnings int
}

func newFindingsView(all []manage.Finding) (v findingsView) {
	graded := func(grade string) (some []manage.Finding) {
		for _, f := range all {
			if f.Grade == grade {
				some = append(some, f)
			}
		}
		return some
	}
	problems, warnings := graded("problem"), graded("warning")
	return findingsView{
		Bad: slices.Concat(problems, warnings), Passed: graded("ok"), Skipped: graded("skipped"),
		Problems: len(problems), Warnings: len(warnings),
	}
}

// Class is the class of the notice that sums the findings up.
func (v findingsView) Class() string {
	switch {
	case v.Problems > 0:
		return "danger"
	case v.Warnings > 0:
		return "warning"
	default:
		return "success"
	}
}

// findingsPage shows the findings about the installation.
func (s *Set) findingsPage(r *action.Request) (action.Reply, error) {
	all, err := s.Manage.FindingsNow(r)
	return action.Show(http.StatusOK, "admin_health", newFindingsView(all)), err
}

// settingsView has the settings in force: those that are set, and the defaults.
type settingsView struct{ Set, Defaults []settingRow }

// A settingRow is a setting in force.
type settingRow config.Value

// origins are the messages for where a value is from, without settings_from_, by the first word of
// its origin; the rest of the origin is a name.
var origins = []string{"file", "environment", "flag"}

// From is the key of the message that says where the value is from, by the name of that; empty:
// Origin says it.
func (r settingRow) From() string {
	kind, name, _ := strings.Cut(r.Origin, " ")
	switch {
	case name == "" || !slices.Contains(origins, kind):
		return ""
	case r.Line > 0:
		return "settings_from_line"
	default:
		return "settings_from_" + kind
	}
}

// Place is the name of where the value is from: of a file, a variable or a flag.
func (r settingRow) Place() string {
	_, name, _ := strings.Cut(r.Origin, " ")
	return name
}

// settingsPage shows the settings in force.
func (s *Set) settingsPage(*action.Request) (action.Reply, error) {
	all, err := s.Manage.SettingsNow()
	var v settingsView
	for _, one := range all {
		if one.Origin == config.OriginDefault {
			v.Defaults = append(v.Defaults, settingRow(one))
		} else {
			v.Set = append(v.Set, settingRow(one))
		}
	}
	return action.Show(http.StatusOK, "admin_settings", v), err
}
