package server

import (
	"math"
	"strconv"
	"strings"
	"time"

	"pushbox/internal/secret"
	"pushbox/store"
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

// A form reads the fields of a new push and notes what is wrong with them.
type form struct {
	fields
	files bool // there is one at least
	bad   store.InvalidError
}

// newPush turns the fields of a create request into what the store is asked
// for, but for the files. *store.InvalidError tells what cannot be turned.
func (f fields) newPush(files bool) (store.NewPush, error) {
	r := form{fields: f, files: files}
	in := store.NewPush{
		Kind:              r.kind(),
		Payload:           r.secret("payload"),
		Passphrase:        r.passphrase(),
		Name:              r.secret("name"),
		Note:              r.secret("note"),
		Days:              r.number("expire_after_days"),
		Lifetime:          r.lifetime(),
		Views:             r.number("expire_after_views"),
		RetrievalStep:     r.flag("retrieval_step"),
		DeletableByViewer: r.flag("deletable_by_viewer"),
		Mail:              r.mailing(),
	}
	return in, r.bad.Err()
}

// filesField is the field that files come in.
const filesField = "files"

// wantsFiles reports whether the fields ask for a file push, which only an
// account may: the field is there, whatever it holds, or the kind says so.
func (f fields) wantsFiles() bool {
	_, has := f[filesField]
	return has || strings.TrimSpace(f["kind"].text) == store.File.String()
}

func (r *form) kind() store.Kind {
	v := r.fields["kind"]
	switch v.shape {
	case asNothing, asNull, asText:
	default:
		r.bad.Add("kind", "must be a text")
		return 0
	}
	name := strings.TrimSpace(v.text)
	if name == "" && r.files {
		return store.File
	}
	if name == "" {
		return store.Text
	}
	k, ok := store.ParseKind(name)
	switch {
	case !ok:
		r.bad.Add("kind", "must be one of text, file, url and qr")
	case r.files && k != store.File: // files are not dropped in silence
		r.bad.Add("kind", "must be file where there are files")
	}
	return k
}

// secret reads a text exactly as it was sent.
func (r *form) secret(name string) secret.Text {
	v := r.fields[name]
	switch v.shape {
	case asNothing, asNull:
		return secret.Text{}
	case asText:
		return secret.New(v.text)
	default:
		r.bad.Add(name, "must be a text")
		return secret.Text{}
	}
}

func (r *form) passphrase() secret.Text {
	p := r.secret("passphrase")
	if strings.TrimSpace(p.Reveal()) == "" {
		return secret.Text{}
	}
	return p
}

// number reads a whole number, or a text of digits.
func (r *form) number(name string) *int {
	v := r.fields[name]
	if v.shape == asNothing {
		return nil
	}
	digits := strings.TrimPrefix(v.text, "-")
	if v.shape != asNumber && v.shape != asText || v.shape == asText && digits != v.text ||
		digits == "" || strings.Trim(digits, "0123456789") != "" {
		r.bad.Add(name, "must be a whole number")
		return nil
	}
	n, err := strconv.Atoi(v.text)
	if err != nil { // more digits than fit: as far out of bounds as can be
		n = math.MaxInt
	}
	return &n
}

func (r *form) lifetime() time.Duration {
	code := r.number("expire_after_duration")
	if code == nil {
		return 0
	}
	if *code < 0 || *code >= len(durations) {
		r.bad.Add("expire_after_duration", "must be a code between 0 and "+strconv.Itoa(len(durations)-1))
		return 0
	}
	return durations[*code]
}

// flag reads a boolean: some words mean yes, anything else no.
func (r *form) flag(name string) *bool {
	v := r.fields[name]
	if v.shape == asNothing {
		return nil
	}
	yes := false
	switch strings.ToLower(v.text) {
	case "on", "yes", "checked", "true", "1":
		yes = true
	}
	return &yes
}
