package server

import (
	"net/http"
	"slices"

	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/server/web"
	"pushbox/store/record"
)

// Paths that other pages or checks use.
const (
	readyPath      = "/readyz"
	metricsPath    = "/metrics"
	securityPath   = "/.well-known/security.txt"
	signInPath     = "/users/sign_in"
	tokenPath      = "/users/token"
	passwordPath   = "/users/password"
	sessionsPath   = "/users/sessions"
	ownAccountPath = "/users/account"
	hooksPath      = "/users/webhooks"
	helpPath       = "/help/api"
	adminPath      = "/admin"

	forgottenPath = passwordPath + "/forgotten"
	passkeysPath  = action.MFAPath + "/passkeys"
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
		page   = "/p/:" + action.TokenParam
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
		{Name: "asset", Method: get, Pattern: web.AssetPrefix + ":" + action.NameParam, Access: action.Public, Traits: action.IsPage | action.ForRecipients | action.NotCounted, Action: s.asset},
		{Name: "favicon", Method: get, Pattern: "/favicon.ico", Access: action.Public, Traits: action.IsPage | action.ForRecipients | action.NotCounted, Action: s.favicon},
		{Name: "robots", Method: get, Pattern: "/robots.txt", Access: action.Public, Traits: action.IsPage | action.ForRecipients | action.NotCounted, Action: s.robots},
		{Name: "contact", Method: get, Pattern: securityPath, Access: action.Public, Traits: action.IsPage | action.ForRecipients | action.AtRoot, Action: s.contact},

		{Name: "push_form", Method: get, Pattern: "/", Access: action.Creating, Traits: action.IsPage | action.Compressed, Nav: "create", Action: s.pushForm},
		{Name: "push_made", Method: post, Pattern: "/", Access: action.Creating, Traits: action.IsPage | action.HasLinks | action.HasFiles, Nav: "create", Action: s.makePush},
		{Name: "step", Method: get, Pattern: page + "/r", Access: action.Optional, Traits: action.IsPage | action.ForRecipients, Action: s.stepPage},
		{Name: "receipt", Method: get, Pattern: page + "/receipt/:" + action.NameParam, Access: action.Optional, Traits: action.IsPage | action.HasLinks, Action: s.receiptPage},
		{Name: "receipt_ended", Method: post, Pattern: page + "/receipt/:" + action.NameParam, Access: action.Optional, Traits: action.IsPage, Action: s.endByReceipt},
		{Name: "receipt_thawed", Method: post, Pattern: page + "/receipt/:" + action.NameParam + "/thaw", Access: action.Optional, Traits: action.IsPage, Action: s.thawByReceipt},
		{Name: "push", Method: get, Pattern: page, Access: action.Optional, Traits: action.IsPage | action.ForRecipients, Action: s.pushPage},
		{Name: "reveal", Method: post, Pattern: page, Access: action.Optional, Traits: action.IsPage | action.ForRecipients, Action: s.withForm(s.revealPush)},
		{Name: "expire", Method: post, Pattern: page + "/expire", Access: action.Optional, Traits: action.IsPage | action.ForRecipients, Action: s.expirePush},
		{Name: "edit", Method: post, Pattern: page + "/edit", Access: action.Required, Traits: action.IsPage | action.HasLinks, Action: s.withForm(s.editPush)},
		{Name: "thaw_page", Method: post, Pattern: page + "/thaw", Access: action.Required, Traits: action.IsPage, Action: s.thawPush},
		{Name: "audit_page", Method: get, Pattern: page + "/audit", Access: action.Required, Traits: action.IsPage | action.HasLinks, Action: s.auditPage},
		{Name: "audit_csv", Method: get, Pattern: page + "/audit.csv", Access: action.Required, Traits: action.IsPage, Action: s.auditCSV},
		{Name: "link_qr", Method: get, Pattern: page + "/preview", Access: action.Optional, Traits: action.IsPage | action.HasLinks, Action: s.linkQRPage},
		{Name: "own_deleted", Method: post, Pattern: "/users/pushes/delete", Access: action.Required, Traits: action.IsPage, Action: s.withForm(s.deletePushes)},
		{Name: "own_pushes", Method: get, Pattern: "/p", Access: action.Required, Traits: action.IsPage | action.HasLinks | action.HasList, Nav: "pushes", Action: s.ownPushes},

		{Name: "sign_in_form", Method: get, Pattern: signInPath, Access: action.Optional, Traits: action.IsPage | action.BeforeMFA, Nav: "sign_in", Action: s.signInForm},
		{Name: "sign_in", Method: post, Pattern: signInPath, Access: action.Optional, Traits: action.IsPage | action.BeforeMFA, Nav: "sign_in", Action: s.withForm(s.signIn)},
		{Name: "sign_in_code", Method: post, Pattern: signInPath + "/code", Access: action.Optional, Traits: action.IsPage | action.BeforeMFA, Nav: "sign_in", Action: s.withForm(s.signInCode)},
		{Name: "sign_in_passkey", Method: post, Pattern: signInPath + "/passkey", Access: action.Optional, Traits: action.IsPage | action.BeforeMFA, Nav: "sign_in", Action: s.withForm(s.signInPasskey)},
		{Name: "oidc", Method: get, Pattern: display.ProviderPath + ":" + action.NameParam, Access: action.Optional, Traits: action.IsPage | action.HasLinks | action.BeforeMFA, Nav: "sign_in", Action: s.beginOIDC},
		{Name: "oidc_back", Method: get, Pattern: display.ProviderPath + ":" + action.NameParam + "/callback", Access: action.Optional, Traits: action.IsPage | action.HasLinks | action.BeforeMFA, Nav: "sign_in", Action: s.endOIDC},
		{Name: "oidc_sign_out", Method: get, Pattern: display.ProviderPath + ":" + action.NameParam + "/sign_out", Access: action.Optional, Traits: action.IsPage | action.HasLinks | action.BeforeMFA, Action: s.signOutOIDC},
		{Name: "oidc_ended", Method: post, Pattern: display.ProviderPath + ":" + action.NameParam + "/logout", Access: action.Public, Traits: action.IsPage, Action: s.endSessionsOIDC},
		{Name: "sign_out", Method: post, Pattern: "/users/sign_out", Access: action.Optional, Traits: action.IsPage | action.HasLinks | action.BeforeMFA, Action: s.signOut},
		{Name: "sign_up_form", Method: get, Pattern: "/users/sign_up", Access: action.Optional, Traits: action.IsPage, Nav: "sign_up", Action: s.signUpForm},
		{Name: "sign_up", Method: post, Pattern: "/users/sign_up", Access: action.Optional, Traits: action.IsPage, Nav: "sign_up", Action: s.signUp},
		{Name: "first_form", Method: get, Pattern: action.FirstPath + ":" + action.NameParam, Access: action.Optional, Traits: action.IsPage, Action: s.firstForm},
		{Name: "first", Method: post, Pattern: action.FirstPath + ":" + action.NameParam, Access: action.Optional, Traits: action.IsPage, Action: s.firstAccount},
		{Name: "tokens", Method: get, Pattern: tokenPath, Access: action.Required, Traits: action.IsPage | action.HasLinks, Nav: "token", Action: s.tokensPage},
		{Name: "token_made", Method: post, Pattern: tokenPath, Access: action.Required, Traits: action.IsPage | action.HasLinks, Nav: "token", Action: s.withForm(s.makeToken)},
		{Name: "token_revoked", Method: post, Pattern: tokenPath + "/revoke", Access: action.Required, Traits: action.IsPage, Action: s.withForm(s.revokeToken)},
		{Name: "password_form", Method: get, Pattern: passwordPath, Access: action.Required, Traits: action.IsPage, Nav: "password", Action: s.passwordForm},
		{Name: "password", Method: post, Pattern: passwordPath, Access: action.Required, Traits: action.IsPage, Nav: "password", Action: s.withForm(s.changePassword)},
		{Name: "forgotten_form", Method: get, Pattern: forgottenPath, Access: action.Optional, Traits: action.IsPage, Nav: "sign_in", Action: s.forgottenForm},
		{Name: "forgotten", Method: post, Pattern: forgottenPath, Access: action.Optional, Traits: action.IsPage, Nav: "sign_in", Action: s.withForm(s.forgotten)},
		{Name: "new_password_form", Method: get, Pattern: display.PasswordPath + ":" + action.NameParam, Access: action.Optional, Traits: action.IsPage | action.BeforeMFA, Action: s.newPasswordForm},
		{Name: "new_password", Method: post, Pattern: display.PasswordPath + ":" + action.NameParam, Access: action.Optional, Traits: action.IsPage | action.BeforeMFA, Action: s.withForm(s.setPassword)},
		{Name: "sessions", Method: get, Pattern: sessionsPath, Access: action.Required, Traits: action.IsPage, Nav: "sessions", Action: s.sessionsPage},
		{Name: "session_ended", Method: post, Pattern: sessionsPath + "/end", Access: action.Required, Traits: action.IsPage, Action: s.withForm(s.endSession)},
		{Name: "own_account", Method: get, Pattern: ownAccountPath, Access: action.Required, Traits: action.IsPage, Nav: "account", Action: s.ownAccountPage},
		{Name: "own_account_saved", Method: post, Pattern: ownAccountPath, Access: action.Required, Traits: action.IsPage, Nav: "account", Action: s.withForm(s.saveOwnAccount)},
		{Name: "own_account_export", Method: get, Pattern: ownAccountPath + "/export", Access: action.Required, Traits: action.IsPage | action.HasFiles, Action: s.exportOwnAccount},
		{Name: "own_account_removed", Method: post, Pattern: ownAccountPath + "/remove", Access: action.Required, Traits: action.IsPage, Nav: "account", Action: s.withForm(s.removeOwnAccount)},
		{Name: "hooks", Method: get, Pattern: hooksPath, Access: action.Required, Traits: action.IsPage, Nav: "webhooks", Action: s.hooksPage},
		{Name: "hook_added", Method: post, Pattern: hooksPath, Access: action.Required, Traits: action.IsPage, Nav: "webhooks", Action: s.withForm(s.addHook)},
		{Name: "hook_tested", Method: post, Pattern: hooksPath + "/test", Access: action.Required, Traits: action.IsPage, Nav: "webhooks", Action: s.withForm(s.testHook)},
		{Name: "hook_removed", Method: post, Pattern: hooksPath + "/remove", Access: action.Required, Traits: action.IsPage, Action: s.withForm(s.removeHook)},
		{Name: "address", Method: get, Pattern: action.AddressPath, Access: action.Required, Traits: action.IsPage, Nav: "account", Action: s.addressPage},
		{Name: "address_confirmed", Method: post, Pattern: action.AddressPath, Access: action.Required, Traits: action.IsPage, Nav: "account", Action: s.withForm(s.confirmAddress)},
		{Name: "address_code", Method: post, Pattern: action.AddressPath + "/code", Access: action.Required, Traits: action.IsPage, Nav: "account", Action: s.mailCode},
		{Name: "mfa_page", Method: get, Pattern: action.MFAPath, Access: action.Required, Traits: action.IsPage | action.BeforeMFA, Nav: "mfa", Action: s.mfaPage},
		{Name: "mfa_on", Method: post, Pattern: action.MFAPath, Access: action.Required, Traits: action.IsPage | action.BeforeMFA, Nav: "mfa", Action: s.withForm(s.enableMFA)},
		{Name: "mfa_off", Method: post, Pattern: action.MFAPath + "/off", Access: action.Required, Traits: action.IsPage, Action: s.withForm(s.disableMFA)},
		{Name: "mfa_codes", Method: post, Pattern: action.MFAPath + "/codes", Access: action.Required, Traits: action.IsPage, Nav: "mfa", Action: s.withForm(s.newRecoveryCodes)},
		{Name: "passkey_added", Method: post, Pattern: passkeysPath, Access: action.Required, Traits: action.IsPage | action.BeforeMFA, Nav: "mfa", Action: s.withForm(s.addPasskey)},
		{Name: "passkey_removed", Method: post, Pattern: passkeysPath + "/remove", Access: action.Required, Traits: action.IsPage, Nav: "mfa", Action: s.withForm(s.removePasskey)},

		{Name: "api_help", Method: get, Pattern: helpPath, Access: action.Optional, Traits: action.IsPage | action.HasLinks | action.Compressed, Nav: "api", Action: s.apiHelpPage},

		{Name: "probe", Method: get, Pattern: probePath + ":" + action.NameParam, Access: action.Public, Traits: action.ForRecipients, Action: s.probe},
		{Name: "health", Method: get, Pattern: action.HealthPath, Access: action.Public, Traits: action.ForRecipients | action.NotCounted | action.IsHealthCheck | action.AtRoot, Action: s.health},
		{Name: "health", Method: get, Pattern: "/up", Access: action.Public, Traits: action.ForRecipients | action.NotCounted | action.IsHealthCheck | action.AtRoot, Action: s.health}, // where Password Pusher has it
		{Name: "ready", Method: get, Pattern: readyPath, Access: action.Public, Traits: action.ForRecipients | action.NotCounted | action.IsHealthCheck | action.AtRoot, Action: s.ready},
		{Name: "metrics", Method: get, Pattern: metricsPath, Access: action.Public, Action: s.metrics},
	}
	return slices.Concat(rows, s.routesAdmin(), s.routesRequests(), s.routesOld(), s.routesV1())
}

// Paths of requests for secrets.
const (
	requestsPath = "/requests"
	sentPath     = "/q/sent"
)

// routesRequests returns the rows for the pages of requests for secrets.
func (s *Server) routesRequests() []action.Route {
	const (
		get     = http.MethodGet
		post    = http.MethodPost
		request = requestsPath + "/:" + action.TokenParam
		answer  = "/q/:" + action.TokenParam
	)
	return []action.Route{
		{Name: "requests_page", Method: get, Pattern: requestsPath, Access: action.Required, Traits: action.ForRequests | action.IsPage | action.HasList, Nav: "requests", Action: s.requestsPage},
		{Name: "request_form", Method: get, Pattern: request, Word: "new", Access: action.Required, Traits: action.ForRequests | action.IsPage | action.Compressed, Nav: "requests", Action: s.requestForm},
		{Name: "request_made", Method: post, Pattern: request, Word: "new", Access: action.Required, Traits: action.ForRequests | action.IsPage, Nav: "requests", Action: s.withForm(s.makeRequest)},
		{Name: "request_page", Method: get, Pattern: request, Access: action.Required, Traits: action.ForRequests | action.IsPage | action.HasLinks, Nav: "requests", Action: s.requestPage},
		{Name: "request_ended", Method: post, Pattern: request + "/end", Access: action.Required, Traits: action.ForRequests | action.IsPage, Action: s.endOwnRequest},

		{Name: "answer_form", Method: get, Pattern: answer, Access: action.Optional, Traits: action.ForRequests | action.IsPage | action.ForRecipients, Action: s.answerForm},
		{Name: "answer", Method: post, Pattern: answer, Access: action.Optional, Traits: action.ForRequests | action.IsPage | action.HasFiles | action.ForRecipients, Action: s.makeAnswer},
		{Name: "answer_sent", Method: get, Pattern: answer, Word: "sent", Access: action.Optional, Traits: action.ForRequests | action.IsPage | action.ForRecipients | action.Compressed, Action: s.answerSent},
	}
}
