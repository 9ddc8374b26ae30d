package server

import (
	"net/http"

	"pushbox/server/action"
	"pushbox/store/record"
)

// routesAdmin returns the rows for administrators.
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
		{Name: "admin_log_lines", Method: get, Pattern: api + "/log" + ".jsonl", Traits: action.HasFiles, Action: s.manage.LogLines},
		{Name: "admin_health", Method: get, Pattern: api + "/health", Action: s.findingsAPI},
		{Name: "admin_settings", Method: get, Pattern: api + "/settings", Action: s.settingsAPI},
	}
	for i := range rows {
		rows[i].Access, rows[i].Scope = action.Administrating, record.ScopeAdmin
	}
	return rows
}
