package server

import (
	"net/http"
	"strings"

	"pushbox/server/action"
	"pushbox/store/record"
)

// routesV1 are the rows of API version 1. Their paths end in .json, and the paths of
// pages begin in the same way, so the router keeps them apart.
func (s *Server) routesV1() []action.Route {
	const file = action.IsV1 | action.HasLinks | action.HasFiles
	rows := []action.Route{
		{Name: "v1_version", Method: http.MethodGet, Pattern: "/api/v1/version", Access: action.Public, Traits: action.IsV1 | action.NotCounted, Action: s.versionV1},
		{Name: "v1_openapi", Method: http.MethodGet, Pattern: strings.TrimSuffix(openAPIv1Path, action.JSONSuffix), Access: action.Public, Traits: action.IsV1 | action.HasLinks, Action: s.describeV1},
		{Name: "v1_create", Method: http.MethodPost, Pattern: "/p.json", Access: action.Creating, Scope: record.ScopeCreate, Traits: file | action.CrossOrigin, Action: s.createV1(passwordV1)},
		{Name: "v1_create_file", Method: http.MethodPost, Pattern: "/f.json", Access: action.Required, Scope: record.ScopeCreate, Traits: file, Action: s.createV1(filesV1)},
		{Name: "v1_create_url", Method: http.MethodPost, Pattern: "/r.json", Access: action.Required, Scope: record.ScopeCreate, Traits: file, Action: s.createV1(urlV1)},
		{Name: "v1_preflight", Method: http.MethodOptions, Pattern: "/p.json", Access: action.Public, Traits: action.IsV1 | action.CrossOrigin | action.Unlisted, Action: s.preflight},
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

// openAPIv1Path is the address of the document of version 1, without the base.
const openAPIv1Path = "/api/v1/openapi.json"
