package pages

import (
	"errors"
	"net/http"
	"strings"

	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/intake"
	"pushbox/store"
	"pushbox/store/record"
)

func (s *Set) pushForm(r *action.Request) (action.Reply, error) {
	p, err := s.Intake.PolicyOf(r)
	if err != nil {
		return action.Reply{}, err
	}
	return action.Show(http.StatusOK, "create", s.emptyCreateView(r, p)), nil
}

func (s *Set) makePush(r *action.Request) (action.Reply, error) {
	c, p, err := s.Intake.ReceivePush(r, intake.Spelling{Wrapper: "push", Page: true, Convert: s.convertForm})
	var invalid *record.InvalidError
	if field := mailProblem(err); field != "" { // the form is shown again with the typed text
		err = &record.InvalidError{Fields: map[string][]string{field: {"cannot be sent"}}}
	}
	switch {
	case errors.As(err, &invalid):
		return action.Show(http.StatusUnprocessableEntity, "create", s.createViewAgain(c, invalid)), nil
	case err != nil:
		return action.Reply{}, err
	default:
		return action.GoTo(receiptPath(p)).With(newMadeCookie(r, p)), nil // reloading the page creates nothing
	}
}

// Names of problems that only the page has, in addition to the names of fields.
const (
	accountField     = "account" // the session of the form has ended
	otherField       = "other"   // another account is signed in
	leftoverField    = "leftover"
	quotaField       = "quota"
	addresseeField   = "addressee"
	unconfirmedField = "unconfirmed"
	plainField       = "plain"
	besideField      = "beside" // a text was typed beside a login
)

// Names of fields that only the form has.
const (
	urlField  = "url"   // the address of a url push
	loginName = "login" // a kind of the form alone: a text with the lines of a login; also the start of the names of its parts
	byField   = "by"    // the address of the account whose form it was; empty: there was none
)

// mailProblem names the problem of a push whose mail may not be sent; empty for any other error, or
// nil.
func mailProblem(err error) string {
	var quota *record.QuotaError
	switch {
	case errors.Is(err, record.ErrUnconfirmed):
		return unconfirmedField
	case errors.As(err, &quota) && quota.Of == record.QuotaOfAddressee:
		return addresseeField
	case errors.Is(err, record.ErrQuota):
		return quotaField
	default:
		return ""
	}
}

// convertForm turns the fields of the form into those of the API. It returns a *record.InvalidError
// if the push would differ from what the page showed.
func (s *Set) convertForm(c *intake.Draft) error {
	if c.Answers() {
		c.AsAnswer()
	}
	f := c.Fields
	for _, name := range [...]string{store.FieldPayload, store.FieldNote} {
		changeField(f, name, oneBreak)
	}
	var bad record.InvalidError
	if sendsLogin(f) {
		f[store.FieldKind] = intake.TextValue(record.Text.String())
		f[loginName] = intake.TextValue("on") // the page shows the form again as a login
		if noteText(f) {
			bad.Add(besideField, "was typed beside a login")
		}
		f[store.FieldPayload] = intake.TextValue(loginText(loginOf(f)))
	}
	if f.Text(store.FieldKind) == record.URL.String() {
		if address, sent := f[urlField]; sent {
			f[store.FieldPayload] = address
		}
		changeField(f, store.FieldPayload, strings.TrimSpace)
	}
	for _, name := range [...]string{store.FieldRetrievalStep, store.FieldDeletable} {
		if _, ticked := f[name]; !ticked {
			f[name] = intake.TextValue("")
		}
	}
	if readMoments(f) || f.Text(store.FieldDuration) != "" {
		delete(f, store.FieldDays) // the form hides its number while a time is chosen; the store would use it
	}
	for _, name := range [...]string{store.FieldDuration, store.FieldCloseAfter} {
		if f.Text(name) == "" { // none of the list
			delete(f, name)
		}
	}
	return s.agrees(c, bad)
}

// sendsLogin reports whether the form has a login instead of a text. Forms that were open when this program
// took the place of an older one have a box for that.
func sendsLogin(f intake.Fields) bool {
	kind := f.Text(store.FieldKind)
	return kind == loginName || kind == record.Text.String() && isOn(f, loginName)
}

// noteText moves a text that was typed beside a login into its note, where the sender sees it, and
// reports whether there was one.
func noteText(f intake.Fields) bool {
	text := f.Text(store.FieldPayload)
	if strings.TrimSpace(text) == "" {
		return false
	}
	note := loginName + "_note"
	if typed := oneBreak(f.Text(note)); typed != "" {
		text = typed + "\n" + text
	}
	f[note] = intake.TextValue(text)
	return true
}

// loginOf returns the parts of a login, as they were typed.
func loginOf(f intake.Fields) []loginPart {
	parts := make([]loginPart, len(loginLabels))
	for i, l := range loginLabels {
		parts[i] = loginPart{l.name, secret.New(oneBreak(f.Text(loginName + "_" + l.name)))}
	}
	return parts
}

// agrees refuses a form with known problems, from a session that has ended, with files for a kind
// without files, or with content that the browser should have encrypted.
func (s *Set) agrees(c *intake.Draft, bad record.InvalidError) error {
	if _, named := c.Fields[store.FieldName]; named && c.Request.Actor.Account == 0 {
		bad.Add(accountField, "has ended")
	} else if ofAnother(c.Request, c.Fields) {
		bad.Add(otherField, "is signed in")
	}
	kind := c.Fields.KindName()
	if c.Files != nil && kind != record.File.String() {
		bad.Add(leftoverField, "are of another kind")
	}
	if s.Intake.EncryptionFor(c.Policy) == "required" && !c.Answers() &&
		(kind == record.Text.String() || kind == record.File.String()) && !endtoend.IsEnvelope(c.Fields.Text(store.FieldPayload)) {
		bad.Add(plainField, "is not encrypted")
	}
	return bad.Err()
}

// ofAnother reports whether the form was shown to another account than the one that is signed in now, in another tab of
// the browser: what was typed must not become that account's unseen.
func ofAnother(r *action.Request, f intake.Fields) bool {
	by, sent := f[byField]
	return sent && by.Text.Reveal() != r.Session.Email
}

// changeField replaces the text of a field, if the field was sent.
func changeField(f intake.Fields, name string, how func(string) string) {
	if v, has := f[name]; has {
		v.Text = secret.New(how(v.Text.Reveal()))
		f[name] = v
	}
}
