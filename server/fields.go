package server

import (
	"math"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/secret"
	"pushbox/server/body"
	"pushbox/store"
	"pushbox/store/record"
)

// durations are the codes of expire_after_duration, which some clients send
// instead of days.
var durations = [...]time.Duration{
	0: 15 * time.Minute, 1: 30 * time.Minute, 2: 45 * time.Minute,
	3: time.Hour, 4: 6 * time.Hour, 5: 12 * time.Hour,
	6: day, 7: 2 * day, 8: 3 * day, 9: 4 * day, 10: 5 * day, 11: 6 * day,
	12: 7 * day, 13: 14 * day, 14: 21 * day,
	15: 30 * day, 16: 60 * day, 17: 90 * day,
}

const day = 24 * time.Hour

// fields are the fields of a new push, as they were sent.
type fields body.Form

// A fieldReader reads the fields of a new push and notes what is wrong with them.
type fieldReader struct {
	fields
	files bool // there is at least one
	typed bool // by a person on a page, who is told if a number is missing
	bad   record.InvalidError
}

// parse turns the fields into a push for the store to create, without its files. It
// returns a *record.InvalidError that names the fields with the wrong type.
func (f fields) parse(files, typed bool) (store.NewPush, error) {
	r := fieldReader{fields: f, files: files, typed: typed}
	in := store.NewPush{
		Kind:              r.kind(),
		Payload:           r.written(store.FieldPayload),
		Passphrase:        r.passphrase(),
		Name:              r.written(store.FieldName),
		Note:              r.written(store.FieldNote),
		Days:              r.number(store.FieldDays),
		Lifetime:          r.lifetime(store.FieldDuration),
		Views:             r.number(store.FieldViews),
		RetrievalStep:     r.flag(store.FieldRetrievalStep),
		DeletableByViewer: r.flag(store.FieldDeletable),
		Mail:              r.mailing(),
	}
	return in, r.bad.Err()
}

// wantsFiles reports whether the fields ask for a push with files, which needs an
// account: the files' field holds something, or the kind says so.
func (f fields) wantsFiles() bool {
	return f[store.FieldFiles].Shape == body.List || f.kindName() == record.File.String()
}

// kindName returns the kind that was sent, by its name also where Password Pusher's number of it
// was sent.
func (f fields) kindName() string {
	name := strings.TrimSpace(f.text(store.FieldKind))
	if len(name) == 1 && name[0] >= '0' && int(name[0]-'0') < len(record.Kinds()) {
		return record.Kinds()[name[0]-'0'].String()
	}
	return name
}

// text returns the text of a field.
func (f fields) text(name string) string { return f[name].Text.Reveal() }

func (r *fieldReader) kind() record.Kind {
	switch r.fields[store.FieldKind].Shape {
	case body.None, body.Null, body.String, body.Number:
	default:
		r.bad.Add(store.FieldKind, "must be a text")
		return 0
	}
	name := r.kindName()
	if name == "" && r.files {
		return record.File
	}
	if name == "" {
		return record.Text
	}
	k, ok := record.ParseKind(name)
	if !ok {
		r.bad.Add(store.FieldKind, "must be one of "+record.KindNames("and"))
	}
	return k
}

// written reads a text. A number or a boolean is taken as the text that it is written
// with: some clients send a PIN as a number.
func (r *fieldReader) written(name string) secret.Text {
	if v := r.fields[name]; v.Shape == body.Number || v.Shape == body.Bool {
		return v.Text
	}
	return r.secret(name)
}

// secret reads a text exactly as it was sent.
func (r *fieldReader) secret(name string) secret.Text {
	v := r.fields[name]
	switch v.Shape {
	case body.None, body.Null:
		return secret.Text{}
	case body.String:
		return v.Text
	default:
		r.bad.Add(name, "must be a text")
		return secret.Text{}
	}
}

func (r *fieldReader) passphrase() secret.Text {
	p := r.written(store.FieldPassphrase)
	if strings.TrimSpace(p.Reveal()) == "" {
		return secret.Text{}
	}
	return p
}

// number reads a whole number, or a text of digits; nil if there is none.
func (r *fieldReader) number(name string) *int {
	v := r.fields[name]
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
		r.bad.Add(name, "must be a whole number")
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil { // more digits than fit: out of all bounds
		n = math.MaxInt
	}
	return &n
}

// wholeFloat returns a number without a fraction of zeros: some programs write 7 as 7.0.
func wholeFloat(text string) string {
	if whole, fraction, ok := strings.Cut(text, "."); ok && strings.Trim(fraction, "0") == "" {
		return whole
	}
	return text
}

func (r *fieldReader) lifetime(name string) time.Duration {
	code := r.number(name)
	if code == nil {
		return 0
	}
	if *code < 0 || *code >= len(durations) {
		r.bad.Add(name, "must be a code between 0 and "+strconv.Itoa(len(durations)-1))
		return 0
	}
	return durations[*code]
}

// flag reads a boolean: some words mean yes, all others no.
func (r *fieldReader) flag(name string) *bool {
	v := r.fields[name]
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

// mailing reads the recipients of the mail with the link, and its language; nil if
// both are absent or blank.
func (r *fieldReader) mailing() *store.MailRequest {
	to, language := r.secret(store.FieldMailTo), strings.TrimSpace(r.secret(store.FieldMailLanguage).Reveal())
	if strings.TrimSpace(to.Reveal()) == "" && language == "" {
		return nil
	}
	return &store.MailRequest{To: to, Language: language}
}
