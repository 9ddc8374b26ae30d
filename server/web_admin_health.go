package server

import (
	"net/http"
	"slices"

	"pushbox/config"
	"pushbox/server/action"
	"pushbox/store/record"
)

// grades are the grades of findings, the worst first.
var grades = []string{"problem", "warning", "ok", "skipped"}

// findingsView is what was found out about the installation, the worst first.
type findingsView struct {
	Rows               []findingRow
	Problems, Warnings int
}

// A findingRow is a finding on the page.
type findingRow struct{ Finding }

// Class is the class of the finding's badge.
func (r findingRow) Class() string {
	return map[string]string{"problem": "gone", "warning": "warn", "ok": "live"}[r.Grade]
}

// findings returns what was found out about the installation.
func (s *Server) findings(r *action.Request) ([]Finding, error) {
	if s.monitoring.Findings == nil {
		return nil, record.ErrNotFound
	}
	return s.recent.findings(r.Context())
}

func countGrade(all []Finding, grade string) (n int) {
	for _, f := range all {
		if f.Grade == grade {
			n++
		}
	}
	return n
}

// findingsPage shows what was found out about the installation.
func (s *Server) findingsPage(r *action.Request) (action.Reply, error) {
	all, err := s.findings(r)
	if err != nil {
		return action.Reply{}, err
	}
	v := findingsView{Problems: countGrade(all, "problem"), Warnings: countGrade(all, "warning")}
	for _, grade := range grades {
		for _, f := range all {
			if f.Grade == grade {
				v.Rows = append(v.Rows, findingRow{f})
			}
		}
	}
	return action.Show(http.StatusOK, "admin_health", v), nil
}

// findingJSON is a finding. Its keys are those of `pushbox doctor --json`.
type findingJSON struct {
	Check string `json:"check"`
	Grade string `json:"grade"`
	Text  string `json:"text"`
	Cure  string `json:"cure,omitempty"`
}

// findingsJSON is what was found out about the installation.
type findingsJSON struct {
	Problems int           `json:"problems"`
	Warnings int           `json:"warnings"`
	Findings []findingJSON `json:"findings"`
}

// findingsAPI answers with what was found out about the installation.
func (s *Server) findingsAPI(r *action.Request) (action.Reply, error) {
	all, err := s.findings(r)
	return action.OK(newFindingsJSON(all)), err
}

func newFindingsJSON(all []Finding) findingsJSON {
	j := findingsJSON{Problems: countGrade(all, "problem"), Warnings: countGrade(all, "warning"), Findings: make([]findingJSON, len(all))}
	for i, f := range all {
		j.Findings[i] = findingJSON(f)
	}
	return j
}

// settingsView has the settings in force: those that are set, and the defaults.
type settingsView struct{ Set, Defaults []config.Value }

// settings returns the settings in force.
func (s *Server) settings() ([]config.Value, error) {
	if s.monitoring.Settings == nil {
		return nil, record.ErrNotFound
	}
	return s.monitoring.Settings(), nil
}

// settingsPage shows the settings in force.
func (s *Server) settingsPage(*action.Request) (action.Reply, error) {
	all, err := s.settings()
	isDefault := func(v config.Value) bool { return v.Origin == config.OriginDefault }
	v := settingsView{Set: slices.DeleteFunc(slices.Clone(all), isDefault)}
	v.Defaults = slices.DeleteFunc(slices.Clone(all), func(v config.Value) bool { return !isDefault(v) })
	return action.Show(http.StatusOK, "admin_settings", v), err
}

// settingJSON is a setting in force.
type settingJSON struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
	Reload bool   `json:"reload"`
}

// settingsJSON has the settings in force.
type settingsJSON struct {
	Settings []settingJSON `json:"settings"`
}

// settingsAPI answers with the settings in force.
func (s *Server) settingsAPI(*action.Request) (action.Reply, error) {
	all, err := s.settings()
	return action.OK(newSettingsJSON(all)), err
}

func newSettingsJSON(all []config.Value) settingsJSON {
	j := settingsJSON{Settings: make([]settingJSON, len(all))}
	for i, v := range all {
		j.Settings[i] = settingJSON(v)
	}
	return j
}
