package server

import (
	"net/http"
	"reflect"
	"strconv"

	"pushbox/store"
)

// A routeText is what documentation says of a route beyond what the table of
// routes does.
type routeText struct {
	summary string
	text    string
	suffix  string                    // of the path as it is written
	params  []string                  // by their names in paramFields; those of the path are known
	push    bool                      // it takes a push to be created
	mail    bool                      // it takes addresses to send mail to
	status  int                       // of success; 0: 200
	done    string                    // what the answer of success is
	answer  reflect.Type              // of its body; nil: a file
	example func(*Server, string) any // such a body, with links that begin with the text
	headers []string                  // of success
	errors  []error                   // beyond those of errorsOf
	curl    string                    // options of the command that shows it
}

// routeTexts is the one table of what is said of routes, by their names.
var routeTexts = map[string]routeText{
	"version": {
		summary: "What the server is and can do",
		text:    "For clients that want to know which kinds of push there are. It is open to all, even where nothing else is.",
		done:    "What the server is and can do.",
		answer:  reflect.TypeFor[versionJSON](),
		example: (*Server).exampleVersion,
	},
	"openapi": {
		summary: "This API as an OpenAPI document",
		text:    "An OpenAPI 3.1 document with the bounds and defaults that this server has. It is open to all.",
		suffix:  ".json",
		done:    "The document.",
		answer:  reflect.TypeFor[specDocument](),
	},
	"create": {
		summary: "Create a push",
		text:    "Stores a secret and answers with its link. With an API token the push belongs to the account, else to nobody. Files need an API token. A text is stored exactly as sent, or refused.",
		push:    true,
		status:  http.StatusCreated,
		done:    "The push. Give html_url to a person, or url_token to a program.",
		answer:  reflect.TypeFor[senderJSON](),
		example: (*Server).exampleCreated,
		errors: append([]error{
			errUnauthorized, errNoPush, errMediaType, errEncoding, errTooLarge, store.ErrFileSize,
			errInvalid, errCrowded, store.ErrBusy, store.ErrFull, store.ErrQuota,
		}, inStore...),
	},
	"active": {
		summary: "List own live pushes",
		text:    "The account's pushes that can be retrieved, newest first, " + pageText + ".",
		params:  []string{"page"},
		done:    "A page of the list; empty beyond the last.",
		answer:  reflect.TypeFor[[]senderJSON](),
		example: (*Server).exampleActive,
		errors:  append([]error{errPage, store.ErrBusy}, inStore...),
	},
	"expired": {
		summary: "List own expired pushes",
		text:    "The account's pushes that have expired, newest first, " + pageText + ".",
		params:  []string{"page"},
		done:    "A page of the list; empty beyond the last.",
		answer:  reflect.TypeFor[[]senderJSON](),
		example: (*Server).exampleExpired,
		errors:  append([]error{errPage, store.ErrBusy}, inStore...),
	},
	"show": {
		summary: "Retrieve a push",
		text: "Gives the secret, and counts a view before it does; not for the owner. Of an expired push the answer has expired true and payload null. " +
			"A passphrase is also taken from a form field passphrase in the body. HEAD is not allowed here, and counts nothing.",
		params:  []string{"passphrase", headerPassphrase},
		done:    "The push with its content, or what is left of an expired one.",
		answer:  reflect.TypeFor[viewerJSON](),
		example: (*Server).exampleShown,
		errors:  append([]error{errPercent, store.ErrPassphrase, errTooLarge, store.ErrLocked, store.ErrBusy, errCrowded}, inStore...),
	},
	"delete": {
		summary: "End a push",
		text:    "Destroys the content at once: for the owner, and for anybody with the link if the push is deletable_by_viewer. Doing it again changes nothing.",
		done:    "The push, which has expired.",
		answer:  reflect.TypeFor[pushJSON](),
		example: (*Server).exampleEnded,
		errors:  append([]error{errOwnerOnly, store.ErrDenied}, inStore...),
	},
	"preview": {
		summary: "The link of a push",
		text:    "Gives the link for a browser. It counts no view and leaves nothing in the audit log.",
		done:    "The link.",
		answer:  reflect.TypeFor[previewJSON](),
		example: (*Server).examplePreview,
		errors:  inStore,
	},
	"audit": {
		summary: "The audit log of a push",
		text: "Who did what with a push, for its owner alone, oldest first, " + pageText + ". Of the kinds failed_view, failed_passphrase, owner_view, edit and creation_email_send together at most " +
			strconv.Itoa(store.MaxMinorEntries) + " entries are kept, of the others all.",
		params:  []string{"page"},
		done:    "A page of the log; empty beyond the last.",
		answer:  reflect.TypeFor[auditJSON](),
		example: (*Server).exampleAudit,
		errors:  append([]error{errPage, store.ErrDenied}, inStore...),
	},
	"notify_emails": {
		summary: "Send the link by mail",
		text: "Has the link of a live push sent to people by mail, for its owner alone. A mail has the link, how long and how often it opens and who sends it, never the content, the passphrase, the name or the note. " +
			"The server goes on trying until a mail was taken, was refused for good, or the push has ended. The fields may also be within an object push. It is 422 where the server sends no mail: see email_auto_dispatch of the version.",
		mail:    true,
		status:  http.StatusCreated,
		done:    "The push. The mails are going to be sent.",
		answer:  reflect.TypeFor[pushJSON](),
		example: (*Server).exampleMailed,
		errors:  append([]error{errMediaType, errEncoding, errTooLarge, errNoFields, errInvalidMail, store.ErrDenied, store.ErrQuota, store.ErrFull}, inStore...),
	},
	"download": {
		summary: "Download a file",
		text:    "A file of a push, or a part of it. The address comes with the retrieved push and holds a grant: a secret of its own, good for a while. It takes no API token.",
		params:  []string{"Range", "If-Range"},
		done:    "The file.",
		headers: []string{"Content-Disposition", "ETag", "Accept-Ranges"},
		errors:  append([]error{errRange, errCrowded}, inStore...),
		curl:    "-OJ",
	},
}

var pageText = strconv.Itoa(store.PageSize) + " a page"

// paramFields are the parameters of requests but for those of a body, by name.
var paramFields = map[string]apiField{
	tokenParam: {
		in: "path", required: true, text: "The url_token of a push, in any case.",
		schema: &specSchema{Type: specTypes{"string"}, Pattern: "^[A-Za-z2-7]{34}$"},
	},
	grantParam: {
		in: "path", required: true, text: "The grant, as the retrieved push has it in the address of the file.",
		schema: textSchema(),
	},
	fileParam: {
		in: "path", required: true, text: "The number of the file, from 1.",
		schema: &specSchema{Type: specTypes{"integer"}, Minimum: new(1)},
	},
	"page": {
		in: "query", text: "The page of the list.", bounds: "1 to " + strconv.Itoa(maxPage), fallback: "1",
		schema: &specSchema{Type: specTypes{"integer"}, Minimum: new(1), Maximum: new(maxPage), Default: 1},
	},
	passphraseField: {
		in: "query", text: "The passphrase of the push, where it has one. Proxies may log it; the header is better.",
		bounds: bytesUpTo(store.MaxPassphrase), schema: textUpTo(store.MaxPassphrase),
	},
	headerPassphrase: {
		in: "header", text: "The passphrase of the push, where it has one and the query does not say it.",
		bounds: bytesUpTo(store.MaxPassphrase), schema: textUpTo(store.MaxPassphrase),
	},
	"Range": {
		in: "header", text: "Which bytes to send, such as bytes=0-999. Several ranges, or another unit, mean the whole file.",
		fallback: "the whole file", schema: textSchema(),
	},
	"If-Range": {
		in: "header", text: "The ETag that the file must still have; otherwise all of it is sent.",
		schema: textSchema(),
	},
}
