package server

import (
	"net/http"
	"strings"

	"pushbox/server/web"
)

// Access says who may call a route.
type access uint8

const (
	open    access = iota // everybody, even with a token that is not valid
	anyone                // callers with a valid token, and anonymous ones where they are allowed
	creator               // callers with a valid token, and anonymous ones who may create
	account               // callers with a valid token

	visitor // on pages: everybody
	sender  // on pages: whoever is signed in, and others who may create
	member  // on pages: whoever is signed in
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
	page    bool // for people at a browser: with a cookie for a session, and problems in words
	public  bool // behind the public door, too
	probe   bool // for what watches the server: at the root as well, and whatever host is asked for

	nav        string // what the navigation calls it
	firstSteps bool   // open to those who still need a second factor
	action     action
}

// FirstPath is where the first account is made, with a code behind it.
const FirstPath = "/users/first/"

// Paths that others lead to.
const (
	healthPath   = "/healthz"
	readyPath    = "/readyz"
	metricsPath  = "/metrics"
	signInPath   = "/users/sign_in"
	mfaPath      = "/users/mfa"
	tokenPath    = "/users/token"
	passwordPath = "/users/password"
	sessionsPath = "/users/sessions"
)

// tokenParam is the parameter of patterns that holds a url_token.
const tokenParam = "url_token"

// routes is the table.
func (s *Server) routes() []route {
	const (
		pushes = "/api/v2/pushes"
		push   = pushes + "/:" + tokenParam
		file   = "/d/:" + grantParam + "/:" + fileParam
		page   = "/p/:" + tokenParam
	)
	const (
		get  = http.MethodGet
		head = http.MethodHead
		post = http.MethodPost
	)
	return []route{
		{name: "version", method: http.MethodGet, pattern: "/api/v2/version", access: open, public: true, action: s.version},
		{name: "openapi", links: true, method: http.MethodGet, pattern: "/api/v2/openapi", access: open, action: s.describe}, // .json is taken off every path
		{name: "create", links: true, files: true, method: http.MethodPost, pattern: pushes, access: creator, action: s.createPush},
		{name: "active", links: true, method: http.MethodGet, pattern: push, word: "active", access: account, action: s.activePushes},
		{name: "expired", links: true, method: http.MethodGet, pattern: push, word: "expired", access: account, action: s.expiredPushes},
		{name: "show", links: true, method: http.MethodGet, pattern: push, access: anyone, public: true, action: s.showPush},
		{name: "delete", links: true, method: http.MethodDelete, pattern: push, access: anyone, public: true, action: s.deletePush},
		{name: "preview", links: true, method: http.MethodGet, pattern: push + "/preview", access: anyone, public: true, action: s.previewPush},
		{name: "audit", method: http.MethodGet, pattern: push + "/audit", access: account, action: s.auditPush},
		{name: "notify_emails", links: true, method: post, pattern: push + "/notify_emails", access: account, action: s.mailPush},
		{name: "download", files: true, method: http.MethodGet, pattern: file, access: open, public: true, action: s.downloadFile},
		{name: "download", files: true, method: http.MethodHead, pattern: file, access: open, public: true, action: s.downloadFile},
		{name: "asset", method: http.MethodGet, pattern: web.AssetPrefix + ":" + nameParam, access: open, page: true, free: true, public: true, action: s.asset},
		{name: "robots", method: http.MethodGet, pattern: "/robots.txt", access: open, page: true, free: true, public: true, action: s.robots},

		{name: "push_form", method: get, pattern: "/", access: sender, page: true, nav: "create", action: s.pushForm},
		{name: "push_form", method: head, pattern: "/", access: sender, page: true, nav: "create", action: s.pushForm},
		{name: "push_made", links: true, files: true, method: post, pattern: "/", access: sender, page: true, nav: "create", action: s.makePush},
		{name: "step", method: get, pattern: page + "/r", access: visitor, page: true, public: true, action: s.stepPage},
		{name: "step", method: head, pattern: page + "/r", access: visitor, page: true, public: true, action: s.stepPage},
		{name: "push", method: get, pattern: page, access: visitor, page: true, public: true, action: s.pushPage},
		{name: "push", method: head, pattern: page, access: visitor, page: true, public: true, action: s.stepPage},
		{name: "reveal", method: post, pattern: page, access: visitor, page: true, public: true, action: s.revealPush},
		{name: "expire", method: post, pattern: page + "/expire", access: visitor, page: true, public: true, action: s.expirePush},
		{name: "edit", links: true, method: post, pattern: page + "/edit", access: member, page: true, action: s.editPush},
		{name: "audit_page", links: true, method: get, pattern: page + "/audit", access: member, page: true, action: s.auditPage},
		{name: "audit_csv", method: get, pattern: page + "/audit.csv", access: member, page: true, action: s.auditCSV},
		{name: "own_pushes", links: true, method: get, pattern: "/p", access: member, page: true, nav: "pushes", action: s.ownPushes},
		{name: "old_push", method: get, pattern: "/f/:" + tokenParam, access: open, page: true, public: true, action: s.oldPush},
		{name: "old_push", method: head, pattern: "/f/:" + tokenParam, access: open, page: true, public: true, action: s.oldPush},
		{name: "old_push_step", method: get, pattern: "/f/:" + tokenParam + "/r", access: open, page: true, public: true, action: s.oldPushStep},
		{name: "old_push_step", method: head, pattern: "/f/:" + tokenParam + "/r", access: open, page: true, public: true, action: s.oldPushStep},
		{name: "old_url", method: get, pattern: "/r/:" + tokenParam, access: open, page: true, public: true, action: s.oldPush},
		{name: "old_url", method: head, pattern: "/r/:" + tokenParam, access: open, page: true, public: true, action: s.oldPush},
		{name: "old_url_step", method: get, pattern: "/r/:" + tokenParam + "/r", access: open, page: true, public: true, action: s.oldPushStep},
		{name: "old_url_step", method: head, pattern: "/r/:" + tokenParam + "/r", access: open, page: true, public: true, action: s.oldPushStep},

		{name: "sign_in_form", method: get, pattern: signInPath, access: visitor, page: true, nav: "sign_in", firstSteps: true, action: s.signInForm},
		{name: "sign_in", method: post, pattern: signInPath, access: visitor, page: true, nav: "sign_in", firstSteps: true, action: s.signIn},
		{name: "sign_in_code", method: post, pattern: signInPath + "/code", access: visitor, page: true, nav: "sign_in", firstSteps: true, action: s.signInCode},
		{name: "sign_out", method: post, pattern: "/users/sign_out", access: visitor, page: true, firstSteps: true, action: s.signOut},
		{name: "sign_up_form", method: get, pattern: "/users/sign_up", access: visitor, page: true, nav: "sign_up", action: s.signUpForm},
		{name: "sign_up", method: post, pattern: "/users/sign_up", access: visitor, page: true, nav: "sign_up", action: s.signUp},
		{name: "first_form", method: get, pattern: FirstPath + ":" + nameParam, access: visitor, page: true, action: s.firstForm},
		{name: "first", method: post, pattern: FirstPath + ":" + nameParam, access: visitor, page: true, action: s.firstAccount},
		{name: "tokens", links: true, method: get, pattern: tokenPath, access: member, page: true, nav: "token", action: s.tokensPage},
		{name: "token_made", links: true, method: post, pattern: tokenPath, access: member, page: true, nav: "token", action: s.makeToken},
		{name: "token_revoked", method: post, pattern: tokenPath + "/revoke", access: member, page: true, action: s.revokeToken},
		{name: "password_form", method: get, pattern: passwordPath, access: member, page: true, nav: "password", action: s.passwordForm},
		{name: "password", method: post, pattern: passwordPath, access: member, page: true, nav: "password", action: s.changePassword},
		{name: "sessions", method: get, pattern: sessionsPath, access: member, page: true, nav: "sessions", action: s.sessionsPage},
		{name: "session_ended", method: post, pattern: sessionsPath + "/end", access: member, page: true, action: s.endSession},
		{name: "mfa_page", method: get, pattern: mfaPath, access: member, page: true, nav: "mfa", firstSteps: true, action: s.mfaPage},
		{name: "mfa_on", method: post, pattern: mfaPath, access: member, page: true, nav: "mfa", firstSteps: true, action: s.enableMFA},
		{name: "mfa_off", method: post, pattern: mfaPath + "/off", access: member, page: true, action: s.disableMFA},
		{name: "mfa_codes", method: post, pattern: mfaPath + "/codes", access: member, page: true, nav: "mfa", action: s.newRecoveryCodes},
		{name: "api_help", links: true, method: get, pattern: "/help/api", access: visitor, page: true, nav: "api", action: s.apiHelpPage},

		{name: "probe", method: http.MethodGet, pattern: ProbePath + ":" + nameParam, access: open, public: true, action: s.probe},
		{name: "health", method: http.MethodGet, pattern: healthPath, access: open, free: true, probe: true, public: true, action: s.health},
		{name: "ready", method: http.MethodGet, pattern: readyPath, access: open, free: true, probe: true, public: true, action: s.ready},
		{name: "metrics", method: http.MethodGet, pattern: metricsPath, access: open, action: s.metrics},
	}
}

// guessable reports whether the route leads to what somebody may try to guess: a
// url_token, a grant, or the code of the first account. Requests for unknown ones
// are counted.
func (r route) guessable() bool {
	return r.word == "" && (hasParam(r.pattern, tokenParam) || hasParam(r.pattern, grantParam)) || strings.HasPrefix(r.pattern, FirstPath)
}
