package server

import (
	"net/http"
	"strings"

	"pushbox/store/record"
)

// prefixesV1 are the first parts of the paths of API version 1: for a push of text, of
// files, and of a URL. Each reaches every push.
const prefixesV1 = "pfr"

// routesV1 are the rows of API version 1. Their paths end in .json, and the paths of
// pages begin in the same way, so the router keeps them apart.
func (s *Server) routesV1() []route {
	const file = isV1 | hasLinks | hasFiles
	rows := []route{
		{name: "v1_version", method: http.MethodGet, pattern: "/api/v1/version", access: public, traits: isV1 | notCounted, action: s.versionV1},
		{name: "v1_openapi", method: http.MethodGet, pattern: strings.TrimSuffix(openAPIv1Path, jsonSuffix), access: public, traits: isV1 | hasLinks, action: s.describeV1},
		{name: "v1_create", method: http.MethodPost, pattern: "/p.json", access: creating, scope: record.ScopeCreate, traits: file | crossOrigin, action: s.createV1(passwordV1)},
		{name: "v1_create_file", method: http.MethodPost, pattern: "/f.json", access: required, scope: record.ScopeCreate, traits: file, action: s.createV1(filesV1)},
		{name: "v1_create_url", method: http.MethodPost, pattern: "/r.json", access: required, scope: record.ScopeCreate, traits: file, action: s.createV1(urlV1)},
		{name: "v1_preflight", method: http.MethodOptions, pattern: "/p.json", access: public, traits: isV1 | crossOrigin | unlisted, action: s.preflight},
	}
	for _, prefix := range prefixesV1 {
		push := "/" + string(prefix) + "/:" + tokenParam
		for _, row := range [...]route{
			{name: "v1_active", method: http.MethodGet, pattern: push, word: "active", access: required, scope: record.ScopeRead, traits: hasLinks | hasList, action: s.activePushes},
			{name: "v1_expired", method: http.MethodGet, pattern: push, word: "expired", access: required, scope: record.ScopeRead, traits: hasLinks | hasList, action: s.expiredPushes},
			{name: "v1_show", method: http.MethodGet, pattern: push, access: optional, scope: record.ScopeRead, traits: hasLinks | countsViews, action: s.showPush},
			{name: "v1_show", method: http.MethodGet, pattern: push + "/r", access: optional, scope: record.ScopeRead, traits: hasLinks | countsViews, action: s.showPush}, // html_url with .json behind it
			{name: "v1_delete", method: http.MethodDelete, pattern: push, access: optional, scope: record.ScopeManage, traits: hasLinks, action: s.deletePush},
			{name: "v1_preview", method: http.MethodGet, pattern: push + "/preview", access: optional, scope: record.ScopeRead, traits: hasLinks, action: s.previewPush},
			{name: "v1_audit", method: http.MethodGet, pattern: push + "/audit", access: required, scope: record.ScopeRead, action: s.auditPush},
		} {
			if prefix != 'p' || strings.HasSuffix(row.pattern, "/r") {
				row.traits |= unlisted
			}
			row.pattern, row.traits, row.action = row.pattern+jsonSuffix, row.traits|isV1, inV1(row.action)
			rows = append(rows, row)
		}
	}
	return rows
}

// openAPIv1Path is the address of the document of version 1, without the base.
const openAPIv1Path = "/api/v1/openapi.json"

// jsonSuffix ends the paths of API version 1, and may end those of version 2.
const jsonSuffix = ".json"

// isPathV1 reports whether a path or a pattern is one of API version 1, except those
// under /api/v1.
func isPathV1(path string) bool {
	path, ok := strings.CutSuffix(path, jsonSuffix)
	return ok && len(path) > 1 && path[0] == '/' && strings.IndexByte(prefixesV1, path[1]) >= 0 && (len(path) == 2 || path[2] == '/')
}
