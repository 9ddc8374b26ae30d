package server

import (
	"net/http"
	"slices"
	"strings"

	"pushbox/server/display"
	"pushbox/server/web"
	"pushbox/store/record"
)

// An access says who may call a route. Credentials are an API token, or for a page a
// session.
type access uint8

const (
	public         access = iota // everyone; credentials are ignored
	optional                     // callers with valid credentials, and anonymous ones; in the API only if the settings allow these
	creating                     // callers with valid credentials, and anonymous ones who may create
	required                     // callers with valid credentials
	administrating               // callers whose account administers: for others there is nothing at the path
)

// Traits are properties of a route beyond its access.
type traits uint16

const (
	isPage        traits = 1 << iota // for a browser: it reads the session's cookie, and errors are pages
	hasLinks                         // the answer has links
	hasFiles                         // files go in or out, for as long as they make progress
	forRecipients                    // it is also at the entry point for recipients
	notCounted                       // by the general limit
	isHealthCheck                    // for monitors: for every Host
	atRoot                           // also outside base_path
	beforeMFA                        // open to accounts that still need a second factor
	countsViews                      // a GET may count a view, so it must be meant, and there is no HEAD
	isV1                             // of API version 1, which the settings can switch off
	unlisted                         // another address of a route, which the documentation leaves out
	compressed                       // a page that never holds a secret: the size of any other could tell something about it
	forRequests                      // of requests for secrets, which the settings can switch off
	hasList                          // a page of a list is read: it may have many names and notes
	crossOrigin                      // scripts of other sites may read the answer, if the settings allow it
)

// A route is a row of the table that router, access, limits, logs and tests read.
// Nothing else knows which routes there are.
type route struct {
	name    string // in logs, which must not have a path: it may hold a url_token
	method  string
	pattern string
	word    string // if set, the route is only for this value of the pattern's parameter
	access  access
	scope   record.Scopes // that an API token needs; 0: the route takes no token
	traits  traits
	nav     string // the page's name in the navigation
	action  action
}

// has reports whether the route has that trait.
func (r route) has(t traits) bool { return r.traits&t != 0 }

// FirstPath, with a code behind it, is the path of the page that makes the first
// account.
const FirstPath = "/users/first/"

// Paths that other pages or checks use.
const (
	healthPath     = "/healthz"
	readyPath      = "/readyz"
	metricsPath    = "/metrics"
	securityPath   = "/.well-known/security.txt"
	signInPath     = "/users/sign_in"
	mfaPath        = "/users/mfa"
	tokenPath      = "/users/token"
	passwordPath   = "/users/password"
	sessionsPath   = "/users/sessions"
	addressPath    = "/users/address"
	ownAccountPath = "/users/account"
	hooksPath      = "/users/webhooks"
	helpPath       = "/help/api"
	adminPath      = "/admin"

	forgottenPath = passwordPath + "/forgotten"
	passkeysPath  = mfaPath + "/passkeys"
)

// Parameters of patterns.
const (
	tokenParam   = "url_token"
	requestParam = "request_id"
	accountParam = "account_id"
	actParam     = "act"
	policyParam  = "policy"
)

// routes returns the table. HEAD is GET without a body, so each row for GET is also one
// for HEAD, unless GET counts something.
func (s *Server) routes() []route {
	var all []route
	for _, row := range s.table() {
		all = append(all, row)
		if row.method == http.MethodGet && !row.has(countsViews) {
			row.method = http.MethodHead
			all = append(all, row)
		}
	}
	return all
}

// served returns the rows of the table that the settings do not switch off.
func (s *Server) served() []route {
	return slices.DeleteFunc(s.routes(), func(r route) bool { return r.has(forRequests) && !s.cfg.EnableRequests })
}

// table has each row once.
func (s *Server) table() []route {
	const (
		pushes = "/api/v2/pushes"
		push   = pushes + "/:" + tokenParam
		file   = "/d/:" + grantParam + "/:" + fileParam
		page   = "/p/:" + tokenParam
		asked  = "/api/v2/requests"
	)
	const (
		get  = http.MethodGet
		post = http.MethodPost
	)
	rows := []route{
		{name: "version", method: get, pattern: "/api/v2/version", access: public, traits: forRecipients | notCounted, action: s.version},
		{name: "openapi", method: get, pattern: "/api/v2/openapi", access: public, traits: hasLinks, action: s.describe}, // the router removes .json
		{name: "create", method: post, pattern: pushes, access: creating, scope: record.ScopeCreate, traits: hasLinks | hasFiles, action: s.createPush},
		{name: "active", method: get, pattern: push, word: "active", access: required, scope: record.ScopeRead, traits: hasLinks | hasList, action: s.activePushes},
		{name: "expired", method: get, pattern: push, word: "expired", access: required, scope: record.ScopeRead, traits: hasLinks | hasList, action: s.expiredPushes},
		{name: "show", method: get, pattern: push, access: optional, scope: record.ScopeRead, traits: hasLinks | forRecipients | countsViews, action: s.showPush},
		{name: "delete", method: http.MethodDelete, pattern: push, access: optional, scope: record.ScopeManage, traits: hasLinks | forRecipients, action: s.deletePush},
		{name: "preview", method: get, pattern: push + "/preview", access: optional, scope: record.ScopeRead, traits: hasLinks | forRecipients, action: s.previewPush},
		{name: "audit", method: get, pattern: push + "/audit", access: required, scope: record.ScopeRead, action: s.auditPush},
		{name: "notify_emails", method: post, pattern: push + "/notify_emails", access: required, scope: record.ScopeManage, traits: hasLinks, action: s.mailPush},
		{name: "thaw", method: post, pattern: push + "/thaw", access: required, scope: record.ScopeManage, traits: hasLinks, action: s.thawPushAPI},
		{name: "request_create", method: post, pattern: asked, access: required, scope: record.ScopeCreate, traits: hasLinks | forRequests, action: s.createRequest},
		{name: "requests", method: get, pattern: asked, access: required, scope: record.ScopeRead, traits: hasLinks | hasList | forRequests, action: s.listRequests},
		{name: "request", method: get, pattern: asked + "/:" + requestParam, access: required, scope: record.ScopeRead, traits: hasLinks | forRequests, action: s.showRequest},
		{name: "request_end", method: http.MethodDelete, pattern: asked + "/:" + requestParam, access: required, scope: record.ScopeManage, traits: hasLinks | forRequests, action: s.endRequest},
		{name: "download", method: get, pattern: file, access: public, traits: hasFiles | forRecipients, action: s.downloadFile},
		{name: "download_all", method: get, pattern: "/files/:" + grantParam, access: public, traits: isPage | hasFiles | forRecipients, action: s.downloadAll},
		{name: "asset", method: get, pattern: web.AssetPrefix + ":" + nameParam, access: public, traits: isPage | forRecipients | notCounted, action: s.asset},
		{name: "favicon", method: get, pattern: "/favicon.ico", access: public, traits: isPage | forRecipients | notCounted, action: s.favicon},
		{name: "robots", method: get, pattern: "/robots.txt", access: public, traits: isPage | forRecipients | notCounted, action: s.robots},
		{name: "contact", method: get, pattern: securityPath, access: public, traits: isPage | forRecipients | atRoot, action: s.contact},

		{name: "push_form", method: get, pattern: "/", access: creating, traits: isPage | compressed, nav: "create", action: s.pushForm},
		{name: "push_made", method: post, pattern: "/", access: creating, traits: isPage | hasLinks | hasFiles, nav: "create", action: s.makePush},
		{name: "step", method: get, pattern: page + "/r", access: optional, traits: isPage | forRecipients, action: s.stepPage},
		{name: "receipt", method: get, pattern: page + "/receipt/:" + nameParam, access: optional, traits: isPage | hasLinks, action: s.receiptPage},
		{name: "receipt_ended", method: post, pattern: page + "/receipt/:" + nameParam, access: optional, traits: isPage, action: s.endByReceipt},
		{name: "receipt_thawed", method: post, pattern: page + "/receipt/:" + nameParam + "/thaw", access: optional, traits: isPage, action: s.thawByReceipt},
		{name: "push", method: get, pattern: page, access: optional, traits: isPage | forRecipients, action: s.pushPage},
		{name: "reveal", method: post, pattern: page, access: optional, traits: isPage | forRecipients, action: s.withForm(s.revealPush)},
		{name: "expire", method: post, pattern: page + "/expire", access: optional, traits: isPage | forRecipients, action: s.expirePush},
		{name: "edit", method: post, pattern: page + "/edit", access: required, traits: isPage | hasLinks, action: s.withForm(s.editPush)},
		{name: "thaw_page", method: post, pattern: page + "/thaw", access: required, traits: isPage, action: s.thawPush},
		{name: "audit_page", method: get, pattern: page + "/audit", access: required, traits: isPage | hasLinks, action: s.auditPage},
		{name: "audit_csv", method: get, pattern: page + "/audit.csv", access: required, traits: isPage, action: s.auditCSV},
		{name: "link_qr", method: get, pattern: page + "/preview", access: optional, traits: isPage | hasLinks, action: s.linkQRPage},
		{name: "own_deleted", method: post, pattern: "/users/pushes/delete", access: required, traits: isPage, action: s.withForm(s.deletePushes)},
		{name: "own_pushes", method: get, pattern: "/p", access: required, traits: isPage | hasLinks | hasList, nav: "pushes", action: s.ownPushes},

		{name: "sign_in_form", method: get, pattern: signInPath, access: optional, traits: isPage | beforeMFA, nav: "sign_in", action: s.signInForm},
		{name: "sign_in", method: post, pattern: signInPath, access: optional, traits: isPage | beforeMFA, nav: "sign_in", action: s.withForm(s.signIn)},
		{name: "sign_in_code", method: post, pattern: signInPath + "/code", access: optional, traits: isPage | beforeMFA, nav: "sign_in", action: s.withForm(s.signInCode)},
		{name: "sign_in_passkey", method: post, pattern: signInPath + "/passkey", access: optional, traits: isPage | beforeMFA, nav: "sign_in", action: s.withForm(s.signInPasskey)},
		{name: "oidc", method: get, pattern: display.ProviderPath + ":" + nameParam, access: optional, traits: isPage | hasLinks | beforeMFA, nav: "sign_in", action: s.beginOIDC},
		{name: "oidc_back", method: get, pattern: display.ProviderPath + ":" + nameParam + "/callback", access: optional, traits: isPage | hasLinks | beforeMFA, nav: "sign_in", action: s.endOIDC},
		{name: "oidc_sign_out", method: get, pattern: display.ProviderPath + ":" + nameParam + "/sign_out", access: optional, traits: isPage | hasLinks | beforeMFA, action: s.signOutOIDC},
		{name: "oidc_ended", method: post, pattern: display.ProviderPath + ":" + nameParam + "/logout", access: public, traits: isPage, action: s.endSessionsOIDC},
		{name: "sign_out", method: post, pattern: "/users/sign_out", access: optional, traits: isPage | hasLinks | beforeMFA, action: s.signOut},
		{name: "sign_up_form", method: get, pattern: "/users/sign_up", access: optional, traits: isPage, nav: "sign_up", action: s.signUpForm},
		{name: "sign_up", method: post, pattern: "/users/sign_up", access: optional, traits: isPage, nav: "sign_up", action: s.signUp},
		{name: "first_form", method: get, pattern: FirstPath + ":" + nameParam, access: optional, traits: isPage, action: s.firstForm},
		{name: "first", method: post, pattern: FirstPath + ":" + nameParam, access: optional, traits: isPage, action: s.firstAccount},
		{name: "tokens", method: get, pattern: tokenPath, access: required, traits: isPage | hasLinks, nav: "token", action: s.tokensPage},
		{name: "token_made", method: post, pattern: tokenPath, access: required, traits: isPage | hasLinks, nav: "token", action: s.withForm(s.makeToken)},
		{name: "token_revoked", method: post, pattern: tokenPath + "/revoke", access: required, traits: isPage, action: s.withForm(s.revokeToken)},
		{name: "password_form", method: get, pattern: passwordPath, access: required, traits: isPage, nav: "password", action: s.passwordForm},
		{name: "password", method: post, pattern: passwordPath, access: required, traits: isPage, nav: "password", action: s.withForm(s.changePassword)},
		{name: "forgotten_form", method: get, pattern: forgottenPath, access: optional, traits: isPage, nav: "sign_in", action: s.forgottenForm},
		{name: "forgotten", method: post, pattern: forgottenPath, access: optional, traits: isPage, nav: "sign_in", action: s.withForm(s.forgotten)},
		{name: "new_password_form", method: get, pattern: display.PasswordPath + ":" + nameParam, access: optional, traits: isPage | beforeMFA, action: s.newPasswordForm},
		{name: "new_password", method: post, pattern: display.PasswordPath + ":" + nameParam, access: optional, traits: isPage | beforeMFA, action: s.withForm(s.setPassword)},
		{name: "sessions", method: get, pattern: sessionsPath, access: required, traits: isPage, nav: "sessions", action: s.sessionsPage},
		{name: "session_ended", method: post, pattern: sessionsPath + "/end", access: required, traits: isPage, action: s.withForm(s.endSession)},
		{name: "own_account", method: get, pattern: ownAccountPath, access: required, traits: isPage, nav: "account", action: s.ownAccountPage},
		{name: "own_account_saved", method: post, pattern: ownAccountPath, access: required, traits: isPage, nav: "account", action: s.withForm(s.saveOwnAccount)},
		{name: "own_account_export", method: get, pattern: ownAccountPath + "/export", access: required, traits: isPage | hasFiles, action: s.exportOwnAccount},
		{name: "own_account_removed", method: post, pattern: ownAccountPath + "/remove", access: required, traits: isPage, nav: "account", action: s.withForm(s.removeOwnAccount)},
		{name: "hooks", method: get, pattern: hooksPath, access: required, traits: isPage, nav: "webhooks", action: s.hooksPage},
		{name: "hook_added", method: post, pattern: hooksPath, access: required, traits: isPage, nav: "webhooks", action: s.withForm(s.addHook)},
		{name: "hook_tested", method: post, pattern: hooksPath + "/test", access: required, traits: isPage, nav: "webhooks", action: s.withForm(s.testHook)},
		{name: "hook_removed", method: post, pattern: hooksPath + "/remove", access: required, traits: isPage, action: s.withForm(s.removeHook)},
		{name: "address", method: get, pattern: addressPath, access: required, traits: isPage, nav: "account", action: s.addressPage},
		{name: "address_confirmed", method: post, pattern: addressPath, access: required, traits: isPage, nav: "account", action: s.withForm(s.confirmAddress)},
		{name: "address_code", method: post, pattern: addressPath + "/code", access: required, traits: isPage, nav: "account", action: s.mailCode},
		{name: "mfa_page", method: get, pattern: mfaPath, access: required, traits: isPage | beforeMFA, nav: "mfa", action: s.mfaPage},
		{name: "mfa_on", method: post, pattern: mfaPath, access: required, traits: isPage | beforeMFA, nav: "mfa", action: s.withForm(s.enableMFA)},
		{name: "mfa_off", method: post, pattern: mfaPath + "/off", access: required, traits: isPage, action: s.withForm(s.disableMFA)},
		{name: "mfa_codes", method: post, pattern: mfaPath + "/codes", access: required, traits: isPage, nav: "mfa", action: s.withForm(s.newRecoveryCodes)},
		{name: "passkey_added", method: post, pattern: passkeysPath, access: required, traits: isPage | beforeMFA, nav: "mfa", action: s.withForm(s.addPasskey)},
		{name: "passkey_removed", method: post, pattern: passkeysPath + "/remove", access: required, traits: isPage, nav: "mfa", action: s.withForm(s.removePasskey)},

		{name: "api_help", method: get, pattern: helpPath, access: optional, traits: isPage | hasLinks | compressed, nav: "api", action: s.apiHelpPage},

		{name: "probe", method: get, pattern: probePath + ":" + nameParam, access: public, traits: forRecipients, action: s.probe},
		{name: "health", method: get, pattern: healthPath, access: public, traits: forRecipients | notCounted | isHealthCheck | atRoot, action: s.health},
		{name: "health", method: get, pattern: "/up", access: public, traits: forRecipients | notCounted | isHealthCheck | atRoot, action: s.health}, // where Password Pusher has it
		{name: "ready", method: get, pattern: readyPath, access: public, traits: forRecipients | notCounted | isHealthCheck | atRoot, action: s.ready},
		{name: "metrics", method: get, pattern: metricsPath, access: public, action: s.metrics},
	}
	return slices.Concat(rows, s.routesAdmin(), s.routesRequests(), s.routesOld(), s.routesV1())
}

// guessable reports whether the path has a secret that a client may try to guess: a
// url_token, a grant, or the code of a link that makes the first account or sets a password. Requests with unknown ones
// count against a limit.
func (r route) guessable() bool {
	return r.word == "" && (hasParam(r.pattern, tokenParam) || hasParam(r.pattern, grantParam)) || strings.HasPrefix(r.pattern, FirstPath) || strings.HasPrefix(r.pattern, display.PasswordPath)
}

// Paths of requests for secrets.
const (
	requestsPath = "/requests"
	sentPath     = "/q/sent"
)

// routesRequests returns the rows for the pages of requests for secrets.
func (s *Server) routesRequests() []route {
	const (
		get     = http.MethodGet
		post    = http.MethodPost
		request = requestsPath + "/:" + tokenParam
		answer  = "/q/:" + tokenParam
	)
	return []route{
		{name: "requests_page", method: get, pattern: requestsPath, access: required, traits: forRequests | isPage | hasList, nav: "requests", action: s.requestsPage},
		{name: "request_form", method: get, pattern: request, word: "new", access: required, traits: forRequests | isPage | compressed, nav: "requests", action: s.requestForm},
		{name: "request_made", method: post, pattern: request, word: "new", access: required, traits: forRequests | isPage, nav: "requests", action: s.withForm(s.makeRequest)},
		{name: "request_page", method: get, pattern: request, access: required, traits: forRequests | isPage | hasLinks, nav: "requests", action: s.requestPage},
		{name: "request_ended", method: post, pattern: request + "/end", access: required, traits: forRequests | isPage, action: s.endOwnRequest},

		{name: "answer_form", method: get, pattern: answer, access: optional, traits: forRequests | isPage | forRecipients, action: s.answerForm},
		{name: "answer", method: post, pattern: answer, access: optional, traits: forRequests | isPage | hasFiles | forRecipients, action: s.makeAnswer},
		{name: "answer_sent", method: get, pattern: answer, word: "sent", access: optional, traits: forRequests | isPage | forRecipients | compressed, action: s.answerSent},
	}
}
