package server

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/display"
	"pushbox/store"
	"pushbox/store/record"
)

const errNoRequest = action.BadRequest("Send an object request with at least a text, such as {\"request\":{\"text\":\"...\"}}, or request[text]=... in a form.")

// createRequest makes a request for secrets.
func (s *Server) createRequest(r *action.Request) (action.Reply, error) {
	f := make(body.Form)
	err := body.Read(r.Context(), &r.Body, body.Options{Object: requestWrapper, JSON: true, Query: true, MaxText: smallBody}, f)
	if errors.Is(err, body.ErrNoObject) || err == nil && len(f) == 0 {
		err = errNoRequest
	}
	if err != nil {
		return action.Reply{}, err
	}
	in, err := fields(f).parseRequest(false)
	if err != nil {
		return action.Reply{}, err
	}
	made, err := s.newRequestOf(r, in)
	if err != nil {
		return action.Reply{}, err
	}
	return action.Created(newRequestJSON(made, r.Base)), nil
}

// newRequestOf makes a request, with keys where all pushes must be encrypted.
func (s *Server) newRequestOf(r *action.Request, in store.NewRequest) (store.RequestInfo, error) {
	if s.cfg.ClientEncryption == "required" && in.P256 == nil {
		var bad record.InvalidError
		bad.Add(store.FieldP256, "is required: this server takes only answers that are encrypted")
		return store.RequestInfo{}, bad.Err()
	}
	return s.store.CreateRequest(r.Context(), r.Actor, in)
}

func (s *Server) listRequests(r *action.Request) (action.Reply, error) {
	page, err := readPage(r)
	if err != nil {
		return action.Reply{}, err
	}
	all, err := s.store.Requests(r.Context(), r.Actor, page)
	if err != nil {
		return action.Reply{}, err
	}
	list := make([]requestJSON, len(all))
	for i, one := range all {
		list[i] = newRequestJSON(one, r.Base)
	}
	return action.OK(list), nil
}

// answersMemory is what the names and notes of the answers to a request take at most, as
// listMemory.
const answersMemory = 2 * record.MaxAnswers * (store.MaxName + store.MaxNote)

func (s *Server) showRequest(r *action.Request) (action.Reply, error) {
	if err := r.Reserve(answersMemory); err != nil {
		return action.Reply{}, err
	}
	got, err := s.store.Request(r.Context(), r.Actor, r.RequestID)
	if err != nil {
		return action.Reply{}, err
	}
	return action.OK(newAnsweredJSON(got, r.Base)), nil
}

func (s *Server) endRequest(r *action.Request) (action.Reply, error) {
	ended, err := s.store.EndRequest(r.Context(), r.Actor, r.RequestID)
	if err != nil {
		return action.Reply{}, err
	}
	return action.OK(newRequestJSON(ended, r.Base)), nil
}

// requestWrapper is the object that has the fields of a new request.
const requestWrapper = "request"

// The kinds of answer that a request takes, in the field kinds.
const (
	textsAndFiles = "text,file"
	textsOnly     = "text"
	filesOnly     = "file"
)

// parseRequest turns the fields into a request for the store to create. It returns a
// *record.InvalidError that names the fields with the wrong type.
func (f fields) parseRequest(typed bool) (store.NewRequest, error) {
	r := fieldReader{fields: f, typed: typed}
	in := store.NewRequest{
		Text:           r.written(store.FieldText),
		MaxAnswers:     r.number(store.FieldMaxAnswers),
		Days:           r.number(store.FieldDays),
		Lifetime:       r.lifetime(store.FieldDuration),
		AnswerDays:     r.number(store.FieldAnswerDays),
		AnswerLifetime: r.lifetime(store.FieldAnswerDuration),
		AnswerViews:    r.number(store.FieldAnswerViews),
		RetrievalStep:  r.flag(store.FieldAnswerStep),
		X25519:         r.key(store.FieldX25519),
		P256:           r.key(store.FieldP256),
	}
	switch strings.ReplaceAll(r.secret(store.FieldKinds).Reveal(), " ", "") {
	case "":
	case textsAndFiles:
		in.Texts, in.Files = true, true
	case textsOnly:
		in.Texts = true
	case filesOnly:
		in.Files = true
	default:
		r.bad.Add(store.FieldKinds, "must be "+textsOnly+", "+filesOnly+" or "+textsAndFiles)
	}
	return in, r.bad.Err()
}

// mostKeyText is how many characters a key may have: more than a wrapped one, the longest, has.
const mostKeyText = 200

// key reads bytes in base64url without padding; nil if there are none.
func (r *fieldReader) key(name string) []byte {
	text := r.secret(name).Reveal()
	if len(text) > mostKeyText {
		r.bad.Add(name, fmt.Sprintf("is too long: at most %d characters", mostKeyText))
		return nil
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		r.bad.Add(name, "must be base64url without padding")
	}
	if len(b) == 0 {
		return nil
	}
	return b
}

// requestJSON is a request as its owner sees it.
type requestJSON struct {
	ID         string  `json:"id"`
	HTMLURL    *string `json:"html_url"` // null once it has ended
	Text       string  `json:"text"`
	Kinds      string  `json:"kinds"`
	MaxAnswers int     `json:"max_answers"`
	Answered   int     `json:"answered"`
	Days       *int    `json:"answer_expire_after_days"`
	Views      *int    `json:"answer_expire_after_views"`
	Step       bool    `json:"answer_retrieval_step"`
	CreatedAt  string  `json:"created_at"`
	ExpiresAt  string  `json:"expires_at"`
	Expired    bool    `json:"expired"`
	ExpiredOn  *string `json:"expired_on"`
	X25519     *string `json:"public_key_x25519"`
	P256       *string `json:"public_key_p256"`
}

// answeredJSON is a request with its answers.
type answeredJSON struct {
	requestJSON
	Answers []answerJSON `json:"answers"`
}

// answerJSON is a push that answers a request.
type answerJSON struct {
	senderJSON
	WrappedKey *string `json:"wrapped_key"`
}

// newRequestJSON renders a request. Its link begins with base.
func newRequestJSON(r store.RequestInfo, base string) requestJSON {
	j := requestJSON{
		ID: r.ID.String(), Text: r.Text.Reveal(), Kinds: kindsText(r.Request), MaxAnswers: r.MaxAnswers, Answered: len(r.Answers),
		CreatedAt: Stamp(r.CreatedAt), ExpiresAt: Stamp(r.ExpiresAt), Expired: !r.Live(),
		Step: r.RetrievalStep, X25519: keyText(r.X25519), P256: keyText(r.P256),
	}
	if r.Lifetime != 0 {
		j.Days = new(int((r.Lifetime + day - 1) / day))
	}
	if r.Views != 0 {
		j.Views = &r.Views
	}
	if r.Live() {
		link := display.RequestLink(base, r.Token.Reveal())
		j.HTMLURL = &link
		return j
	}
	on := r.ExpiresAt
	if !r.EndedAt.IsZero() {
		on = r.EndedAt
	}
	j.ExpiredOn = new(Stamp(on))
	return j
}

func newAnsweredJSON(r store.RequestInfo, base string) answeredJSON {
	j := answeredJSON{requestJSON: newRequestJSON(r, base), Answers: make([]answerJSON, len(r.Pushes))}
	for i, p := range r.Pushes {
		j.Answers[i] = answerJSON{newSenderJSON(p, base), keyText(p.WrappedKey)}
	}
	return j
}

// kindsText is the kinds of answer that a request takes, as its field has them.
func kindsText(r record.Request) string {
	switch {
	case r.Texts && r.Files:
		return textsAndFiles
	case r.Files:
		return filesOnly
	default:
		return textsOnly
	}
}

// requestIDText is the ID of a request; empty for none.
func requestIDText(id record.RequestID) string {
	if id == (record.RequestID{}) {
		return ""
	}
	return id.String()
}

// keyText is a key in base64url; nil for none.
func keyText(key []byte) *string {
	if key == nil {
		return nil
	}
	return new(base64.RawURLEncoding.EncodeToString(key))
}
