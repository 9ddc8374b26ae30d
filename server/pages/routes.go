package pages

import (
	"net/http"
	"slices"

	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/server/web"
)

// Paths that several pages use.
const (
	signInPath     = "/users/sign_in"
	tokenPath      = "/users/token"
	passwordPath   = "/users/password"
	sessionsPath   = "/users/sessions"
	ownAccountPath = "/users/account"
	hooksPath      = "/users/webhooks"
	adminPath      = "/admin"

	// Where managers of passwords look for the page that changes one (A Well-Known URL for Changing
	// Passwords).
	changePasswordPath = "/.well-known/change-password"

	forgottenPath = passwordPath + "/forgotten"
	passkeysPath  = action.MFAPath + "/passkeys"
)

// Routes returns the rows of the pages, each once. The settings list their pages in this order.
func (s *Set) Routes() []action.Route {
	const (
		get  = http.MethodGet
		post = http.MethodPost
		page = "/p/:" + action.TokenParam
	)
	rows := []action.Route{
		{Name: "asset", Method: get, Pattern: web.AssetPrefix + ":" + action.NameParam, Access: action.Public, Traits: action.IsPage | action.ForRecipients | action.NotCounted, Action: s.asset},
		{Name: "asset_list", Method: get, Pattern: assetListPath, Access: action.Public, Traits: action.IsPage | action.ForRecipients | action.NotCounted, Action: s.assetList},
		{Name: "favicon", Method: get, Pattern: "/favicon.ico", Access: action.Public, Traits: action.IsPage | action.ForRecipients | action.NotCounted, Action: s.favicon},

		{Name: "manifest", Method: get, Pattern: manifestPath, Access: action.Public, Traits: action.IsPage, Action: s.manifest},
		{Name: "change_password", Method: get, Pattern: changePasswordPath, Access: action.Public, Traits: action.IsPage | action.AtRoot, Action: s.movePassword},

		{Name: "push_form", Method: get, Pattern: "/", Access: action.Creating, Traits: action.IsPage | action.Compressed, Nav: "create", Action: s.pushForm},
		{Name: "push_made", Method: post, Pattern: "/", Access: action.Creating, Traits: action.IsPage | action.HasLinks | action.HasFiles, Nav: "create", Action: s.makePush},
		{Name: "push_shared", Method: post, Pattern: sharePath, Access: action.Creating, Traits: action.IsPage, Nav: "create", Action: s.withForm(s.shareForm)},
		{Name: "step", Method: get, Pattern: page + "/r", Access: action.Optional, Traits: action.IsPage | action.ForRecipients, Action: s.stepPage},
		{Name: "receipt", Method: get, Pattern: page + "/receipt/:" + action.NameParam, Access: action.Optional, Traits: action.IsPage | action.HasLinks, Action: s.receiptPage},
		{Name: "receipt_ended", Method: post, Pattern: page + "/receipt/:" + action.NameParam, Access: action.Optional, Traits: action.IsPage, Action: s.withForm(s.endByReceipt)},
		{Name: "receipt_thawed", Method: post, Pattern: page + "/receipt/:" + action.NameParam + "/thaw", Access: action.Optional, Traits: action.IsPage, Action: s.thawByReceipt},
		{Name: "push", Method: get, Pattern: page, Access: action.Optional, Traits: action.IsPage | action.ForRecipients, Action: s.pushPage},
		{Name: "reveal", Method: post, Pattern: page, Access: action.Optional, Traits: action.IsPage | action.ForRecipients, Action: s.withForm(s.revealPush)},
		{Name: "expire", Method: post, Pattern: page + "/expire", Access: action.Optional, Traits: action.IsPage | action.ForRecipients, Action: s.expirePush},
		{Name: "edit", Method: post, Pattern: page + "/edit", Access: action.Required, Traits: action.IsPage | action.HasLinks, Action: s.withForm(s.editPush)},
		{Name: "thaw_page", Method: post, Pattern: page + "/thaw", Access: action.Required, Traits: action.IsPage, Action: s.thawPush},
		{Name: "audit_page", Method: get, Pattern: page + "/audit", Access: action.Required, Traits: action.IsPage | action.HasLinks, Action: s.auditPage},
		{Name: "audit_csv", Method: get, Pattern: page + "/audit.csv", Access: action.Required, Traits: action.IsPage, Action: s.auditCSV},
		{Name: "certificate_page", Method: get, Pattern: page + "/certificate", Access: action.Required, Traits: action.IsPage | action.HasLinks, Action: s.certificateFile},
		{Name: "receipt_certificate", Method: get, Pattern: page + "/receipt/:" + action.NameParam + "/certificate", Access: action.Optional, Traits: action.IsPage | action.HasLinks, Action: s.receiptCertificate},
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
		{Name: "forgotten_form", Method: get, Pattern: forgottenPath, Access: action.Optional, Traits: action.IsPage, Nav: "sign_in", Action: s.forgottenForm},
		{Name: "forgotten", Method: post, Pattern: forgottenPath, Access: action.Optional, Traits: action.IsPage, Nav: "sign_in", Action: s.withForm(s.forgotten)},
		{Name: "new_password_form", Method: get, Pattern: display.PasswordPath + ":" + action.NameParam, Access: action.Optional, Traits: action.IsPage | action.BeforeMFA, Action: s.newPasswordForm},
		{Name: "new_password", Method: post, Pattern: display.PasswordPath + ":" + action.NameParam, Access: action.Optional, Traits: action.IsPage | action.BeforeMFA, Action: s.withForm(s.setPassword)},

		{Name: "own_account", Method: get, Pattern: ownAccountPath, Access: action.Required, Traits: action.IsPage, Nav: "account", Menu: "frame_own_account", Action: s.ownAccountPage},
		{Name: "own_account_saved", Method: post, Pattern: ownAccountPath, Access: action.Required, Traits: action.IsPage, Nav: "account", Action: s.withForm(s.saveOwnAccount)},
		{Name: "own_account_removed", Method: post, Pattern: ownAccountPath + "/remove", Access: action.Required, Traits: action.IsPage, Nav: "account", Action: s.withForm(s.removeOwnAccount)},
		{Name: "address", Method: get, Pattern: action.AddressPath, Access: action.Required, Traits: action.IsPage, Nav: "account", Action: s.addressPage},
		{Name: "address_confirmed", Method: post, Pattern: action.AddressPath, Access: action.Required, Traits: action.IsPage, Nav: "account", Action: s.withForm(s.confirmAddress)},
		{Name: "address_code", Method: post, Pattern: action.AddressPath + "/code", Access: action.Required, Traits: action.IsPage, Nav: "account", Action: s.mailCode},
		{Name: "password_form", Method: get, Pattern: passwordPath, Access: action.Required, Traits: action.IsPage, Nav: "password", Menu: "frame_password", Action: s.passwordForm},
		{Name: "password", Method: post, Pattern: passwordPath, Access: action.Required, Traits: action.IsPage, Nav: "password", Action: s.withForm(s.changePassword)},
		{Name: "mfa_page", Method: get, Pattern: action.MFAPath, Access: action.Required, Traits: action.IsPage | action.BeforeMFA, Nav: "mfa", Menu: "frame_mfa", Action: s.mfaPage},
		{Name: "mfa_on", Method: post, Pattern: action.MFAPath, Access: action.Required, Traits: action.IsPage | action.BeforeMFA, Nav: "mfa", Action: s.withForm(s.enableMFA)},
		{Name: "mfa_off", Method: post, Pattern: action.MFAPath + "/off", Access: action.Required, Traits: action.IsPage, Action: s.withForm(s.disableMFA)},
		{Name: "mfa_codes", Method: post, Pattern: action.MFAPath + "/codes", Access: action.Required, Traits: action.IsPage, Nav: "mfa", Action: s.withForm(s.newRecoveryCodes)},
		{Name: "passkey_added", Method: post, Pattern: passkeysPath, Access: action.Required, Traits: action.IsPage | action.BeforeMFA, Nav: "mfa", Action: s.withForm(s.addPasskey)},
		{Name: "passkey_removed", Method: post, Pattern: passkeysPath + "/remove", Access: action.Required, Traits: action.IsPage, Nav: "mfa", Action: s.withForm(s.removePasskey)},
		{Name: "sessions", Method: get, Pattern: sessionsPath, Access: action.Required, Traits: action.IsPage, Nav: "sessions", Menu: "frame_sessions", Action: s.sessionsPage},
		{Name: "session_ended", Method: post, Pattern: sessionsPath + "/end", Access: action.Required, Traits: action.IsPage, Action: s.withForm(s.endSession)},
		{Name: "tokens", Method: get, Pattern: tokenPath, Access: action.Required, Traits: action.IsPage | action.HasLinks, Nav: "token", Menu: "frame_tokens", Action: s.tokensPage},
		{Name: "token_made", Method: post, Pattern: tokenPath, Access: action.Required, Traits: action.IsPage | action.HasLinks, Nav: "token", Action: s.withForm(s.makeToken)},
		{Name: "token_revoked", Method: post, Pattern: tokenPath + "/revoke", Access: action.Required, Traits: action.IsPage, Action: s.withForm(s.revokeToken)},
		{Name: "hooks", Method: get, Pattern: hooksPath, Access: action.Required, Traits: action.IsPage, Nav: "webhooks", Menu: "hooks_title", Action: s.hooksPage},
		{Name: "hook_added", Method: post, Pattern: hooksPath, Access: action.Required, Traits: action.IsPage, Nav: "webhooks", Action: s.withForm(s.addHook)},
		{Name: "hook_tested", Method: post, Pattern: hooksPath + "/test", Access: action.Required, Traits: action.IsPage, Nav: "webhooks", Action: s.withForm(s.testHook)},
		{Name: "hook_removed", Method: post, Pattern: hooksPath + "/remove", Access: action.Required, Traits: action.IsPage, Action: s.withForm(s.removeHook)},
	}
	return slices.Concat(rows, s.routesAdministrators(), s.routesRequests(), s.routesOld())
}

// Paths of requests for secrets.
const (
	requestsPath = "/requests"
	sentPath     = "/q/sent"
)

// routesRequests returns the rows for the pages of requests for secrets.
func (s *Set) routesRequests() []action.Route {
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

// Paths of the pages for administrators.
const (
	accountsPath = adminPath + "/accounts"
	accountPath  = accountsPath + "/" // followed by its number
	invitePath   = adminPath + "/invite"
	logPath      = adminPath + "/log"
	logLinesPath = logPath + ".jsonl"
	activityPath = adminPath + "/activity"
	findingsPath = adminPath + "/health"
	settingsPath = adminPath + "/settings"
)

// routesAdministrators returns the rows of the pages for administrators.
func (s *Set) routesAdministrators() []action.Route {
	const (
		get  = http.MethodGet
		post = http.MethodPost
	)
	rows := []action.Route{
		{Name: "overview_page", Method: get, Pattern: adminPath, Action: s.overviewPage},
		{Name: "accounts_page", Method: get, Pattern: accountsPath, Action: s.accountsPage},
		{Name: "invite_form", Method: get, Pattern: invitePath, Action: s.inviteForm},
		{Name: "account_invited", Method: post, Pattern: invitePath, Traits: action.HasLinks, Action: s.withForm(s.inviteAccount)},
		{Name: "account_page", Method: get, Pattern: accountPath + ":" + action.NameParam, Action: s.accountPage},
		{Name: "account_changed", Method: post, Pattern: accountPath + ":" + action.NameParam, Traits: action.HasLinks, Action: s.withForm(s.changeAccount)},
		{Name: "log_page", Method: get, Pattern: logPath, Action: s.logPage},
		{Name: "activity_page", Method: get, Pattern: activityPath, Action: s.activityPage},
		{Name: "findings_page", Method: get, Pattern: findingsPath, Action: s.findingsPage},
		{Name: "settings_page", Method: get, Pattern: settingsPath, Action: s.settingsPage},
		{Name: "log_lines", Method: get, Pattern: logLinesPath, Traits: action.HasFiles, Action: s.Manage.LogLines},
	}
	for i := range rows {
		rows[i].Access, rows[i].Traits, rows[i].Nav = action.Administrating, rows[i].Traits|action.IsPage, "admin"
	}
	return rows
}
