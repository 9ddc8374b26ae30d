package server

import (
	"errors"
	"math"
	"net/http"
	"strings"
	"time"

	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/store"
	"pushbox/store/record"
)

func (s *Server) pushForm(r *action.Request) (action.Reply, error) {
	p, err := s.store.PolicyOf(r.Context(), r.Actor)
	if err != nil {
		return action.Reply{}, err
	}
	return action.Show(http.StatusOK, "create", s.emptyCreateView(r, p)), nil
}

func (s *Server) makePush(r *action.Request) (action.Reply, error) {
	c, p, err := s.receivePush(r, spelling{wrapper: "push", page: true})
	var invalid *record.InvalidError
	if field := mailProblem(err); field != "" { // the form is shown again, with what was typed
		err = &record.InvalidError{Fields: map[string][]string{field: {"cannot be sent"}}}
	}
	switch {
	case errors.As(err, &invalid):
		return action.Show(http.StatusUnprocessableEntity, "create", s.createViewAgain(c, invalid)), nil
	case err != nil:
		return action.Reply{}, err
	default:
		return action.GoTo(receiptPath(p)), nil // loading it again creates nothing
	}
}

// Names of problems that only the page has, in addition to the names of fields.
const (
	accountField     = "account"
	leftoverField    = "leftover"
	quotaField       = "quota"
	addresseeField   = "addressee"
	unconfirmedField = "unconfirmed"
	plainField       = "plain"
	besideField      = "beside" // a text was typed beside a login
)

// Names of fields that only the form has.
const (
	urlField  = "url"               // the address of a url push
	loginName = "login"             // a box: the text is a login; also the start of the names of its parts
	unitField = "expire_after_unit" // of the number of days
)

// units are the values of unitField that mean other than days.
var units = map[string]time.Duration{"minutes": time.Minute, "hours": time.Hour}

// inUnit makes the days of a push a time in the unit that the sender chose.
func inUnit(p *store.NewPush, name string) {
	unit, other := units[name]
	if !other || p.Days == nil || *p.Days == 0 {
		return
	}
	p.Lifetime = time.Duration(min(*p.Days, int(math.MaxInt64/2/unit))) * unit
	p.Days = nil
}

// mailProblem names the problem of a push whose mail may not be sent; empty if err is
// another error, or none.
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

// convertForm turns the fields of the form into those of the API. It returns a
// *record.InvalidError if the push would not be what the page showed.
func (c *createRequest) convertForm() error {
	if c.answers() {
		c.convertAnswer()
	}
	f := c.fields
	for _, name := range [...]string{store.FieldPayload, store.FieldNote} {
		f.change(name, oneBreak)
	}
	var bad record.InvalidError
	if f.sendsLogin() {
		if f.noteText() {
			bad.Add(besideField, "was typed beside a login")
		}
		f[store.FieldPayload] = textValue(loginText(f.login()))
	}
	if f.text(store.FieldKind) == record.URL.String() {
		if address, sent := f[urlField]; sent {
			f[store.FieldPayload] = address
		}
		f.change(store.FieldPayload, strings.TrimSpace)
	}
	for _, name := range [...]string{store.FieldRetrievalStep, store.FieldDeletable} {
		if _, ticked := f[name]; !ticked {
			f[name] = textValue("")
		}
	}
	if f.text(store.FieldDuration) == "" {
		delete(f, store.FieldDuration)
	} else {
		delete(f, store.FieldDays) // the form hides its number while a time is chosen; the store would use it
	}
	return c.agrees(bad)
}

// sendsLogin reports whether the form has a login in place of the text.
func (f fields) sendsLogin() bool {
	return f.text(store.FieldKind) == record.Text.String() && f.on(loginName)
}

// noteText moves a text that was typed beside a login into its note, where the sender sees it, and
// reports whether there was one.
func (f fields) noteText() bool {
	text := f.text(store.FieldPayload)
	if strings.TrimSpace(text) == "" {
		return false
	}
	note := loginName + "_note"
	if typed := oneBreak(f.text(note)); typed != "" {
		text = typed + "\n" + text
	}
	f[note] = textValue(text)
	return true
}

// login returns the parts of a login, as they were typed.
func (f fields) login() []loginPart {
	parts := make([]loginPart, len(loginLabels))
	for i, l := range loginLabels {
		parts[i] = loginPart{l.name, secret.New(oneBreak(f.text(loginName + "_" + l.name)))}
	}
	return parts
}

// agrees refuses what is bad already, a form that was opened in a session which has ended, files
// together with a kind that has none, and what the browser should have encrypted.
func (c *createRequest) agrees(bad record.InvalidError) error {
	if _, named := c.fields[store.FieldName]; named && c.r.Actor.Account == 0 {
		bad.Add(accountField, "has ended")
	}
	kind := c.fields.kindName()
	if c.files != nil && kind != record.File.String() {
		bad.Add(leftoverField, "are of another kind")
	}
	if c.server.encryptionFor(c.policy) == "required" && !c.answers() &&
		(kind == record.Text.String() || kind == record.File.String()) && !endtoend.IsEnvelope(c.fields.text(store.FieldPayload)) {
		bad.Add(plainField, "is not encrypted")
	}
	return bad.Err()
}

// change replaces the text of a field, if the field was sent.
func (f fields) change(name string, how func(string) string) {
	if v, has := f[name]; has {
		v.Text = secret.New(how(v.Text.Reveal()))
		f[name] = v
	}
}

// textValue is a field that holds a text.
func textValue(text string) body.Value {
	return body.Value{Shape: body.String, Text: secret.New(text)}
}
