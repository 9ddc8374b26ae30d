package intake

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/store"
	"pushbox/store/record"
)

// PassphraseField is the field of a query or a form with the passphrase of a push.
const PassphraseField = store.FieldPassphrase

// CheckPassphrase refuses a text that cannot be a passphrase.
func CheckPassphrase(p secret.Text) error {
	if !utf8.ValidString(p.Reveal()) || p.Len() > store.MaxPassphrase {
		return action.BadRequest("The passphrase is too long, or not valid UTF-8.")
	}
	return nil
}

// Fields are the fields of a new push, as they were sent.
type Fields body.Form

// A FieldReader reads the fields of a new push and notes what is wrong with them.
type FieldReader struct {
	Fields
	Files bool // there is at least one field
	typed bool // by a person on a page, which reports a missing number
	Bad   record.InvalidError
}

// parse turns the fields into a push for the store to create, without its files. It
// returns a *record.InvalidError that names the fields with the wrong type.
func (f Fields) parse(files, typed bool) (store.NewPush, error) {
	r := FieldReader{Fields: f, Files: files, typed: typed}
	in := store.NewPush{
		Kind:              r.Kind(),
		Payload:           r.written(store.FieldPayload),
		Passphrase:        r.passphrase(),
		Name:              r.written(store.FieldName),
		Note:              r.written(store.FieldNote),
		Days:              r.number(store.FieldDays),
		Lifetime:          r.lifetime(store.FieldDuration),
		ExpiresAt:         r.moment(store.FieldExpiresAt),
		OpensAt:           r.moment(store.FieldOpenFrom),
		CloseAfter:        r.lifetime(store.FieldCloseAfter),
		Views:             r.number(store.FieldViews),
		RetrievalStep:     r.Flag(store.FieldRetrievalStep),
		TypedReveal:       r.typedReveal(),
		DeletableByViewer: r.Flag(store.FieldDeletable),
		Networks:          r.networks(),
		Recipient:         r.Secret(store.FieldRecipient),
		Mail:              r.Mailing(),
	}
	return in, r.Bad.Err()
}

// wantsFiles reports whether the fields ask for a push with files: the files' field holds something,
// or the kind says so.
func (f Fields) wantsFiles() bool {
	return f[store.FieldFiles].Shape == body.List || f.KindName() == record.File.String()
}

// KindName returns the name of the kind that was sent, even if it was sent as Password Pusher's
// number.
func (f Fields) KindName() string {
	name := strings.TrimSpace(f.Text(store.FieldKind))
	if len(name) == 1 && name[0] >= '0' && int(name[0]-'0') < len(record.Kinds()) {
		return record.Kinds()[name[0]-'0'].String()
	}
	return name
}

// Text returns the text of a field.
func (f Fields) Text(name string) string { return f[name].Text.Reveal() }

// Kind reads the kind. If none was sent it is file for a push with files, else text.
func (r *FieldReader) Kind() record.Kind {
	switch r.Fields[store.FieldKind].Shape {
	case body.None, body.Null, body.String, body.Number:
	default:
		r.Bad.Add(store.FieldKind, "must be a text")
		return 0
	}
	name := r.KindName()
	if name == "" && r.Files {
		return record.File
	}
	if name == "" {
		return record.Text
	}
	k, ok := record.ParseKind(name)
	if !ok {
		r.Bad.Add(store.FieldKind, "must be one of "+record.KindNames("and"))
	}
	return k
}

// written reads a text. A number or a boolean is taken as the text that it is written
// with: some clients send a PIN as a number.
func (r *FieldReader) written(name string) secret.Text {
	if v := r.Fields[name]; v.Shape == body.Number || v.Shape == body.Bool {
		return v.Text
	}
	return r.Secret(name)
}

// Secret reads a text exactly as it was sent.
func (r *FieldReader) Secret(name string) secret.Text {
	v := r.Fields[name]
	switch v.Shape {
	case body.None, body.Null:
		return secret.Text{}
	case body.String:
		return v.Text
	default:
		r.Bad.Add(name, "must be a text")
		return secret.Text{}
	}
}

func (r *FieldReader) passphrase() secret.Text {
	p := r.written(store.FieldPassphrase)
	if strings.TrimSpace(p.Reveal()) == "" {
		return secret.Text{}
	}
	return p
}

// number reads a whole number, or a text of digits; nil if there is none.
func (r *FieldReader) number(name string) *int {
	v := r.Fields[name]
	text := v.Text.Reveal()
	digits := text
	switch {
	case v.Shape == body.None, v.Shape == body.Null, v.Shape == body.String && strings.TrimSpace(text) == "" && !r.typed:
		return nil
	case v.Shape == body.Number:
		text = wholeFloat(text)
		digits = strings.TrimPrefix(text, "-")
	}
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		r.Bad.Add(name, "must be a whole number")
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil { // too many digits: out of all bounds
		n = math.MaxInt
	}
	return &n
}

// wholeFloat removes a fraction of zeros: some programs write 7 as 7.0.
func wholeFloat(text string) string {
	if whole, fraction, ok := strings.Cut(text, "."); ok && strings.Trim(fraction, "0") == "" {
		return whole
	}
	return text
}

func (r *FieldReader) lifetime(name string) time.Duration {
	code := r.number(name)
	if code == nil {
		return 0
	}
	if *code < 0 || *code >= len(Durations) {
		r.Bad.Add(name, "must be a code between 0 and "+strconv.Itoa(len(Durations)-1))
		return 0
	}
	return Durations[*code]
}

// moment reads a time; zero if there is none.
func (r *FieldReader) moment(name string) time.Time {
	text := strings.TrimSpace(r.Secret(name).Reveal())
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		r.Bad.Add(name, "must be a time with its zone, such as 2026-12-31T17:00:00+01:00 (RFC 3339)")
	}
	return at.UTC().Truncate(time.Millisecond)
}

// Flag reads a boolean: some words mean yes, all other texts no.
func (r *FieldReader) Flag(name string) *bool {
	v := r.Fields[name]
	if v.Shape == body.None {
		return nil
	}
	yes := false
	switch strings.ToLower(v.Text.Reveal()) {
	case "on", "yes", "checked", "true", "1":
		yes = true
	}
	return &yes
}

// networks reads a text, or a list of texts.
func (r *FieldReader) networks() string {
	if v := r.Fields[store.FieldNetworks]; v.Shape == body.List {
		return v.Items.Reveal()
	}
	return r.Secret(store.FieldNetworks).Reveal()
}

// typedReveal reports whether people are to type a number.
func (r *FieldReader) typedReveal() bool {
	how := r.Secret(store.FieldReveal).Reveal()
	if how != "" && how != store.RevealPress && how != store.RevealType {
		r.Bad.Add(store.FieldReveal, "must be "+store.RevealPress+" or "+store.RevealType)
	}
	return how == store.RevealType
}

// Mailing reads the recipients of the mail with the link, and its language; nil if
// both are absent or blank.
func (r *FieldReader) Mailing() *store.MailRequest {
	to, language := r.Secret(store.FieldMailTo), strings.TrimSpace(r.Secret(store.FieldMailLanguage).Reveal())
	if strings.TrimSpace(to.Reveal()) == "" && language == "" {
		return nil
	}
	return &store.MailRequest{To: to, Language: language}
}

// TextValue is a field that holds a text.
func TextValue(text string) body.Value {
	return body.Value{Shape: body.String, Text: secret.New(text)}
}
