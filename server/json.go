package server

import "pushbox/store"

// pushJSON are the keys of a push that every answer about it has.
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
	Passphrase          *string `json:"passphrase"` // always null: it is never given back
	PassphraseProtected bool    `json:"passphrase_protected"`
}

// senderJSON is a push as its sender sees it: created, active, expired.
type senderJSON struct {
	pushJSON
	Name string `json:"name"`
	Note string `json:"note"`
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
}

// newPushJSON renders what every answer about a push has. Its links begin with
// base.
func newPushJSON(p store.PushInfo, base string) pushJSON {
	j := pushJSON{
		URLToken:            p.Token.Reveal(),
		Kind:                p.Kind.String(),
		HTMLURL:             htmlURL(p, base),
		JSONURL:             base + "/api/v2/pushes/" + p.Token.Reveal(),
		CreatedAt:           Stamp(p.CreatedAt),
		UpdatedAt:           Stamp(p.UpdatedAt),
		ExpiresAt:           Stamp(p.ExpiresAt),
		ExpireAfterDays:     p.Days,
		ExpireAfterViews:    p.ViewLimit,
		DaysRemaining:       p.DaysRemaining(p.At),
		ViewsRemaining:      p.ViewsRemaining(),
		Expired:             !p.Live(),
		Deleted:             p.State == store.Deleted,
		DeletableByViewer:   p.DeletableByViewer,
		RetrievalStep:       p.RetrievalStep,
		PassphraseProtected: p.Protected,
	}
	if !p.Live() {
		on := Stamp(p.ExpiredAt)
		j.ExpiredOn = &on
	}
	return j
}

func newSenderJSON(p store.PushInfo, base string) senderJSON {
	return senderJSON{pushJSON: newPushJSON(p, base), Name: p.Name.Reveal(), Note: p.Note.Reveal()}
}

func newViewerJSON(p store.PushInfo, base string) viewerJSON {
	j := viewerJSON{pushJSON: newPushJSON(p, base), Files: make([]fileJSON, len(p.Files))}
	for i, f := range p.Files {
		j.Files[i] = fileJSON{
			Filename: f.Name.Reveal(), ContentType: f.ContentType, Size: f.Size,
			URL: base + downloadPath(p.Grant, i),
		}
	}
	if p.Live() {
		payload := p.Payload.Reveal()
		j.Payload = &payload
	}
	return j
}

// htmlURL is the link that a sender gives away.
func htmlURL(p store.PushInfo, base string) string {
	step := ""
	if p.RetrievalStep {
		step = "/r"
	}
	return base + "/p/" + p.Token.Reveal() + step
}
