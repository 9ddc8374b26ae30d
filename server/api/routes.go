package api

import (
	"net/http"
	"slices"
	"strings"

	"pushbox/server/action"
	"pushbox/store/record"
)

// Routes returns the rows of the API, of files and of the help, each once.
func (s *Service) Routes() []action.Route {
	const (
		pushes = "/api/v2/pushes"
		push   = pushes + "/:" + action.TokenParam
		file   = "/d/:" + action.GrantParam + "/:" + action.FileParam
		asked  = requestsPath
		one    = asked + "/:" + action.RequestParam
		shown  = action.HasLinks | action.ForRequests
	)
	const (
		get  = http.MethodGet
		post = http.MethodPost
	)
	rows := []action.Route{
		{Name: "version", Method: get, Pattern: "/api/v2/version", Access: action.Public, Traits: action.ForRecipients | action.NotCounted, Action: s.version},
		{Name: "openapi", Method: get, Pattern: "/api/v2/openapi", Access: action.Public, Traits: action.HasLinks, Action: s.describe(false, false)}, // the router removes .json
		{Name: "openapi_30", Method: get, Pattern: "/api/v2/openapi-3.0", Access: action.Public, Traits: action.HasLinks, Action: s.describe(false, true)},
		{Name: "create", Method: post, Pattern: pushes, Access: action.Creating, Scope: record.ScopeCreate, Traits: action.HasLinks | action.HasFiles, Action: s.createPush},
		{Name: "active", Method: get, Pattern: push, Word: "active", Access: action.Required, Scope: record.ScopeRead, Traits: action.HasLinks | action.HasList, Action: s.activePushes},
		{Name: "expired", Method: get, Pattern: push, Word: "expired", Access: action.Required, Scope: record.ScopeRead, Traits: action.HasLinks | action.HasList, Action: s.expiredPushes},
		{Name: "show", Method: get, Pattern: push, Access: action.Optional, Scope: record.ScopeRead, Traits: action.HasLinks | action.ForRecipients | action.CountsViews, Action: s.showPush},
		{Name: "delete", Method: http.MethodDelete, Pattern: push, Access: action.Optional, Scope: record.ScopeManage, Traits: action.HasLinks | action.ForRecipients, Action: s.deletePush},
		{Name: "preview", Method: get, Pattern: push + "/preview", Access: action.Optional, Scope: record.ScopeRead, Traits: action.HasLinks | action.ForRecipients, Action: s.previewPush},
		{Name: "audit", Method: get, Pattern: push + "/audit", Access: action.Required, Scope: record.ScopeRead, Action: s.auditPush},
		{Name: "certificate", Method: get, Pattern: push + "/certificate", Access: action.Required, Scope: record.ScopeRead, Traits: action.HasLinks, Action: s.certifyPush},
		{Name: "notify_emails", Method: post, Pattern: push + "/notify_emails", Access: action.Required, Scope: record.ScopeManage, Traits: action.HasLinks, Action: s.mailPush},
		{Name: "thaw", Method: post, Pattern: push + "/thaw", Access: action.Required, Scope: record.ScopeManage, Traits: action.HasLinks, Action: s.thawPushAPI},
		{Name: "request_create", Method: post, Pattern: asked, Access: action.Required, Scope: record.ScopeCreate, Traits: action.HasLinks | action.ForRequests, Action: s.createRequest},
		{Name: "requests", Method: get, Pattern: asked, Access: action.Required, Scope: record.ScopeRead, Traits: action.HasLinks | action.HasList | action.ForRequests, Action: s.listRequests()},
		{Name: "request", Method: get, Pattern: one, Access: action.Required, Scope: record.ScopeRead, Traits: action.HasLinks | action.ForRequests, Action: s.showRequest},
		{Name: "request_end", Method: http.MethodDelete, Pattern: one, Access: action.Required, Scope: record.ScopeManage, Traits: action.HasLinks | action.ForRequests, Action: s.endRequest},
		{Name: "requests_open", Method: get, Pattern: one, Word: stateOpen, Access: action.Required, Scope: record.ScopeRead, Traits: shown | action.HasList, Action: s.listRequests(stateOpen)},
		{Name: "requests_ready", Method: get, Pattern: one, Word: stateReady, Access: action.Required, Scope: record.ScopeRead, Traits: shown | action.HasList, Action: s.listRequests(stateReady)},
		{Name: "requests_closed", Method: get, Pattern: one, Word: stateClosed, Access: action.Required, Scope: record.ScopeRead, Traits: shown | action.HasList, Action: s.listRequests(stateClosed)},
		{Name: "requests_active", Method: get, Pattern: one, Word: "active", Access: action.Required, Scope: record.ScopeRead, Traits: shown | action.HasList, Action: s.listRequests(stateOpen, stateReady)},
		{Name: "request_preview", Method: get, Pattern: one + "/preview", Access: action.Required, Scope: record.ScopeRead, Traits: shown, Action: s.previewRequest},
		{Name: "request_audit", Method: get, Pattern: one + "/audit", Access: action.Required, Scope: record.ScopeRead, Traits: action.ForRequests, Action: s.auditRequest},
		{Name: "request_respond", Method: http.MethodPatch, Pattern: one + "/respond", Access: action.Optional, Scope: record.ScopeCreate, Traits: shown | action.HasFiles | action.ForRecipients, Action: s.respond},
		{Name: "download", Method: get, Pattern: file, Access: action.Public, Traits: action.HasFiles | action.ForRecipients, Action: s.downloadFile},
		{Name: "download_all", Method: get, Pattern: "/files/:" + action.GrantParam, Access: action.Public, Traits: action.IsPage | action.HasFiles | action.ForRecipients, Action: s.downloadAll},
		{Name: "own_account_export", Method: get, Pattern: "/users/account/export", Access: action.Required, Traits: action.IsPage | action.HasFiles, Action: s.exportOwnAccount},
		{Name: "api_help", Method: get, Pattern: action.HelpPath, Access: action.Optional, Traits: action.IsPage | action.HasLinks | action.Compressed, Nav: "api", Action: s.apiHelpPage},
	}
	if s.Config.Compat.Commercial() {
		rows = append(rows, action.Route{Name: "accounts", Method: get, Pattern: "/api/v2/accounts", Access: action.Required, Scope: record.ScopeRead, Action: s.listAccounts})
	}
	return slices.Concat(rows, s.routesAdmin(), s.routesV1())
}

// exports returns the parts of the export of an account, in their order.
func (s *Service) exports() []exportPart {
	return []exportPart{s.exportFactors, s.exportSessions, s.exportTokens, s.exportHooks, s.exportPushes, s.exportRequests, s.exportOwnEvents}
}

// routesAdmin returns the rows for administrators.
func (s *Service) routesAdmin() []action.Route {
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
		{Name: "admin_log_lines", Method: get, Pattern: api + "/log" + ".jsonl", Traits: action.HasFiles, Action: s.Manage.LogLines},
		{Name: "admin_health", Method: get, Pattern: api + "/health", Action: s.findingsAPI},
		{Name: "admin_settings", Method: get, Pattern: api + "/settings", Action: s.settingsAPI},
	}
	for i := range rows {
		rows[i].Access, rows[i].Scope = action.Administrating, record.ScopeAdmin
	}
	return rows
}

// routesV1 are the rows of API version 1. Their paths end in .json, and the paths of
// pages begin in the same way, so the router keeps them apart.
func (s *Service) routesV1() []action.Route {
	const file = action.IsV1 | action.HasLinks | action.HasFiles
	rows := []action.Route{
		{Name: "v1_version", Method: http.MethodGet, Pattern: "/api/v1/version", Access: action.Public, Traits: action.IsV1 | action.NotCounted, Action: s.versionV1},
		{Name: "v1_openapi", Method: http.MethodGet, Pattern: strings.TrimSuffix(action.DocumentV1, action.JSONSuffix), Access: action.Public, Traits: action.IsV1 | action.HasLinks, Action: s.describe(true, false)},
		{Name: "v1_openapi_30", Method: http.MethodGet, Pattern: "/api/v1/openapi-3.0", Access: action.Public, Traits: action.IsV1 | action.HasLinks, Action: s.describe(true, true)},
		{Name: "v1_create", Method: http.MethodPost, Pattern: "/p.json", Access: action.Creating, Scope: record.ScopeCreate, Traits: file | action.CrossOrigin, Action: s.createV1(passwordV1)},
		{Name: "v1_create_file", Method: http.MethodPost, Pattern: "/f.json", Access: action.Required, Scope: record.ScopeCreate, Traits: file, Action: s.createV1(filesV1)},
		{Name: "v1_create_url", Method: http.MethodPost, Pattern: "/r.json", Access: action.Required, Scope: record.ScopeCreate, Traits: file, Action: s.createV1(urlV1)},
	}
	for _, prefix := range action.PrefixesV1 {
		push := "/" + string(prefix) + "/:" + action.TokenParam
		for _, row := range [...]action.Route{
			{Name: "v1_active", Method: http.MethodGet, Pattern: push, Word: "active", Access: action.Required, Scope: record.ScopeRead, Traits: action.HasLinks | action.HasList, Action: s.activePushes},
			{Name: "v1_expired", Method: http.MethodGet, Pattern: push, Word: "expired", Access: action.Required, Scope: record.ScopeRead, Traits: action.HasLinks | action.HasList, Action: s.expiredPushes},
			{Name: "v1_show", Method: http.MethodGet, Pattern: push, Access: action.Optional, Scope: record.ScopeRead, Traits: action.HasLinks | action.CountsViews, Action: s.showPush},
			{Name: "v1_show", Method: http.MethodGet, Pattern: push + "/r", Access: action.Optional, Scope: record.ScopeRead, Traits: action.HasLinks | action.CountsViews, Action: s.showPush}, // html_url with .json behind it
			{Name: "v1_delete", Method: http.MethodDelete, Pattern: push, Access: action.Optional, Scope: record.ScopeManage, Traits: action.HasLinks, Action: s.deletePush},
			{Name: "v1_preview", Method: http.MethodGet, Pattern: push + "/preview", Access: action.Optional, Scope: record.ScopeRead, Traits: action.HasLinks, Action: s.previewPush},
			{Name: "v1_audit", Method: http.MethodGet, Pattern: push + "/audit", Access: action.Required, Scope: record.ScopeRead, Action: s.auditPush},
		} {
			if prefix != 'p' || strings.HasSuffix(row.Pattern, "/r") {
				row.Traits |= action.Unlisted
			}
			row.Pattern, row.Traits, row.Action = row.Pattern+action.JSONSuffix, row.Traits|action.IsV1, inV1(row.Action)
			rows = append(rows, row)
		}
	}
	return rows
}

// requestsPath is the path of the requests for secrets, without the base.
const requestsPath = "/api/v2/requests"
