package pages

import (
	"encoding/json"
	"net/http"
	"strings"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/intake"
	"pushbox/store"
	"pushbox/store/record"
)

// Paths that a phone uses which has the pages on its home screen.
const (
	manifestPath = "/manifest.webmanifest"
	sharePath    = "/share"
)

// A manifest describes the pages to a browser that puts them on the home screen of a phone (Web
// Application Manifest, Web Share Target API).
type manifest struct {
	Name       string         `json:"name"`
	ID         string         `json:"id"`
	StartURL   string         `json:"start_url"`
	Scope      string         `json:"scope"`
	Display    string         `json:"display"`
	Theme      string         `json:"theme_color"`
	Background string         `json:"background_color"`
	Icons      []manifestIcon `json:"icons"`
	Share      *shareTarget   `json:"share_target,omitempty"`
}

type manifestIcon struct {
	Src   string `json:"src"`
	Sizes string `json:"sizes"`
	Type  string `json:"type"`
}

type shareTarget struct {
	Action  string            `json:"action"`
	Method  string            `json:"method"`
	Enctype string            `json:"enctype"`
	Params  map[string]string `json:"params"`
}

// manifest answers with the manifest. What is shared comes in the body of a request: an address is
// kept in histories and logs. Only texts can be shared: files would have to wait on the server for
// their sender, or in a service worker, which a browser keeps between visits.
func (s *Set) manifest(*action.Request) (action.Reply, error) {
	base := s.Config.BasePath
	m := manifest{
		Name: s.Config.Brand.Title, ID: base + "/", StartURL: base + "/", Scope: base + "/",
		Display: "minimal-ui", Theme: "#f5f0e7", Background: "#f5f0e7",
	}
	for _, icon := range [...]manifestIcon{{"icon.svg", "any", "image/svg+xml"}, {"icon-192.png", "192x192", "image/png"}} {
		at, err := s.Templates.Path(icon.Src)
		if err != nil {
			return action.Reply{}, err
		}
		icon.Src = at
		m.Icons = append(m.Icons, icon)
	}
	if s.takesShared(s.Config.ClientEncryption) {
		m.Share = &shareTarget{base + sharePath, http.MethodPost, "application/x-www-form-urlencoded", map[string]string{"title": "title", "text": "text", "url": "url"}}
	}
	out, err := json.Marshal(m)
	return action.Reply{Status: http.StatusOK, Text: &action.Text{Media: "application/manifest+json", Body: out}}, err
}

// takesShared reports whether a text may be shared into the form, for a value of client_encryption. It
// comes through the server, which must not see what the browser is to encrypt.
func (*Set) takesShared(encryption string) bool {
	return encryption == "off" || encryption == "offered"
}

// shareForm shows the form for a new push with a text that another app of the phone has shared. It
// makes nothing and keeps nothing: the sender looks at the text, and sends it.
func (s *Set) shareForm(r *action.Request, f webForm) (action.Reply, error) {
	p, err := s.Intake.PolicyOf(r)
	if err != nil {
		return action.Reply{}, err
	}
	page := s.emptyCreateView(r, p)
	if !p.Terms[record.Text].Enabled || !s.takesShared(page.Encryption) {
		return action.GoTo("/"), nil
	}
	t := intake.KindTerms{Kind: record.Text, Terms: p.Terms[record.Text]}
	page = s.newCreateView(r, p, t, newFields(t, record.Text.String()))
	page.Payload, page.Encryption = sharedText(f), "off" // the server has seen it
	return action.Show(http.StatusOK, "create", page), nil
}

// sharedText returns a shared text, and the address that it is about. A title alone is a text.
func sharedText(f webForm) secret.Text {
	text, address := oneBreak(f.text("text")), f.text("url")
	switch {
	case text == "" && address == "":
		text = oneBreak(f.text("title"))
	case !strings.Contains(text, address):
		text = strings.TrimSpace(text + "\n" + address)
	}
	return secret.New(shownAgain(text, store.MaxText))
}
