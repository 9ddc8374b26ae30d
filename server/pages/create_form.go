package pages

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"

	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/intake"
	"pushbox/store"
	"pushbox/store/record"
)

// A createView is the form for a new push.
type createView struct {
	Kinds       []kindChoice
	NoFiles     bool // file pushes need an account, and the reader is not signed in
	Payload     secret.Text
	URL         secret.Text // replaces Payload
	Login       []loginPart
	Days, Views intake.NumberField
	Units       []string
	Unit        string // of Days, one of them
	Times       []timeChoice
	Encryption  string   // in the browser: a value of client_encryption
	Protected   bool     // a passphrase is required
	Step        checkbox // before the push can be seen
	Typed       bool     // recipients type a number
	AlwaysTyped bool     // by the policy
	Networks    string   // from which it opens
	Deletable   checkbox // by the viewer
	Name, Note  secret.Text
	Policy      *policyNote // nil: the general settings apply
	Names       bool        // the sender may name the recipient
	Recipient   secret.Text
	Named       bool      // the push before named one, so that this one must
	Mail        *mailForm // nil: no mail is sent, or the reader is not signed in
	MaxQR       int       // characters of a qr push
	Gone        string    // says when the secret is deleted
	uploadView
	problemsView

	Closes  []timeChoice // from the first view to the end
	Moments []momentField

	PassphraseLost bool // a passphrase was entered, and is not shown again
}

// A policyNote says what the policy of the reader's account restricts.
type policyNote struct {
	Name                   string
	Kinds                  []string // that may be sent
	Days                   int      // the most
	Passphrase, Encryption bool     // are required
	Typed                  bool     // recipients type a number
}

func (s *Set) newPolicyNote(p store.Policy) *policyNote {
	if p.Name == "" {
		return nil
	}
	n := policyNote{Name: p.Name, Passphrase: p.Passphrase, Typed: p.TypedReveal, Encryption: s.Intake.EncryptionFor(p) == "required"}
	for _, k := range intake.KindsOf(p) {
		n.Kinds, n.Days = append(n.Kinds, k.Kind.String()), max(n.Days, k.Days.Max)
	}
	return &n
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

// A kindChoice is a kind that can be chosen, with its terms in the form that the script
// reads.
type kindChoice struct {
	Name, Icon      string
	Chosen          bool
	Days, Views     string // default, least and most
	Step, Deletable string // on, off, or empty: never
}

// emptyCreateView returns the form before it is filled in.
func (s *Set) emptyCreateView(r *action.Request, p store.Policy) createView {
	kind := r.URL.Query().Get(kindName)
	t := named(intake.KindsOf(p), kind)
	f := newFields(t, kind)
	takeOptions(f, r.URL.Query(), t)
	v := s.newCreateView(r, p, t, f)
	v.Named = v.Names && r.URL.Query().Get(store.FieldRecipient) == "on"
	if r.URL.Query().Get(encryptedOption) == "on" && v.Encryption == "offered" {
		v.Encryption = "default"
	}
	return v
}

// newFields returns the fields of the form for a kind, by the name that the form has for it, before it is filled in.
func newFields(t intake.KindTerms, kind string) intake.Fields {
	return intake.Fields{
		store.FieldKind:          intake.TextValue(kind),
		store.FieldDays:          intake.TextValue(strconv.Itoa(t.Days.Default)),
		store.FieldDuration:      intake.TextValue(codeOf(t.Days.Default)),
		store.FieldViews:         intake.TextValue(strconv.Itoa(t.Views.Default)),
		store.FieldRetrievalStep: intake.TextValue(flagText(t.RetrievalStep.Default)),
		store.FieldDeletable:     intake.TextValue(flagText(t.Deletable.Default)),
	}
}

// createViewAgain returns the form with its problems as it was filled in, except passphrase and
// files.
func (s *Set) createViewAgain(c *intake.Draft, invalid *record.InvalidError) createView {
	t := named(intake.KindsOf(c.Policy), c.Fields.Text(store.FieldKind))
	unused := !c.BodyRead || c.Fields.Text(store.FieldExpiresAt) != "" // a field that was not read or is not used gets its default
	if unused || c.Fields.Text(store.FieldDuration) != "" {
		fillIn(c.Fields, store.FieldDays, strconv.Itoa(t.Days.Default))
	}
	if unused {
		fillIn(c.Fields, store.FieldDuration, codeOf(t.Days.Default))
	}
	if !c.BodyRead {
		fillIn(c.Fields, store.FieldViews, strconv.Itoa(t.Views.Default))
		fillIn(c.Fields, store.FieldRetrievalStep, flagText(t.RetrievalStep.Default))
		fillIn(c.Fields, store.FieldDeletable, flagText(t.Deletable.Default))
	}
	long := s.tooLong(c, t.Kind)
	for _, name := range long {
		invalid.Add(name, "is too long")
	}
	problems := s.formProblems(t, c, invalid)
	for _, name := range long {
		changeField(c.Fields, name, func(string) string { return "" })
	}
	page := s.newCreateView(c.Request, c.Policy, t, c.Fields)
	page.Problems = problems
	page.PassphraseLost = c.Fields.Text(store.FieldPassphrase) != ""
	return page
}

// tooLong names the fields that are too long for a push of that kind, among those that
// the form shows again.
func (s *Set) tooLong(c *intake.Draft, k record.Kind) (long []string) {
	for _, field := range [...]struct {
		name string
		most int
	}{
		{store.FieldPayload, store.MaxText},
		{store.FieldDays, maxNumber},
		{store.FieldViews, maxNumber},
		{store.FieldOpenFrom, maxNumber},
		{store.FieldExpiresAt, maxNumber},
		{store.FieldNetworks, store.MaxNetworks},
		{store.FieldName, store.MaxName},
		{store.FieldNote, store.MaxNote},
		{store.FieldMailTo, s.maxMailBytes()},
		{store.FieldRecipient, record.MaxEmail},
	} {
		text := c.Fields.Text(field.name)
		qr := k == record.QR && field.name == store.FieldPayload && utf8.RuneCountInString(text) > store.MaxQR
		if qr || shownAgain(text, field.most) != text {
			long = append(long, field.name)
		}
	}
	return long
}

// newCreateView returns the form with a chosen kind and filled-in fields.
func (s *Set) newCreateView(r *action.Request, p store.Policy, chosen intake.KindTerms, f intake.Fields) createView {
	all := intake.KindsOf(p)
	page := createView{
		NoFiles: p.Terms[record.File].Enabled && p.Files.MaxSize == 0,
		Payload: f[store.FieldPayload].Text,
		Login:   loginOf(f),
		Days:    intake.NewNumberField(all, intake.KindTerms.DaysRange, f.Text(store.FieldDays)),
		Units:   []string{"minutes", "hours", "days"},
		Unit:    cmp.Or(f.Text(intake.UnitField), "days"),
		Views:   intake.NewNumberField(all, intake.KindTerms.ViewsRange, f.Text(store.FieldViews)),
		Step:    newCheckbox(all, intake.KindTerms.StepChoice, isOn(f, store.FieldRetrievalStep)),
		Typed:   f.Text(store.FieldReveal) == store.RevealType,

		AlwaysTyped: p.TypedReveal,
		Networks:    f.Text(store.FieldNetworks),
		Deletable:   newCheckbox(all, intake.KindTerms.DeleteChoice, isOn(f, store.FieldDeletable)),
		Name:        f[store.FieldName].Text,
		Note:        f[store.FieldNote].Text,
		Encryption:  s.Intake.EncryptionFor(p),
		Protected:   p.Passphrase,
		MaxQR:       store.MaxQR,
		uploadView:  newUploadView(r, p),
	}
	page.Mail, page.Policy = s.newMailForm(r, p, f), s.newPolicyNote(p)
	page.Names, page.Recipient = s.Config.Mail.Enabled() && r.Actor.Account != 0 && !r.Session.Unconfirmed, f[store.FieldRecipient].Text
	if chosen.Kind == record.URL {
		page.Payload, page.URL = secret.Text{}, page.Payload
	}
	asLogin := sendsLogin(f) && chosen.Kind == record.Text // Login replaces Payload
	if asLogin && len(loginText(page.Login)) <= store.MaxText {
		page.Payload = secret.Text{}
	} else {
		page.Login = loginOf(intake.Fields{})
	}
	page.Times = newTimes(all, page.Days, f.Text(store.FieldDuration))
	page.Closes = newTimes(all, intake.NumberField{Max: page.Days.Max}, f.Text(store.FieldCloseAfter))
	page.Moments = newMoments(f)
	page.Gone = goneText(r, page)
	for _, t := range all {
		page.Kinds = append(page.Kinds, newKindChoice(t.Kind.String(), t.Kind == chosen.Kind && !asLogin, t))
		if t.Kind == record.Text {
			page.Kinds = append(page.Kinds, newKindChoice(loginName, asLogin, t))
		}
	}
	return page
}

func newKindChoice(name string, chosen bool, t intake.KindTerms) kindChoice {
	return kindChoice{
		Name: name, Icon: kindIcons[name], Chosen: chosen, Days: rangeText(t.Days), Views: rangeText(t.Views),
		Step: choiceText(t.RetrievalStep), Deletable: choiceText(t.Deletable),
	}
}

// fillIn sets the text of a field that was not sent.
func fillIn(f intake.Fields, name, text string) {
	if _, sent := f[name]; !sent {
		f[name] = intake.TextValue(text)
	}
}

// isOn reports whether a checkbox is checked.
func isOn(f intake.Fields, name string) bool { return strings.EqualFold(f.Text(name), "on") }

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
