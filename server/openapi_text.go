package server

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"pushbox/internal/limit"
	"pushbox/server/body"
	"pushbox/server/openapi"
	"pushbox/store"
	"pushbox/store/record"
)

// A routeText documents a route, in addition to the table of routes.
type routeText struct {
	summary string
	tag     string // the group that it belongs to
	text    string
	suffix  string                    // of the path in documentation
	params  []string                  // by their names in paramFields; those of the path are known
	push    bool                      // its body is a push to be created
	mail    bool                      // its body has the recipients of mail
	asks    bool                      // its body is a request for secrets
	invites bool                      // its body is an account to invite
	lines   bool                      // it answers with lines of JSON, each of the answer's type
	status  int                       // of a success; 0: 200
	done    string                    // describes the answer of a success
	answer  reflect.Type              // the type of its body; nil: a file
	example func(*Server, string) any // makes such a body, with links that begin with the text
	headers []string                  // of a success
	errors  []error                   // in addition to those of errorsOf
	curl    string                    // options of the example command
}

// routeTexts documents the routes of the API, by their names.
var routeTexts = map[string]routeText{
	"version": {
		summary: "What the server is and can do",
		tag:     tagServer,
		text:    "Says which kinds of push there are. It is open to everyone, even if nothing else is.",
		done:    "What the server is and can do.",
		answer:  reflect.TypeFor[versionJSON](),
		example: (*Server).exampleVersion,
	},
	"openapi": {
		summary: "This API as an OpenAPI document",
		tag:     tagServer,
		text:    "An OpenAPI 3.1 document with the bounds and defaults of this server. It is open to everyone.",
		suffix:  ".json",
		done:    "The document.",
		answer:  reflect.TypeFor[openapi.Document](),
	},
	"create": {
		summary: "Create a push",
		tag:     tagPushes,
		text:    "Stores a secret and returns its link. With an API token the push belongs to the account, otherwise to no account. Files need an API token. A text is stored exactly as sent, or refused.",
		push:    true,
		status:  http.StatusCreated,
		done:    "The push. Give html_url to a person, or url_token to a program.",
		answer:  reflect.TypeFor[createdJSON](),
		example: (*Server).exampleCreated,
		errors: append([]error{
			errUnauthorized, errNoPush, body.ErrMediaType, body.ErrEncoding, body.ErrTooLarge, record.ErrFileSize,
			errInvalid, limit.ErrBusy, record.ErrBusy, record.ErrFull, record.ErrUnconfirmed, record.ErrQuota, errAddresseeFull, errClientRoom, errAccountRoom, errAnonymousRoom,
		}, inStore...),
	},
	"active": {
		summary: "List own live pushes",
		tag:     tagOwn,
		text:    "The account's pushes that can be retrieved, newest first, " + pageText + ".",
		params:  []string{"page"},
		done:    "A page of the list; empty beyond the last.",
		answer:  reflect.TypeFor[[]senderJSON](),
		example: (*Server).exampleActive,
		errors:  append([]error{errPage, record.ErrBusy}, inStore...),
	},
	"expired": {
		summary: "List own expired pushes",
		tag:     tagOwn,
		text: "The account's pushes that have expired, newest first, " + pageText + ". The url_token of each is not the one that its creation returned, which goes when a push ends, but a handle: it names the push to its owner, to show, audit and delete it, and opens nothing. " +
			"A client that kept the url_token does not find it in this list, and can show and audit the push with it until the push is purged.",
		params:  []string{"page"},
		done:    "A page of the list; empty beyond the last.",
		answer:  reflect.TypeFor[[]senderJSON](),
		example: (*Server).exampleExpired,
		errors:  append([]error{errPage, record.ErrBusy}, inStore...),
	},
	"show": {
		summary: "Retrieve a push",
		tag:     tagPushes,
		text: "Counts a view and returns the secret. The owner's own retrieval is not counted. For an expired push the answer has expired true and payload null. " +
			"The passphrase may also be a field passphrase of the body, which is a form or JSON. HEAD is not allowed here, and counts nothing.",
		params:  []string{passphraseField, headerPassphrase},
		done:    "The push with its content, or what is left of an expired one.",
		answer:  reflect.TypeFor[viewerJSON](),
		example: (*Server).exampleShown,
		errors:  append([]error{body.ErrPercent, record.ErrPassphrase, body.ErrTooLarge, record.ErrLocked, record.ErrFrozen, record.ErrBusy, limit.ErrBusy}, inStore...),
	},
	"delete": {
		summary: "Delete a push",
		tag:     tagPushes,
		text:    "Destroys the content at once: for the owner, and for anyone with the link if the push is deletable_by_viewer. Repeating it changes nothing.",
		done:    "The push, which has expired.",
		answer:  reflect.TypeFor[pushJSON](),
		example: (*Server).exampleEnded,
		errors:  append([]error{errOwnerOnly, record.ErrDenied}, inStore...),
	},
	"thaw": {
		summary: "Thaw a frozen push",
		tag:     tagOwn,
		text: "Lets a push be opened again that was frozen after too many wrong passphrases, for its owner alone. They then count from 0. " +
			"A push that is not frozen stays as it is, and so does one that has expired.",
		done:    "The push.",
		answer:  reflect.TypeFor[pushJSON](),
		example: (*Server).exampleThawed,
		errors:  append([]error{record.ErrDenied}, inStore...),
	},
	"preview": {
		summary: "The link of a push",
		tag:     tagPushes,
		text:    "Returns the link for a browser. It counts no view and leaves no entry in the audit log.",
		done:    "The link.",
		answer:  reflect.TypeFor[previewJSON](),
		example: (*Server).examplePreview,
		errors:  inStore,
	},
	"audit": {
		summary: "The audit log of a push",
		tag:     tagOwn,
		text: "What happened to a push, for its owner alone, oldest first, " + pageText + ". Of the kinds failed_view, failed_passphrase, owner_view, edit and creation_email_send together at most " +
			strconv.Itoa(store.MaxMinorEntries) + " entries are kept, of the others all.",
		params:  []string{"page"},
		done:    "A page of the log; empty beyond the last.",
		answer:  reflect.TypeFor[auditJSON](),
		example: (*Server).exampleAudit,
		errors:  append([]error{errPage, record.ErrDenied}, inStore...),
	},
	"notify_emails": {
		summary: "Send the link by mail",
		tag:     tagOwn,
		text: "Sends the link of a live push by mail, for its owner alone. A mail contains the link, how long and how often it opens and who sends it, never the content, the passphrase, the name or the note. " +
			"The server keeps trying until a mail is accepted, is refused for good, or the push has ended. The fields may also be within an object push. The answer is 422 if the server sends no mail: see email_auto_dispatch of the version.",
		mail:    true,
		status:  http.StatusCreated,
		done:    "The push. Its mails will be sent.",
		answer:  reflect.TypeFor[mailedJSON](),
		example: (*Server).exampleMailed,
		errors:  append([]error{body.ErrMediaType, body.ErrEncoding, body.ErrTooLarge, errNoFields, errInvalidMail, record.ErrDenied, record.ErrUnconfirmed, record.ErrQuota, errAddresseeFull, record.ErrFull}, inStore...),
	},
	"request_create": {
		summary: "Ask for a secret",
		tag:     tagAsk,
		text:    "Makes a request for secrets and returns its link. A person with the link sees the address of the account and the text, and sends a text or files without an account. Each answer becomes a push of the account.",
		asks:    true,
		status:  http.StatusCreated,
		done:    "The request. Give html_url to the person who is asked.",
		answer:  reflect.TypeFor[requestJSON](),
		example: (*Server).exampleRequest,
		errors:  append([]error{errNoRequest, body.ErrMediaType, body.ErrEncoding, body.ErrTooLarge, errInvalidRequest, record.ErrUnconfirmed, record.ErrRequests, record.ErrFull}, inStore...),
	},
	"requests": {
		summary: "List own requests",
		tag:     tagAsk,
		text:    "The account's requests, " + pageText + ": the live ones first, and then those that have ended, newest first.",
		params:  []string{"page"},
		done:    "A page of the list; empty beyond the last.",
		answer:  reflect.TypeFor[[]requestJSON](),
		example: (*Server).exampleRequests,
		errors:  append([]error{errPage}, inStore...),
	},
	"request": {
		summary: "A request with its answers",
		tag:     tagAsk,
		text:    "A request of the account, with the pushes that came as answers. Retrieve them as any push: a retrieval by their owner is not counted.",
		done:    "The request.",
		answer:  reflect.TypeFor[answeredJSON](),
		example: (*Server).exampleAnswered,
		errors:  append([]error{record.ErrNotFound}, inStore...),
	},
	"request_end": {
		summary: "End a request",
		tag:     tagAsk,
		text:    "Ends a request of the account: it takes no more answers. Those that came stay. Repeating it changes nothing.",
		done:    "The request, which has ended.",
		answer:  reflect.TypeFor[requestJSON](),
		example: (*Server).exampleRequestEnded,
		errors:  append([]error{record.ErrNotFound}, inStore...),
	},
	"admin_accounts": {
		summary: "List accounts",
		tag:     tagAdmin,
		text:    "All accounts, newest first, " + pageText + ". A search reads a bounded number of accounts, so a page can have few, or none: while next is not null, there may be more.",
		params:  []string{searchField, beforeField},
		done:    "A page of the list.",
		answer:  reflect.TypeFor[accountsJSON](),
		example: (*Server).exampleAccounts,
		errors:  append([]error{errNumber}, inAdmin...),
	},
	"admin_invite": {
		summary: "Invite an account",
		tag:     tagAdmin,
		text:    "Makes an account without a password, and a link that sets one, which is mailed or shown here alone. Its owner opens it in a browser.",
		invites: true,
		status:  http.StatusCreated,
		done:    "The account, with the link.",
		answer:  reflect.TypeFor[changedAccountJSON](),
		example: (*Server).exampleInvited,
		errors:  append([]error{errNoAccount, body.ErrMediaType, body.ErrEncoding, body.ErrTooLarge, invalidInvitation(), record.ErrFull}, inAdmin...),
	},
	"admin_account": {
		summary: "Show an account",
		tag:     tagAdmin,
		text:    "An account, and how many live pushes it has.",
		done:    "The account.",
		answer:  reflect.TypeFor[accountJSON](),
		example: (*Server).exampleAccount,
		errors:  inAdmin,
	},
	"admin_act": {
		summary: "Change an account",
		tag:     tagAdmin,
		text: "enable and disable let its owner in or keep the owner out; confirm confirms its address; password makes a link that sets another password, and mail mails it; grant and revoke make it an administrator's or a member's; " +
			"sign_out ends its sessions, and tokens its API tokens too; mfa removes its second factor; unlink removes its links to sign-in providers and ends its sessions; expire ends its live pushes. What an account is or has already is not changed again, and leaves no event.",
		done:    "The account, with a link if the act is password.",
		answer:  reflect.TypeFor[changedAccountJSON](),
		example: (*Server).exampleActed,
		errors:  append([]error{record.ErrLastAdmin, record.ErrOwnAccount, errNoLink, unmailable(), errAddresseeFull, record.ErrFull}, inAdmin...),
	},
	"admin_policy": {
		summary: "Give an account a policy",
		tag:     tagAdmin,
		text:    "Gives an account a policy of the settings, or none. If the policy has groups, those of its user decide again at the next sign-in at a provider.",
		done:    "The account.",
		answer:  reflect.TypeFor[accountJSON](),
		example: (*Server).exampleAccount,
		errors:  append([]error{record.ErrFull}, inAdmin...),
	},
	"admin_remove": {
		summary: "Remove an account",
		tag:     tagAdmin,
		text:    "Removes an account with its pushes, their audit logs, its API tokens and its webhooks. Its links end at once. This cannot be undone.",
		done:    "The account as it was.",
		answer:  reflect.TypeFor[accountJSON](),
		example: (*Server).exampleAccount,
		errors:  append([]error{record.ErrLastAdmin, record.ErrFull}, inAdmin...),
	},
	"admin_log": {
		summary: "The instance log",
		tag:     tagAdmin,
		text:    "Who changed accounts and the instance, newest first, " + pageText + ". With a filter a page can have few events, or none: while next is not null, there may be more.",
		params:  []string{eventField, aboutField, beforeField},
		done:    "A page of the log.",
		answer:  reflect.TypeFor[logJSON](),
		example: (*Server).exampleLog,
		errors:  append([]error{errNumber, errLogFilter}, inAdmin...),
	},
	"admin_log_lines": {
		summary: "Export the instance log",
		tag:     tagAdmin,
		text:    "All events of the log that the query asks for, oldest first, as JSON lines: each line is an event as in the log.",
		params:  []string{eventField, aboutField, beforeField},
		lines:   true,
		done:    "The events. Where the answer ends early, the connection is cut.",
		answer:  reflect.TypeFor[store.AdminLine](),
		errors:  append([]error{errNumber, errLogFilter}, inAdmin...),
	},
	"admin_health": {
		summary: "The health of the installation",
		tag:     tagAdmin,
		text:    "What pushbox doctor finds from within the server, with what to do about it. The server looks again after ten seconds.",
		done:    "The findings.",
		answer:  reflect.TypeFor[findingsJSON](),
		example: (*Server).exampleFindings,
		errors:  inAdmin,
	},
	"admin_settings": {
		summary: "The settings in force",
		tag:     tagAdmin,
		text:    "Every setting with its value and where that comes from, as pushbox config print shows them. Secrets are redacted.",
		done:    "The settings.",
		answer:  reflect.TypeFor[settingsJSON](),
		example: (*Server).exampleSettings,
		errors:  inAdmin,
	},
	"download": {
		summary: "Download a file",
		tag:     tagFiles,
		text:    "A file of a push, or a part of it. The retrieved push has this address, with a grant in it: a secret of its own that expires. It needs no API token.",
		params:  []string{"Range", "If-Range"},
		done:    "The file.",
		headers: []string{"Content-Disposition", "ETag", "Accept-Ranges"},
		errors:  append([]error{errRange, limit.ErrBusy}, inStore...),
		curl:    "-OJ",
	},
}

var pageText = strconv.Itoa(store.PageSize) + " a page"

// paramFields documents the parameters of requests outside the body, by name.
var paramFields = map[string]apiField{
	tokenParam: {
		in: "path", required: true, text: "The url_token of a push, in upper or lower case. For its owner also the handle of an expired push, to show, audit and delete it.",
		schema: &openapi.Schema{Type: openapi.Types{"string"}, Pattern: "^([A-Za-z2-7]{34}([A-Za-z2-7]{2})?|[A-Za-z0-9_-]{8,33})$"},
	},
	requestParam: {
		in: "path", required: true, text: "The id of a request, in upper or lower case.",
		schema: &openapi.Schema{Type: openapi.Types{"string"}, Pattern: "^[A-Za-z2-7]{36}$"},
	},
	grantParam: {
		in: "path", required: true, text: "The grant in the file's address, from the retrieved push.",
		schema: openapi.Text(),
	},
	fileParam: {
		in: "path", required: true, text: "The number of the file, from 1.",
		schema: &openapi.Schema{Type: openapi.Types{"integer"}, Minimum: new(1)},
	},
	accountParam: {
		in: "path", required: true, text: "The id of an account.",
		schema: &openapi.Schema{Type: openapi.Types{"integer"}, Minimum: new(1)},
	},
	actParam: {
		in: "path", required: true, text: "What to do.", bounds: "one of " + strings.Join(actNames(), ", "),
		schema: &openapi.Schema{Type: openapi.Types{"string"}, Enum: actNames()},
	},
	policyParam: {
		in: "path", required: true, text: "The name of a policy in the settings, or none.",
		schema: openapi.Text(),
	},
	searchField: {
		in: "query", text: "Only accounts whose addresses contain this.", bounds: bytesUpTo(maxSearch), schema: textUpTo(maxSearch),
	},
	beforeField: {
		in: "query", text: "Only what has a lower number: next of the page before.", fallback: "the newest",
		schema: &openapi.Schema{Type: openapi.Types{"integer"}, Minimum: new(1)},
	},
	eventField: {
		in: "query", text: "Only events of this kind. docs/events.md says what each reports.", fallback: "all",
		schema: &openapi.Schema{Type: openapi.Types{"string"}, Enum: words(record.AdminKind.String)},
	},
	aboutField: {
		in: "query", text: "Only events about the account with this id, and those that it caused.", fallback: "all",
		schema: &openapi.Schema{Type: openapi.Types{"integer"}, Minimum: new(1)},
	},
	"page": {
		in: "query", text: "The page of the list.", bounds: "1 to " + strconv.Itoa(maxPage), fallback: "1",
		schema: &openapi.Schema{Type: openapi.Types{"integer"}, Minimum: new(1), Maximum: new(maxPage)},
	},
	passphraseField: {
		in: "query", text: "The passphrase of the push, if it has one. Proxies may log it; the header is safer.",
		bounds: bytesUpTo(store.MaxPassphrase), schema: textUpTo(store.MaxPassphrase),
	},
	headerPassphrase: {
		in: "header", text: "The passphrase of the push, if it has one and the query does not have it.",
		bounds: bytesUpTo(store.MaxPassphrase), schema: textUpTo(store.MaxPassphrase),
	},
	"Range": {
		in: "header", text: "The bytes to send, such as bytes=0-999. Several ranges, or another unit, get the whole file.",
		fallback: "the whole file", schema: openapi.Text(),
	},
	"If-Range": {
		in: "header", text: "The ETag that the file must still have; otherwise all of it is sent.",
		schema: openapi.Text(),
	},
}
