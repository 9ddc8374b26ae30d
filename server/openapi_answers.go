package server

import (
	"encoding/base64"
	"strconv"
	"time"

	"pushbox/internal/secret"
	"pushbox/server/openapi"
	"pushbox/store"
	"pushbox/store/record"
)

// typeTexts document the types of answers, by their names in Go.
var typeTexts = map[string]openapi.TypeText{
	"versionJSON":        {Name: "Version", Text: "What this server is and can do."},
	"featuresJSON":       {Name: "Features", Text: "What this server can do."},
	"pushFeaturesJSON":   {Name: "PushFeatures", Text: "What pushes can be."},
	"attachmentJSON":     {Name: "AttachmentFeature", Text: "Whether pushes can carry files, and for whom."},
	"switchJSON":         {Name: "Feature", Text: "Whether the server has a feature."},
	"pushJSON":           {Name: "Push", Text: "A push, without its content."},
	"senderJSON":         {Name: "SentPush", Text: "A push as its sender sees it."},
	"createdJSON":        {Name: "CreatedPush", Text: "A push as it is created."},
	"mailedJSON":         {Name: "MailedPush", Text: "A push whose link is sent by mail."},
	"viewerJSON":         {Name: "RetrievedPush", Text: "A push as it is retrieved, with its content."},
	"fileJSON":           {Name: "File", Text: "A file of a push, and where it is downloaded."},
	"previewJSON":        {Name: "Preview", Text: "The address of a push in a browser."},
	"versionV1JSON":      {Name: "VersionV1", Text: "What this server is."},
	"auditV1JSON":        {Name: "AuditLogV1", Text: "A page of the audit log of a push."},
	"auditJSON":          {Name: "AuditLog", Text: "A page of the audit log of a push."},
	"entryJSON":          {Name: "AuditEntry", Text: "What happened to a push."},
	"requestJSON":        {Name: "Request", Text: "A request for secrets, as its owner sees it."},
	"answeredJSON":       {Name: "AnsweredRequest", Text: "A request for secrets with its answers."},
	"answerJSON":         {Name: "Answer", Text: "A push that answers a request."},
	"accountJSON":        {Name: "Account", Text: "An account, as administrators see it."},
	"accountsJSON":       {Name: "Accounts", Text: "A page of the list of accounts."},
	"changedAccountJSON": {Name: "ChangedAccount", Text: "An account after a change."},
	"Room":               {Name: "Room", Text: "What live pushes take."},
	"logJSON":            {Name: "InstanceLog", Text: "A page of the instance log."},
	"findingsJSON":       {Name: "Health", Text: "What was found out about the installation."},
	"findingJSON":        {Name: "Finding", Text: "What was found out about a part of it."},
	"settingsJSON":       {Name: "Settings", Text: "The settings in force."},
	"settingJSON":        {Name: "Setting", Text: "A setting in force."},
	"AdminLine":          {Name: "InstanceEvent", Text: "What happened to an account or to the instance. It has no empty keys."},
	"errorBody":          {Name: "Error", Text: "Why a request was refused; all statuses from 400 on have it, except 422."},
	"Document":           {Name: "OpenAPI", Text: "An OpenAPI 3.1 document.", Opaque: true},
}

const (
	formatTime = "date-time"
	formatURI  = "uri"

	stampPattern = `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`
	tokenPattern = "^([a-z2-7]{34}([a-z2-7]{2})?|[a-z0-9_-]{8,33})$" // or a handle; behind the bar, of an imported push
)

// keyTexts document the keys of answers, by their struct in Go and their name.
var keyTexts = map[string]openapi.KeyText{
	"versionJSON.application_version": {Text: "The version of this program."},
	"versionJSON.api_version":         {Text: "The version of Password Pusher's API that this is."},
	"versionJSON.edition":             {Text: "Always oss: Password Pusher's name for a self-hosted server."},
	"versionJSON.features":            {Text: "What this server can do."},

	"versionV1JSON.application_version": {Text: "The version of this program."},
	"versionV1JSON.api_version":         {Text: "The version of Password Pusher's older API that this is."},
	"versionV1JSON.edition":             {Text: "Always oss: Password Pusher's name for a self-hosted server."},

	"featuresJSON.anonymous_access":         {Text: "Whether pushes can be created and retrieved without an API token."},
	"featuresJSON.api_token_authentication": {Text: "Always true."},
	"featuresJSON.accounts":                 {Text: "Several accounts for one API token: never enabled here."},
	"featuresJSON.pushes":                   {Text: "What pushes can be."},
	"featuresJSON.requests":                 {Text: "Asking others for secrets."},

	"pushFeaturesJSON.enabled":             {Text: "Always true."},
	"pushFeaturesJSON.email_auto_dispatch": {Text: "Whether the server sends links by mail: whether notify_emails_to can be set."},
	"pushFeaturesJSON.file_attachments":    {Text: "Pushes that carry files."},
	"pushFeaturesJSON.url_pushes":          {Text: "Pushes that carry a URL."},
	"pushFeaturesJSON.qr_code_pushes":      {Text: "Pushes that show a QR code."},

	"attachmentJSON.enabled":                 {Text: "Whether they can be created."},
	"attachmentJSON.requires_authentication": {Text: "Whether that needs an API token."},
	"switchJSON.enabled":                     {Text: "Whether the server has it."},

	"pushJSON.url_token":            {Text: "The secret part of the push's link: 34 characters, or fewer for a push that came from another server. Anyone who has it can retrieve the push. The list of expired pushes has a handle of 36 characters in its place, which opens nothing.", Pattern: tokenPattern},
	"pushJSON.kind":                 {Text: "What the push carries.", Words: words(record.Kind.String)},
	"pushJSON.html_url":             {Text: "The link to give away.", Format: formatURI},
	"pushJSON.json_url":             {Text: "Where a program retrieves the push.", Format: formatURI},
	"pushJSON.created_at":           {Text: "When it was created.", Format: formatTime, Pattern: stampPattern},
	"pushJSON.updated_at":           {Text: "When it last changed; a counted view is a change.", Format: formatTime, Pattern: stampPattern},
	"pushJSON.expires_at":           {Text: "When its time limit is reached.", Format: formatTime, Pattern: stampPattern},
	"pushJSON.expire_after_days":    {Text: "Its time limit in days, rounded up."},
	"pushJSON.expire_after_views":   {Text: "Its view limit."},
	"pushJSON.days_remaining":       {Text: "The days that are left, rounded up; 0 once it has expired."},
	"pushJSON.views_remaining":      {Text: "The views that are left."},
	"pushJSON.expired":              {Text: "Whether it can no longer be retrieved."},
	"pushJSON.expired_on":           {Text: "When it expired; null until then.", Format: formatTime, Pattern: stampPattern},
	"pushJSON.deleted":              {Text: "Whether a person deleted it."},
	"pushJSON.deletable_by_viewer":  {Text: "Whether anyone with the link may delete it."},
	"pushJSON.retrieval_step":       {Text: "Whether its link leads to a page with a button first."},
	"pushJSON.passphrase":           {Text: "Always null: a passphrase is never returned.", Null: true},
	"pushJSON.passphrase_protected": {Text: "Whether it opens with a passphrase."},
	"pushJSON.client_encrypted":     {Text: "Whether its sender encrypted it: the payload is then an envelope, and only the link that the sender gave out has the key."},
	"senderJSON.name":               {Text: "Its name, for its sender alone."},
	"senderJSON.note":               {Text: "A note, for its sender alone."},

	"createdJSON.notify_emails_to":        {Text: "The addresses that get the link by mail, as they were sent; absent if there are none."},
	"createdJSON.notify_emails_to_locale": {Text: "The language of the mail, as it was sent; absent if there was none."},
	"mailedJSON.message":                  {Text: "What happens now, for people."},

	"viewerJSON.payload": {Text: "The secret, exactly as it was sent; null once the push has expired."},
	"viewerJSON.files":   {Text: "Its files; none once the push has expired."},

	"fileJSON.filename":     {Text: "Its name, without path parts and invisible characters."},
	"fileJSON.content_type": {Text: "Its type, as its sender says."},
	"fileJSON.size":         {Text: "Its size in bytes."},
	"fileJSON.url":          {Text: "The address to download it from, without an API token; it expires.", Format: formatURI},
	"previewJSON.url":       {Text: "The link to give away.", Format: formatURI},
	"auditJSON.logs":        {Text: "Entries, oldest first, " + strconv.Itoa(store.PageSize) + " a page."},
	"auditV1JSON.views":     {Text: "Entries, oldest first, " + strconv.Itoa(store.PageSize) + " a page."},
	"entryJSON.ip":          {Text: "The client's address."},
	"entryJSON.user_agent":  {Text: "The client's program, cut to 255 characters; empty if it was not sent."},
	"entryJSON.referrer":    {Text: "The page that the client came from, cut to 255 characters; empty if it was not sent."},
	"entryJSON.kind":        {Text: "What happened.", Words: words(record.EntryKind.String)},
	"entryJSON.created_at":  {Text: "When it happened.", Format: formatTime, Pattern: stampPattern},
	"entryJSON.updated_at":  {Text: "The same.", Format: formatTime, Pattern: stampPattern},
	"entryJSON.request_id":  {Text: "The request for secrets that the push answers; only in the entry of the creation of such a push."},

	"requestJSON.id":                        {Text: "Its name in the API, for its owner alone; it opens nothing.", Pattern: "^[a-z2-7]{36}$"},
	"requestJSON.html_url":                  {Text: "The link to give to the person who is asked; null once the request has ended.", Format: formatURI},
	"requestJSON.text":                      {Text: "What is asked for."},
	"requestJSON.kinds":                     {Text: "What answers may be: text, file or text,file."},
	"requestJSON.max_answers":               {Text: "How many answers it takes."},
	"requestJSON.answered":                  {Text: "How many came."},
	"requestJSON.answer_expire_after_days":  {Text: "Days until an answer expires, rounded up; null: the default of its kind when it comes."},
	"requestJSON.answer_expire_after_views": {Text: "Views until an answer expires; null: the default of its kind when it comes."},
	"requestJSON.answer_retrieval_step":     {Text: "Whether the links of answers lead to a page with a button first."},
	"requestJSON.created_at":                {Text: "When it was created.", Format: formatTime, Pattern: stampPattern},
	"requestJSON.expires_at":                {Text: "When its time limit is reached.", Format: formatTime, Pattern: stampPattern},
	"requestJSON.expired":                   {Text: "Whether it takes no more answers."},
	"requestJSON.expired_on":                {Text: "When it ended; null until then.", Format: formatTime, Pattern: stampPattern},
	"requestJSON.public_key_x25519":         {Text: "The public key that answers are encrypted for, in base64url; null if there is none."},
	"requestJSON.public_key_p256":           {Text: "The same, of the curve P-256."},
	"answeredJSON.answers":                  {Text: "The pushes that came and are not purged, oldest first."},
	"answerJSON.wrapped_key":                {Text: "The key of an encrypted answer, encrypted for the public key, in base64url; null if it is not encrypted."},

	"accountJSON.id":              {Text: "Its number."},
	"accountJSON.email":           {Text: "Its address."},
	"accountJSON.name":            {Text: "What recipients see of its user, with the address; empty: nothing."},
	"accountJSON.language":        {Text: "The language of its pages and mails; empty: that of the browser."},
	"accountJSON.mails":           {Text: "The events of its pushes that are mailed to it."},
	"accountJSON.created_at":      {Text: "When it was made.", Format: formatTime, Pattern: stampPattern},
	"accountJSON.last_sign_in_at": {Text: "When its owner last signed in on the pages; null: never.", Format: formatTime, Pattern: stampPattern},
	"accountJSON.confirmed":       {Text: "Whether its address is confirmed."},
	"accountJSON.second_factor":   {Text: "Whether it has a second factor."},
	"accountJSON.admin":           {Text: "Whether it is an administrator's."},
	"accountJSON.invited":         {Text: "Whether it has no password yet."},
	"accountJSON.policy":          {Text: "The name of its policy; empty: none."},
	"accountJSON.disabled":        {Text: "Whether its owner cannot sign in, and its API tokens do not work."},
	"accountJSON.removing":        {Text: "Whether its removal was interrupted; the server finishes it."},
	"accountJSON.room":            {Text: "What its live pushes take."},
	"Room.pushes":                 {Text: "Their number."},
	"Room.bytes":                  {Text: "The bytes of their payloads, names, notes and files."},
	"accountsJSON.accounts":       {Text: "Accounts, newest first, " + strconv.Itoa(store.PageSize) + " a page."},
	"accountsJSON.next":           {Text: "The before of the next page; null: there are no more."},

	"changedAccountJSON.password_url":            {Text: "The link that sets a password, if one was made; else null.", Format: formatURI},
	"changedAccountJSON.password_url_expires_at": {Text: "How long it works; null if there is none.", Format: formatTime, Pattern: stampPattern},

	"logJSON.events":          {Text: "Events, newest first, " + strconv.Itoa(store.PageSize) + " a page."},
	"logJSON.next":            {Text: "The before of the next page; null: there are no more."},
	"AdminLine.number":        {Text: "Its number: they grow without a gap."},
	"AdminLine.time":          {Text: "When it happened.", Format: formatTime, Pattern: stampPattern},
	"AdminLine.event":         {Text: "What happened.", Words: words(record.AdminKind.String)},
	"AdminLine.actor":         {Text: "Who did it: operator, by a command on the server's machine; system, the server itself; admin, account or anonymous."},
	"AdminLine.actor_id":      {Text: "The id of the account that did it."},
	"AdminLine.actor_account": {Text: "The address of that account, where it is another one than account."},
	"AdminLine.ip":            {Text: "The address of the client."},
	"AdminLine.user_agent":    {Text: "The program of the client."},
	"AdminLine.account_id":    {Text: "The id of the account that it is about."},
	"AdminLine.account":       {Text: "The address of that account."},
	"AdminLine.token":         {Text: "The id of the API token that it is about."},
	"AdminLine.webhook":       {Text: "The id of the webhook that it is about."},
	"AdminLine.detail":        {Text: "More about it."},

	"findingsJSON.problems": {Text: "How many findings are problems."},
	"findingsJSON.warnings": {Text: "How many are warnings."},
	"findingsJSON.findings": {Text: "All findings."},
	"findingJSON.check":     {Text: "What was examined."},
	"findingJSON.grade":     {Text: "How bad it is; skipped: it could not be examined.", Words: []string{"ok", "warning", "problem", "skipped"}},
	"findingJSON.text":      {Text: "What was found."},
	"findingJSON.cure":      {Text: "What to do; absent: nothing."},
	"settingsJSON.settings": {Text: "All settings, in the order of config.example.yaml."},
	"settingJSON.key":       {Text: "Its name."},
	"settingJSON.value":     {Text: "Its value as YAML; a secret is [redacted]."},
	"settingJSON.origin":    {Text: "Where it comes from: default, or a file, a variable of the environment, or a flag."},
	"settingJSON.reload":    {Text: "Whether a reload applies a change; otherwise it needs a restart."},

	"errorBody.error":   {Text: "A sentence for people, which never repeats the request. For a push that is not found always not-found."},
	"errorBody.code":    {Text: "A short word that stays the same, for programs."},
	"errorBody.message": {Text: "What to do, where error does not say it."},
}

// words returns the names of an enumeration of the store, which begins with 1.
func words[K ~uint8](name func(K) string) (all []string) {
	for k := K(1); name(k) != ""; k++ {
		all = append(all, name(k))
	}
	return all
}

// The code that renders real pushes also renders the examples, of made-up ones.

// exampleAt is when the pushes of examples were created.
func exampleAt() time.Time { return time.Date(2026, 11, 21, 11, 39, 25, 834_000_000, time.UTC) }

// exampleFile is the content of a file.
const exampleFile = "hello"

// examplePush are the fields of a push to be created.
func (s *Server) examplePush(how spelling) openapi.Ordered[any] {
	terms, name := s.offers(how)[0], "wifi"
	content := openapi.Member[any]{Name: store.FieldPayload, Value: "correct horse battery staple"}
	switch how.kind {
	case record.File:
		name = "greeting"
		content.Name, content.Value = store.FieldFiles, []any{openapi.Ordered[any]{
			{Name: "filename", Value: "hello.txt"},
			{Name: "content_type", Value: "text/plain"},
			{Name: "content", Value: base64.StdEncoding.EncodeToString([]byte(exampleFile))},
		}}
	case record.URL:
		name = "invitation"
		content.Value = "https://example.com/invitation"
	}
	return openapi.Ordered[any]{
		content,
		{Name: store.FieldName, Value: name},
		{Name: store.FieldDays, Value: terms.Days.Default},
		{Name: store.FieldViews, Value: terms.Views.Default},
	}
}

// exampleInfo is the push that these fields create.
func (s *Server) exampleInfo() store.PushInfo {
	text := s.offers(pushV2)[0]
	days := text.Days.Default
	return store.PushInfo{
		At: exampleAt(), Token: store.Token{Text: secret.New("buh66o4ikeyessa67bs4hdfpptg55e4sd6")}, Name: secret.New("wifi"),
		Push: record.Push{
			Kind: record.Text, State: record.Live, Days: days, ViewLimit: text.Views.Default,
			CreatedAt: exampleAt(), UpdatedAt: exampleAt(), ExpiresAt: exampleAt().Add(time.Duration(days) * day),
			RetrievalStep: usually(text.RetrievalStep), DeletableByViewer: usually(text.Deletable),
		},
	}
}

// exampleEnd is the same push an hour later, deleted.
func (s *Server) exampleEnd() store.PushInfo {
	p := s.exampleInfo()
	p.State, p.At = record.Deleted, p.At.Add(time.Hour)
	p.UpdatedAt, p.ExpiredAt = p.At, p.At
	return p
}

func (s *Server) exampleVersion(string) any {
	rep, _ := s.version(nil) // it has no errors
	return rep.body
}

func (s *Server) exampleCreated(base string) any {
	return createdJSON{senderJSON: newSenderJSON(s.exampleInfo(), base)}
}

func (s *Server) exampleActive(base string) any {
	return []senderJSON{newSenderJSON(s.exampleInfo(), base)}
}

func (s *Server) exampleExpired(base string) any {
	return []senderJSON{newSenderJSON(s.exampleEnd(), base)}
}

// exampleShown is a push with a file, so that each key has a value.
func (s *Server) exampleShown(base string) any {
	p := s.exampleInfo()
	p.Kind, p.Views, p.UpdatedAt = record.File, 1, p.UpdatedAt.Add(time.Minute)
	p.Payload = secret.New("see the file")
	p.Grant = secret.New("d56aw76iprjcwfvccv72okkm45tqznyj")
	p.Files = []store.FileInfo{{Name: secret.New("hello.txt"), ContentType: "text/plain", Size: 11}}
	return newViewerJSON(p, base)
}

func (s *Server) exampleEnded(base string) any { return newPushJSON(s.exampleEnd(), base) }

func (s *Server) exampleThawed(base string) any { return newPushJSON(s.exampleInfo(), base) }

func (s *Server) exampleMailed(base string) any { return newMailedJSON(s.exampleInfo(), base) }

func (s *Server) examplePreview(base string) any {
	return previewJSON{URL: htmlURL(s.exampleInfo(), base)}
}

func (s *Server) exampleAudit(string) any {
	at := Stamp(exampleAt())
	return auditJSON{Logs: []entryJSON{{
		IP: "192.0.2.1", UserAgent: "curl/8.14.1", Kind: record.EntryCreation.String(), CreatedAt: at, UpdatedAt: at,
	}}}
}
