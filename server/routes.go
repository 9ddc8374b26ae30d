package server

import (
	"net/http"
	"slices"

	"pushbox/server/action"
	"pushbox/store/record"
)

// Paths of checks, and of pages that tell where to report something.
const (
	readyPath    = "/readyz"
	metricsPath  = "/metrics"
	securityPath = "/.well-known/security.txt"
)

// routes returns the table. HEAD is GET without a body, so each row for GET is also one
// for HEAD, unless GET counts something.
func (s *Server) routes() []action.Route {
	var all []action.Route
	for _, row := range s.table() {
		all = append(all, row)
		if row.Method == http.MethodGet && !row.Has(action.CountsViews) {
			row.Method = http.MethodHead
			all = append(all, row)
		}
	}
	return all
}

// served returns the rows of the table that the settings do not switch off.
func (s *Server) served() []action.Route {
	return slices.DeleteFunc(s.routes(), func(r action.Route) bool { return r.Has(action.ForRequests) && !s.cfg.EnableRequests })
}

// table has each row once.
func (s *Server) table() []action.Route {
	const (
		pushes = "/api/v2/pushes"
		push   = pushes + "/:" + action.TokenParam
		file   = "/d/:" + action.GrantParam + "/:" + action.FileParam
		asked  = "/api/v2/requests"
	)
	const (
		get  = http.MethodGet
		post = http.MethodPost
	)
	rows := []action.Route{
		{Name: "version", Method: get, Pattern: "/api/v2/version", Access: action.Public, Traits: action.ForRecipients | action.NotCounted, Action: s.version},
		{Name: "openapi", Method: get, Pattern: "/api/v2/openapi", Access: action.Public, Traits: action.HasLinks, Action: s.describe}, // the router removes .json
		{Name: "create", Method: post, Pattern: pushes, Access: action.Creating, Scope: record.ScopeCreate, Traits: action.HasLinks | action.HasFiles, Action: s.createPush},
		{Name: "active", Method: get, Pattern: push, Word: "active", Access: action.Required, Scope: record.ScopeRead, Traits: action.HasLinks | action.HasList, Action: s.activePushes},
		{Name: "expired", Method: get, Pattern: push, Word: "expired", Access: action.Required, Scope: record.ScopeRead, Traits: action.HasLinks | action.HasList, Action: s.expiredPushes},
		{Name: "show", Method: get, Pattern: push, Access: action.Optional, Scope: record.ScopeRead, Traits: action.HasLinks | action.ForRecipients | action.CountsViews, Action: s.showPush},
		{Name: "delete", Method: http.MethodDelete, Pattern: push, Access: action.Optional, Scope: record.ScopeManage, Traits: action.HasLinks | action.ForRecipients, Action: s.deletePush},
		{Name: "preview", Method: get, Pattern: push + "/preview", Access: action.Optional, Scope: record.ScopeRead, Traits: action.HasLinks | action.ForRecipients, Action: s.previewPush},
		{Name: "audit", Method: get, Pattern: push + "/audit", Access: action.Required, Scope: record.ScopeRead, Action: s.auditPush},
		{Name: "notify_emails", Method: post, Pattern: push + "/notify_emails", Access: action.Required, Scope: record.ScopeManage, Traits: action.HasLinks, Action: s.mailPush},
		{Name: "thaw", Method: post, Pattern: push + "/thaw", Access: action.Required, Scope: record.ScopeManage, Traits: action.HasLinks, Action: s.thawPushAPI},
		{Name: "request_create", Method: post, Pattern: asked, Access: action.Required, Scope: record.ScopeCreate, Traits: action.HasLinks | action.ForRequests, Action: s.createRequest},
		{Name: "requests", Method: get, Pattern: asked, Access: action.Required, Scope: record.ScopeRead, Traits: action.HasLinks | action.HasList | action.ForRequests, Action: s.listRequests},
		{Name: "request", Method: get, Pattern: asked + "/:" + action.RequestParam, Access: action.Required, Scope: record.ScopeRead, Traits: action.HasLinks | action.ForRequests, Action: s.showRequest},
		{Name: "request_end", Method: http.MethodDelete, Pattern: asked + "/:" + action.RequestParam, Access: action.Required, Scope: record.ScopeManage, Traits: action.HasLinks | action.ForRequests, Action: s.endRequest},
		{Name: "download", Method: get, Pattern: file, Access: action.Public, Traits: action.HasFiles | action.ForRecipients, Action: s.downloadFile},
		{Name: "download_all", Method: get, Pattern: "/files/:" + action.GrantParam, Access: action.Public, Traits: action.IsPage | action.HasFiles | action.ForRecipients, Action: s.downloadAll},
		{Name: "robots", Method: get, Pattern: "/robots.txt", Access: action.Public, Traits: action.IsPage | action.ForRecipients | action.NotCounted, Action: s.robots},
		{Name: "contact", Method: get, Pattern: securityPath, Access: action.Public, Traits: action.IsPage | action.ForRecipients | action.AtRoot, Action: s.contact},
		{Name: "own_account_export", Method: get, Pattern: "/users/account/export", Access: action.Required, Traits: action.IsPage | action.HasFiles, Action: s.exportOwnAccount},
		{Name: "api_help", Method: get, Pattern: action.HelpPath, Access: action.Optional, Traits: action.IsPage | action.HasLinks | action.Compressed, Nav: "api", Action: s.apiHelpPage},
		{Name: "probe", Method: get, Pattern: probePath + ":" + action.NameParam, Access: action.Public, Traits: action.ForRecipients, Action: s.probe},
		{Name: "health", Method: get, Pattern: action.HealthPath, Access: action.Public, Traits: action.ForRecipients | action.NotCounted | action.IsHealthCheck | action.AtRoot, Action: s.health},
		{Name: "health", Method: get, Pattern: "/up", Access: action.Public, Traits: action.ForRecipients | action.NotCounted | action.IsHealthCheck | action.AtRoot, Action: s.health}, // where Password Pusher has it
		{Name: "ready", Method: get, Pattern: readyPath, Access: action.Public, Traits: action.ForRecipients | action.NotCounted | action.IsHealthCheck | action.AtRoot, Action: s.ready},
		{Name: "metrics", Method: get, Pattern: metricsPath, Access: action.Public, Action: s.metrics},
	}
	return slices.Concat(rows, s.routesAdmin(), s.pages.Routes(), s.routesV1())
}
