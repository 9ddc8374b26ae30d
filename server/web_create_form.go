package server

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
)

// A createView is the form for a new push.
type createView struct {
	Kinds       []kindChoice
	NoFiles     bool // file pushes need an account, and the reader is not signed in
	Payload     secret.Text
	URL         secret.Text // in place of Payload
	AsLogin     bool        // Login is in place of Payload
	Login       []loginPart
	Days, Views numberField
	Units       []string
	Unit        string // of Days, one of them
	Times       []timeChoice
	Encryption  string   // in the browser: a value of client_encryption
	Protected   bool     // a passphrase is required
	Step        checkbox // before the push can be seen
	Deletable   checkbox // by the viewer
	Name, Note  secret.Text
	Mail        *mailForm // nil: no mail is sent, or the reader is not signed in
	MaxQR       int       // characters of a qr push
	uploadView
	problemsView

	PassphraseLost bool // one was entered, and is not shown again
}

// An uploadView is the part of a page that sends texts and files.
type uploadView struct {
	MaxFiles     int
	MaxSize      int64 // of a file, in bytes
	MaxSizeText  string
	MaxText      int // bytes of a text
	MaxEncrypted int // of one that the browser encrypts
}

func newUploadView(r *action.Request, p store.Policy) uploadView {
	return uploadView{p.Files.MaxCount, p.Files.MaxSize, sizeText(r, p.Files.MaxSize), store.MaxText, endtoend.MaxText}
}

// encryptionFor returns the value of client_encryption for senders with the policy.
func (s *Server) encryptionFor(p store.Policy) string {
	if p.Encryption {
		return "required"
	}
	return s.cfg.ClientEncryption
}

// A kindChoice is a kind that can be chosen, with its terms in the form that the script
// reads.
type kindChoice struct {
	Name            string
	Chosen          bool
	Days, Views     string // default, least and most
	Step, Deletable string // on, off, or empty: never
}

// emptyCreateView returns the form before it is filled in.
func (s *Server) emptyCreateView(r *action.Request, p store.Policy) createView {
	all := kindsOf(p)
	t := named(all, r.URL.Query().Get(kindName))
	return s.newCreateView(r, p, t, fields{
		store.FieldDays:          textValue(strconv.Itoa(t.Days.Default)),
		store.FieldDuration:      textValue(codeOf(t.Days.Default)),
		store.FieldViews:         textValue(strconv.Itoa(t.Views.Default)),
		store.FieldRetrievalStep: textValue(flagText(t.RetrievalStep.Default)),
		store.FieldDeletable:     textValue(flagText(t.Deletable.Default)),
	})
}

// createViewAgain returns the form as it was filled in, except passphrase and files,
// with its problems.
func (s *Server) createViewAgain(c *createRequest, invalid *record.InvalidError) createView {
	t := named(kindsOf(c.policy), c.fields.text(store.FieldKind))
	if !c.bodyRead || c.fields.text(store.FieldDuration) != "" { // a field that was not read, or is not in use, gets its default
		c.fields.fill(store.FieldDays, strconv.Itoa(t.Days.Default))
	}
	if !c.bodyRead {
		c.fields.fill(store.FieldDuration, codeOf(t.Days.Default))
		c.fields.fill(store.FieldViews, strconv.Itoa(t.Views.Default))
		c.fields.fill(store.FieldRetrievalStep, flagText(t.RetrievalStep.Default))
		c.fields.fill(store.FieldDeletable, flagText(t.Deletable.Default))
	}
	long := c.tooLong(t.kind)
	for _, name := range long {
		invalid.Add(name, "is too long")
	}
	problems := s.formProblems(t, c, invalid)
	for _, name := range long {
		c.fields.change(name, func(string) string { return "" })
	}
	page := s.newCreateView(c.r, c.policy, t, c.fields)
	page.Problems = problems
	page.PassphraseLost = c.fields.text(store.FieldPassphrase) != ""
	return page
}

// tooLong names the fields that are too long for a push of that kind, among those that
// the form shows again.
func (c *createRequest) tooLong(k record.Kind) (long []string) {
	for _, field := range [...]struct {
		name string
		most int
	}{
		{store.FieldPayload, store.MaxText},
		{store.FieldDays, maxNumber},
		{store.FieldViews, maxNumber},
		{store.FieldName, store.MaxName},
		{store.FieldNote, store.MaxNote},
		{store.FieldMailTo, c.server.maxMailBytes()},
	} {
		text := c.fields.text(field.name)
		qr := k == record.QR && field.name == store.FieldPayload && utf8.RuneCountInString(text) > store.MaxQR
		if qr || shownAgain(text, field.most) != text {
			long = append(long, field.name)
		}
	}
	return long
}

// newCreateView returns the form with this kind chosen and these fields filled in.
func (s *Server) newCreateView(r *action.Request, p store.Policy, chosen kindTerms, f fields) createView {
	all := kindsOf(p)
	page := createView{
		NoFiles:    p.Terms[record.File].Enabled && r.Actor.Account == 0,
		Payload:    f[store.FieldPayload].Text,
		AsLogin:    f.sendsLogin(),
		Login:      f.login(),
		Days:       newNumberField(all, kindTerms.daysRange, f.text(store.FieldDays)),
		Units:      []string{"minutes", "hours", "days"},
		Unit:       cmp.Or(f.text(unitField), "days"),
		Views:      newNumberField(all, kindTerms.viewsRange, f.text(store.FieldViews)),
		Step:       newCheckbox(all, kindTerms.stepChoice, f.on(store.FieldRetrievalStep)),
		Deletable:  newCheckbox(all, kindTerms.deleteChoice, f.on(store.FieldDeletable)),
		Name:       f[store.FieldName].Text,
		Note:       f[store.FieldNote].Text,
		Encryption: s.encryptionFor(p),
		Protected:  p.Passphrase,
		MaxQR:      store.MaxQR,
		uploadView: newUploadView(r, p),
	}
	page.Mail = s.newMailForm(r, p, f)
	if chosen.kind == record.URL {
		page.Payload, page.URL = secret.Text{}, page.Payload
	}
	if page.AsLogin && len(loginText(page.Login)) <= store.MaxText {
		page.Payload = secret.Text{}
	} else {
		page.Login = fields{}.login()
	}
	page.Times = newTimes(all, page.Days, f.text(store.FieldDuration))
	for _, t := range all {
		page.Kinds = append(page.Kinds, kindChoice{
			Name: t.kind.String(), Chosen: t.kind == chosen.kind,
			Days: rangeText(t.Days), Views: rangeText(t.Views),
			Step: choiceText(t.RetrievalStep), Deletable: choiceText(t.Deletable),
		})
	}
	return page
}

// fill sets the text of a field that was not sent.
func (f fields) fill(name, text string) {
	if _, sent := f[name]; !sent {
		f[name] = textValue(text)
	}
}

// on reports whether a checkbox is ticked.
func (f fields) on(name string) bool { return strings.EqualFold(f.text(name), "on") }

func flagText(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func rangeText(r store.Range) string {
	return strconv.Itoa(r.Default) + " " + strconv.Itoa(r.Min) + " " + strconv.Itoa(r.Max)
}

func choiceText(c store.Choice) string {
	if !c.Enabled {
		return ""
	}
	return flagText(c.Default)
}
