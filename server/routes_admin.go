package server

import (
	"net/http"

	"pushbox/server/action"
	"pushbox/store/record"
)

// Paths of the pages for administrators.
const (
	accountsPath = adminPath + "/accounts/"
	logPath      = adminPath + "/log"
	logLinesPath = logPath + linesSuffix
	activityPath = adminPath + "/activity"
	findingsPath = adminPath + "/health"
	settingsPath = adminPath + "/settings"
)

// linesSuffix ends the paths of exports as JSON lines.
const linesSuffix = ".jsonl"

// routesAdmin returns the rows for administrators: in the API and as pages.
func (s *Server) routesAdmin() []action.Route {
	const (
		get      = http.MethodGet
		post     = http.MethodPost
		api      = "/api/v2/admin"
		accounts = api + "/accounts"
		account  = accounts + "/:" + action.AccountParam
	)
	rows := []action.Route{
		{Name: "admin_accounts", Method: get, Pattern: accounts, Action: s.accountsAPI},
		{Name: "admin_invite", Method: post, Pattern: accounts, Traits: action.HasLinks, Action: s.inviteAPI},
		{Name: "admin_account", Method: get, Pattern: account, Action: s.accountAPI},
		{Name: "admin_act", Method: post, Pattern: account + "/:" + action.ActParam, Traits: action.HasLinks, Action: s.actAPI},
		{Name: "admin_policy", Method: http.MethodPut, Pattern: account + "/policy/:" + action.PolicyParam, Action: s.policyAPI},
		{Name: "admin_remove", Method: http.MethodDelete, Pattern: account, Action: s.removeAPI},
		{Name: "admin_log", Method: get, Pattern: api + "/log", Action: s.logAPI},
		{Name: "admin_log_lines", Method: get, Pattern: api + "/log" + linesSuffix, Traits: action.HasFiles, Action: s.logLines},
		{Name: "admin_health", Method: get, Pattern: api + "/health", Action: s.findingsAPI},
		{Name: "admin_settings", Method: get, Pattern: api + "/settings", Action: s.settingsAPI},
	}
	for i := range rows {
		rows[i].Access, rows[i].Scope = action.Administrating, record.ScopeAdmin
	}
	pages := []action.Route{
		{Name: "accounts_page", Method: get, Pattern: adminPath, Action: s.accountsPage},
		{Name: "account_invited", Method: post, Pattern: adminPath, Traits: action.HasLinks, Action: s.withForm(s.inviteAccount)},
		{Name: "account_page", Method: get, Pattern: accountsPath + ":" + action.NameParam, Action: s.accountPage},
		{Name: "account_changed", Method: post, Pattern: accountsPath + ":" + action.NameParam, Traits: action.HasLinks, Action: s.withForm(s.changeAccount)},
		{Name: "log_page", Method: get, Pattern: logPath, Action: s.logPage},
		{Name: "activity_page", Method: get, Pattern: activityPath, Action: s.activityPage},
		{Name: "findings_page", Method: get, Pattern: findingsPath, Action: s.findingsPage},
		{Name: "settings_page", Method: get, Pattern: settingsPath, Action: s.settingsPage},
		{Name: "log_lines", Method: get, Pattern: logLinesPath, Traits: action.HasFiles, Action: s.logLines},
	}
	for _, row := range pages {
		row.Access, row.Traits, row.Nav = action.Administrating, row.Traits|action.IsPage, "admin"
		rows = append(rows, row)
	}
	return rows
}
