package intake

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/store"
	"pushbox/store/record"
)

// NewRequestOf makes a request. It must have keys if all pushes must be encrypted.
func (s *Desk) NewRequestOf(r *action.Request, in store.NewRequest) (store.RequestInfo, error) {
	if s.Config.ClientEncryption == "required" && in.P256 == nil {
		var bad record.InvalidError
		bad.Add(store.FieldP256, "is required: this server accepts only encrypted answers")
		return store.RequestInfo{}, bad.Err()
	}
	s.aim(in.Mail, false)
	return s.Store.CreateRequest(r.Context(), r.Actor, in)
}

// Asked returns the live request whose token the path has. ErrNotFound for another token; the
// request comes back with it if it is over.
func (s *Desk) Asked(r *action.Request) (store.RequestInfo, error) {
	t, err := store.ParseRequestToken(r.SentToken.Reveal())
	if err != nil {
		return store.RequestInfo{}, err
	}
	q, err := s.Store.FindRequest(r.Context(), t)
	q.Token = t
	return q, err
}

// The values of the field kinds.
const (
	TextsAndFiles = "text,file"
	TextsOnly     = "text"
	FilesOnly     = "file"
)

// requestAliases are the names by which clients of Password Pusher send fields of a request.
var requestAliases = map[string]string{
	"request": store.FieldText, "close_after_duration": store.FieldDuration,
	store.FieldViews: store.FieldAnswerViews, store.FieldRetrievalStep: store.FieldAnswerStep,
}

// Fields of clients of Password Pusher that say something about answers, or ask for what there is not.
const (
	fieldAttachments = "response_file_attachments"
	fieldRequestor   = "include_requestor"
)

// ParseRequest turns the fields into a request for the store to create. It returns a
// *record.InvalidError that names the fields with the wrong type. Of a field with an alias, the name counts.
func (f Fields) ParseRequest(typed bool) (store.NewRequest, error) {
	for alias, name := range requestAliases {
		if v, has := f[alias]; has && f[name].Shape == body.None {
			f[name] = v
		}
	}
	r := FieldReader{Fields: f, typed: typed}
	if v := f[store.FieldPassphrase]; strings.TrimSpace(v.Text.Reveal()) != "" {
		r.Bad.Add(store.FieldPassphrase, "cannot be set for a request: who has its link can answer, and only its account reads the answers")
	}
	if shown := r.Flag(fieldRequestor); shown != nil && !*shown {
		r.Bad.Add(fieldRequestor, "cannot be false: the page of a request says who asks")
	}
	in := store.NewRequest{
		Text:           r.written(store.FieldText),
		Name:           r.written(store.FieldName),
		Note:           r.written(store.FieldNote),
		MaxAnswers:     r.number(store.FieldMaxAnswers),
		Days:           r.number(store.FieldDays),
		Lifetime:       r.lifetime(store.FieldDuration),
		AnswerDays:     r.number(store.FieldAnswerDays),
		AnswerLifetime: r.lifetime(store.FieldAnswerDuration),
		AnswerViews:    r.number(store.FieldAnswerViews),
		RetrievalStep:  r.Flag(store.FieldAnswerStep),
		X25519:         r.key(store.FieldX25519),
		P256:           r.key(store.FieldP256),
		Mail:           r.Mailing(),
	}
	switch strings.ReplaceAll(r.Secret(store.FieldKinds).Reveal(), " ", "") {
	case "":
		if files := r.Flag(fieldAttachments); files != nil {
			in.Texts, in.Files = true, *files
		}
	case TextsAndFiles:
		in.Texts, in.Files = true, true
	case TextsOnly:
		in.Texts = true
	case FilesOnly:
		in.Files = true
	default:
		r.Bad.Add(store.FieldKinds, "must be "+TextsOnly+", "+FilesOnly+" or "+TextsAndFiles)
	}
	return in, r.Bad.Err()
}

// mostKeyText is how many characters a key may have: more than a wrapped one, the longest, has.
const mostKeyText = 200

// key reads bytes in base64url without padding; nil if there are none.
func (r *FieldReader) key(name string) []byte {
	text := r.Secret(name).Reveal()
	if len(text) > mostKeyText {
		r.Bad.Add(name, fmt.Sprintf("is too long: at most %d characters", mostKeyText))
		return nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		r.Bad.Add(name, "must be base64url without padding")
	}
	if len(b) == 0 {
		return nil
	}
	return b
}

// NoFiles refuses the files that come with a request for secrets, when the first of them comes.
type NoFiles struct{ body.Form }

// Expect accepts a body of any length: it may have no file.
func (NoFiles) Expect(int64) error { return nil }

// File refuses a file.
func (NoFiles) File(*body.File) error {
	return body.BadFile("cannot be attached to a request: send them as a push, and put its link into the text")
}

// Describe is never called.
func (NoFiles) Describe(string, string) {}

// AsAnswer turns the fields of an answer to a request into those of a push: the sender chooses only
// the kind, by what was sent.
func (c *Draft) AsAnswer() {
	maps.DeleteFunc(c.Fields, func(name string, _ body.Value) bool {
		return name != store.FieldPayload && name != store.FieldWrappedKey
	})
	kind := record.Text
	if c.Files != nil {
		kind = record.File
	}
	c.Fields[store.FieldKind] = TextValue(kind.String())
}

// DurationCode is the code of the shortest of Durations that is at least d; the longest if there is none.
func DurationCode(d time.Duration) int {
	i, _ := slices.BinarySearch(Durations[:], d)
	return min(i, len(Durations)-1)
}

// RequestIDText is the ID of a request; empty for none.
func RequestIDText(id record.RequestID) string {
	if id == (record.RequestID{}) {
		return ""
	}
	return id.String()
}
