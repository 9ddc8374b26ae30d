package server

import "net/http"

// Access says who may call a route.
type access uint8

const (
	open    access = iota // everybody, even with a token that is not valid
	anyone                // callers with a valid token, and anonymous ones where they are allowed
	account               // callers with a valid token
)

// A route is a row of the table that router, access, limits, logs and the
// tests read. Nothing else knows which routes there are.
type route struct {
	name    string // what logs call it: never a path, which may hold a url_token
	method  string
	pattern string
	word    string // where set, the route is for this one value of the pattern's parameter
	access  access
	free    bool // not counted by the general limit
	links   bool // its answer has links in it
	files   bool // files go in or out, for as long as they get on
	action  action
}

// tokenParam is the parameter of patterns that holds a url_token.
const tokenParam = "url_token"

// routes is the table.
func (s *Server) routes() []route {
	const (
		pushes = "/api/v2/pushes"
		push   = pushes + "/:" + tokenParam
		file   = "/d/:" + grantParam + "/:" + fileParam
	)
	return []route{
		{name: "version", method: http.MethodGet, pattern: "/api/v2/version", access: open, action: s.version},
		{name: "create", links: true, files: true, method: http.MethodPost, pattern: pushes, access: anyone, action: s.createPush},
		{name: "active", links: true, method: http.MethodGet, pattern: push, word: "active", access: account, action: s.activePushes},
		{name: "expired", links: true, method: http.MethodGet, pattern: push, word: "expired", access: account, action: s.expiredPushes},
		{name: "show", links: true, method: http.MethodGet, pattern: push, access: anyone, action: s.showPush},
		{name: "delete", links: true, method: http.MethodDelete, pattern: push, access: anyone, action: s.deletePush},
		{name: "preview", links: true, method: http.MethodGet, pattern: push + "/preview", access: anyone, action: s.previewPush},
		{name: "audit", method: http.MethodGet, pattern: push + "/audit", access: account, action: s.auditPush},
		{name: "download", files: true, method: http.MethodGet, pattern: file, access: open, action: s.downloadFile},
		{name: "download", files: true, method: http.MethodHead, pattern: file, access: open, action: s.downloadFile},
		{name: "health", method: http.MethodGet, pattern: "/healthz", access: open, free: true, action: s.health},
	}
}

// guessable reports whether the route leads to what somebody may try to guess: a
// url_token or a grant. Requests for unknown ones are counted.
func (r route) guessable() bool {
	return r.word == "" && (hasParam(r.pattern, tokenParam) || hasParam(r.pattern, grantParam))
}
