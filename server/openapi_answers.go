package server

import (
	"strconv"

	"pushbox/store"
)

// A typeText says what a type of answers is called and what it is.
type typeText struct {
	name   string
	text   string
	opaque bool // its keys are described elsewhere
}

// typeTexts are the types of answers, by their names in Go.
var typeTexts = map[string]typeText{
	"versionJSON":      {name: "Version", text: "What this server is and can do."},
	"featuresJSON":     {name: "Features", text: "What this server can do."},
	"pushFeaturesJSON": {name: "PushFeatures", text: "What pushes can be."},
	"attachmentJSON":   {name: "AttachmentFeature", text: "Whether pushes can carry files, and for whom."},
	"switchJSON":       {name: "Feature", text: "Whether there is such a thing."},
	"pushJSON":         {name: "Push", text: "A push, without its content."},
	"senderJSON":       {name: "SentPush", text: "A push as its sender sees it."},
	"viewerJSON":       {name: "RetrievedPush", text: "A push as it is retrieved, with its content."},
	"fileJSON":         {name: "File", text: "A file of a push, and where it is downloaded."},
	"previewJSON":      {name: "Preview", text: "Where a push is seen in a browser."},
	"auditJSON":        {name: "AuditLog", text: "A page of the audit log of a push."},
	"entryJSON":        {name: "AuditEntry", text: "What happened to a push."},
	"errorBody":        {name: "Error", text: "Why a request was refused; all statuses from 400 on have it but 422."},
	"specDocument":     {name: "OpenAPI", text: "An OpenAPI 3.1 document.", opaque: true},
}

const (
	formatTime = "date-time"
	formatURI  = "uri"

	stampPattern = `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`
	tokenPattern = "^[a-z2-7]{34}$"
)

// keyTexts are the keys of answers, by their struct in Go and their name.
var keyTexts = map[string]keyText{
	"versionJSON.application_version": {text: "The version of this program."},
	"versionJSON.api_version":         {text: "The version of Password Pusher's API that this is."},
	"versionJSON.edition":             {text: "Always oss: Password Pusher's name for a server that one runs oneself."},
	"versionJSON.features":            {text: "What this server can do."},

	"featuresJSON.anonymous_access":         {text: "Whether pushes can be created and retrieved without an API token."},
	"featuresJSON.api_token_authentication": {text: "Always true."},
	"featuresJSON.accounts":                 {text: "Several accounts for one API token: never enabled here."},
	"featuresJSON.pushes":                   {text: "What pushes can be."},
	"featuresJSON.requests":                 {text: "Asking others for secrets: never enabled here."},

	"pushFeaturesJSON.enabled":             {text: "Always true."},
	"pushFeaturesJSON.email_auto_dispatch": {text: "Whether the server sends links by mail: whether notify_emails_to can be set."},
	"pushFeaturesJSON.file_attachments":    {text: "Pushes that carry files."},
	"pushFeaturesJSON.url_pushes":          {text: "Pushes that carry a URL."},
	"pushFeaturesJSON.qr_code_pushes":      {text: "Pushes that show a QR code."},

	"attachmentJSON.enabled":                 {text: "Whether they can be created."},
	"attachmentJSON.requires_authentication": {text: "Whether that needs an API token."},
	"switchJSON.enabled":                     {text: "Whether it is there."},

	"pushJSON.url_token":            {text: "The secret part of the push's link. Whoever has it can retrieve the push.", pattern: tokenPattern},
	"pushJSON.kind":                 {text: "What the push carries.", words: words(store.Kind.String)},
	"pushJSON.html_url":             {text: "The link to give away.", format: formatURI},
	"pushJSON.json_url":             {text: "Where a program retrieves the push.", format: formatURI},
	"pushJSON.created_at":           {text: "When it was created.", format: formatTime, pattern: stampPattern},
	"pushJSON.updated_at":           {text: "When it last changed; a counted view is a change.", format: formatTime, pattern: stampPattern},
	"pushJSON.expires_at":           {text: "When its time limit ends it.", format: formatTime, pattern: stampPattern},
	"pushJSON.expire_after_days":    {text: "Its time limit in days, rounded up."},
	"pushJSON.expire_after_views":   {text: "Its view limit."},
	"pushJSON.days_remaining":       {text: "The days that are left, rounded up; 0 once it has expired."},
	"pushJSON.views_remaining":      {text: "The views that are left."},
	"pushJSON.expired":              {text: "Whether it can no longer be retrieved."},
	"pushJSON.expired_on":           {text: "When it expired; null until then.", format: formatTime, pattern: stampPattern},
	"pushJSON.deleted":              {text: "Whether it was ended by hand."},
	"pushJSON.deletable_by_viewer":  {text: "Whether anybody with the link may end it."},
	"pushJSON.retrieval_step":       {text: "Whether its link leads to a page with a button first."},
	"pushJSON.passphrase":           {text: "Always null: a passphrase is never given back.", null: true},
	"pushJSON.passphrase_protected": {text: "Whether it opens with a passphrase."},
	"senderJSON.name":               {text: "Its name, for its sender alone."},
	"senderJSON.note":               {text: "A note, for its sender alone."},
	"viewerJSON.payload":            {text: "The secret, exactly as it was sent; null once the push has expired."},
	"viewerJSON.files":              {text: "Its files; none once the push has expired."},

	"fileJSON.filename":     {text: "Its name, without path parts and invisible characters."},
	"fileJSON.content_type": {text: "Its type, as its sender says."},
	"fileJSON.size":         {text: "Its size in bytes."},
	"fileJSON.url":          {text: "Where it is downloaded, for a while, without an API token.", format: formatURI},
	"previewJSON.url":       {text: "The link to give away.", format: formatURI},
	"auditJSON.logs":        {text: "Entries, oldest first, " + strconv.Itoa(store.PageSize) + " a page."},
	"entryJSON.ip":          {text: "The address of whoever it was."},
	"entryJSON.user_agent":  {text: "Their program, cut to 255 characters; empty if it was not sent."},
	"entryJSON.referrer":    {text: "Where they came from, cut to 255 characters; empty if it was not sent."},
	"entryJSON.kind":        {text: "What happened.", words: words(store.EntryKind.String)},
	"entryJSON.created_at":  {text: "When it happened.", format: formatTime, pattern: stampPattern},
	"entryJSON.updated_at":  {text: "The same.", format: formatTime, pattern: stampPattern},

	"errorBody.error":   {text: "A short text that stays the same, for programs."},
	"errorBody.message": {text: "A sentence for people. It never repeats what was sent."},
}

// words are the names of an enumeration of the store, which begins with 1.
func words[K ~uint8](name func(K) string) (all []string) {
	for k := K(1); name(k) != ""; k++ {
		all = append(all, name(k))
	}
	return all
}
