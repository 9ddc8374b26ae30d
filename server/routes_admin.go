package server

import (
	"net/http"

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
func (s *Server) routesAdmin() []route {
	const (
		get      = http.MethodGet
		post     = http.MethodPost
		api      = "/api/v2/admin"
		accounts = api + "/accounts"
		account  = accounts + "/:" + accountParam
	)
	rows := []route{
		{name: "admin_accounts", method: get, pattern: accounts, action: s.accountsAPI},
		{name: "admin_invite", method: post, pattern: accounts, traits: hasLinks, action: s.inviteAPI},
		{name: "admin_account", method: get, pattern: account, action: s.accountAPI},
		{name: "admin_act", method: post, pattern: account + "/:" + actParam, traits: hasLinks, action: s.actAPI},
		{name: "admin_policy", method: http.MethodPut, pattern: account + "/policy/:" + policyParam, action: s.policyAPI},
		{name: "admin_remove", method: http.MethodDelete, pattern: account, action: s.removeAPI},
		{name: "admin_log", method: get, pattern: api + "/log", action: s.logAPI},
		{name: "admin_log_lines", method: get, pattern: api + "/log" + linesSuffix, traits: hasFiles, action: s.logLines},
		{name: "admin_health", method: get, pattern: api + "/health", action: s.findingsAPI},
		{name: "admin_settings", method: get, pattern: api + "/settings", action: s.settingsAPI},
	}
	for i := range rows {
		rows[i].access, rows[i].scope = administrating, record.ScopeAdmin
	}
	pages := []route{
		{name: "accounts_page", method: get, pattern: adminPath, action: s.accountsPage},
		{name: "account_invited", method: post, pattern: adminPath, traits: hasLinks, action: s.withForm(s.inviteAccount)},
		{name: "account_page", method: get, pattern: accountsPath + ":" + nameParam, action: s.accountPage},
		{name: "account_changed", method: post, pattern: accountsPath + ":" + nameParam, traits: hasLinks, action: s.withForm(s.changeAccount)},
		{name: "log_page", method: get, pattern: logPath, action: s.logPage},
		{name: "activity_page", method: get, pattern: activityPath, action: s.activityPage},
		{name: "findings_page", method: get, pattern: findingsPath, action: s.findingsPage},
		{name: "settings_page", method: get, pattern: settingsPath, action: s.settingsPage},
		{name: "log_lines", method: get, pattern: logLinesPath, traits: hasFiles, action: s.logLines},
	}
	for _, row := range pages {
		row.access, row.traits, row.nav = administrating, row.traits|isPage, "admin"
		rows = append(rows, row)
	}
	return rows
}
