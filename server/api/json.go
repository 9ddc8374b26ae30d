package api

import (
	"strings"
	"time"

	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/server/intake"
	"pushbox/store"
	"pushbox/store/record"
)

// pushJSON has the keys that every answer about a push has.
type pushJSON struct {
	URLToken            string  `json:"url_token"`
	Kind                string  `json:"kind"`
	HTMLURL             string  `json:"html_url"`
	JSONURL             string  `json:"json_url"`
	CreatedAt           string  `json:"created_at"`
	UpdatedAt           string  `json:"updated_at"`
	ExpiresAt           string  `json:"expires_at"`
	ExpireAfterDays     int     `json:"expire_after_days"`
	ExpireAfterViews    int     `json:"expire_after_views"`
	DaysRemaining       int     `json:"days_remaining"`
	ViewsRemaining      int     `json:"views_remaining"`
	Expired             bool    `json:"expired"`
	ExpiredOn           *string `json:"expired_on"`
	Deleted             bool    `json:"deleted"`
	DeletableByViewer   bool    `json:"deletable_by_viewer"`
	RetrievalStep       bool    `json:"retrieval_step"`
	Passphrase          *string `json:"passphrase"` // always null
	PassphraseProtected bool    `json:"passphrase_protected"`
	ClientEncrypted     bool    `json:"client_encrypted"`
	Reveal              string  `json:"reveal"`
	OpenFrom            *string `json:"open_from"`
	CloseAfter          *int    `json:"close_after_first_view"` // a code of intake.Durations
}

// senderJSON is a push as its sender sees it: created, active, expired.
type senderJSON struct {
	pushJSON
	Name      string   `json:"name"`
	Note      string   `json:"note"`
	Networks  []string `json:"networks"` // empty: it opens from anywhere
	Recipient string   `json:"recipient_email,omitempty"`
}

// createdJSON is a push as its sender creates it, with the recipients of mail, if any.
type createdJSON struct {
	senderJSON
	NotifyEmailsTo       string `json:"notify_emails_to,omitempty"`
	NotifyEmailsToLocale string `json:"notify_emails_to_locale,omitempty"`
}

// mailedJSON is a push whose link is sent by mail.
type mailedJSON struct {
	Message string `json:"message"`
	pushJSON
}

// newMailedJSON has the message of Password Pusher.
func newMailedJSON(p store.PushInfo, base string) mailedJSON {
	return mailedJSON{"Recipient(s) are added to the queue to be sent.", newPushJSON(p, base)}
}

// viewerJSON is a push as it is retrieved.
type viewerJSON struct {
	pushJSON
	Payload *string    `json:"payload"`
	Files   []fileJSON `json:"files"`
}

type fileJSON struct {
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	Size        int64  `json:"size"`
	URL         string `json:"url"`
}

type previewJSON struct {
	URL string `json:"url"`
}

type auditJSON struct {
	Logs []entryJSON `json:"logs"`
}

type entryJSON struct {
	IP        string `json:"ip"`
	UserAgent string `json:"user_agent"`
	Referrer  string `json:"referrer"`
	Kind      string `json:"kind"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
	RequestID string `json:"request_id,omitempty"`
	Recipient string `json:"recipient_email,omitempty"` // who proved a mailbox
}

func newEntryJSON(e store.LogEntry) entryJSON {
	at := display.Stamp(e.At)
	j := entryJSON{
		IP: e.IP, UserAgent: e.UserAgent, Referrer: e.Referrer.Reveal(),
		Kind: e.Kind.String(), CreatedAt: at, UpdatedAt: at, RequestID: intake.RequestIDText(e.Request),
	}
	if e.Kind == record.EntryView {
		j.Recipient = e.Recipients.Reveal()
	}
	return j
}

// newPushJSON renders a push without its content. Its links begin with base.
func newPushJSON(p store.PushInfo, base string) pushJSON {
	return pushJSON{
		URLToken:            p.URLToken(),
		Kind:                p.Kind.String(),
		HTMLURL:             action.Link(p, base),
		JSONURL:             base + "/api/v2/pushes/" + p.URLToken(),
		CreatedAt:           display.Stamp(p.CreatedAt),
		UpdatedAt:           display.Stamp(p.UpdatedAt),
		ExpiresAt:           display.Stamp(p.ExpiresAt),
		ExpireAfterDays:     p.Days,
		ExpireAfterViews:    p.ViewLimit,
		DaysRemaining:       p.DaysRemaining(p.At),
		ViewsRemaining:      p.ViewsRemaining(),
		Expired:             !p.Live(),
		ExpiredOn:           display.OptionalStamp(p.ExpiredAt),
		Deleted:             p.State == record.Deleted,
		DeletableByViewer:   p.DeletableByViewer,
		RetrievalStep:       p.RetrievalStep,
		PassphraseProtected: p.Protected,
		ClientEncrypted:     p.ClientEncrypted,
		Reveal:              revealName(p.TypedReveal),
		OpenFrom:            display.OptionalStamp(p.OpensAt),
		CloseAfter:          closeCode(p.CloseAfter),
	}
}

// closeCode returns the code of a time after the first view; nil for none.
func closeCode(d time.Duration) *int {
	if d == 0 {
		return nil
	}
	code := intake.DurationCode(d)
	return &code
}

func revealName(typed bool) string {
	if typed {
		return store.RevealType
	}
	return store.RevealPress
}

func newSenderJSON(p store.PushInfo, base string) senderJSON {
	return senderJSON{newPushJSON(p, base), p.Name.Reveal(), p.Note.Reveal(), strings.Fields(p.Networks), p.Recipient.Reveal()}
}

func newViewerJSON(p store.PushInfo, base string) viewerJSON {
	j := viewerJSON{pushJSON: newPushJSON(p, base), Files: make([]fileJSON, len(p.Files))}
	for i, f := range p.Files {
		j.Files[i] = fileJSON{
			Filename: f.Name.Reveal(), ContentType: f.ContentType, Size: f.Size,
			URL: base + action.DownloadPath(p.Grant, i),
		}
	}
	if p.Live() {
		payload := p.Payload.Reveal()
		j.Payload = &payload
	}
	return j
}
