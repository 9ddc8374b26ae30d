package intake

import (
	"encoding/base64"
	"fmt"
	"strings"

	"pushbox/server/action"
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
	return s.Store.CreateRequest(r.Context(), r.Actor, in)
}

// The values of the field kinds.
const (
	TextsAndFiles = "text,file"
	TextsOnly     = "text"
	FilesOnly     = "file"
)

// ParseRequest turns the fields into a request for the store to create. It returns a
// *record.InvalidError that names the fields with the wrong type.
func (f Fields) ParseRequest(typed bool) (store.NewRequest, error) {
	r := FieldReader{Fields: f, typed: typed}
	in := store.NewRequest{
		Text:           r.written(store.FieldText),
		MaxAnswers:     r.number(store.FieldMaxAnswers),
		Days:           r.number(store.FieldDays),
		Lifetime:       r.lifetime(store.FieldDuration),
		AnswerDays:     r.number(store.FieldAnswerDays),
		AnswerLifetime: r.lifetime(store.FieldAnswerDuration),
		AnswerViews:    r.number(store.FieldAnswerViews),
		RetrievalStep:  r.Flag(store.FieldAnswerStep),
		X25519:         r.key(store.FieldX25519),
		P256:           r.key(store.FieldP256),
	}
	switch strings.ReplaceAll(r.Secret(store.FieldKinds).Reveal(), " ", "") {
	case "":
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

// RequestIDText is the ID of a request; empty for none.
func RequestIDText(id record.RequestID) string {
	if id == (record.RequestID{}) {
		return ""
	}
	return id.String()
}
