package api

import (
	"encoding/base64"
	"errors"
	"slices"

	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/display"
	"pushbox/server/intake"
	"pushbox/store"
	"pushbox/store/record"
)

const errNoRequest = action.BadRequest("Send an object request with at least a text, such as {\"request\":{\"text\":\"...\"}}, or request[text]=... in a form.")

// createRequest makes a request for secrets.
func (s *Service) createRequest(r *action.Request) (action.Reply, error) {
	f := make(body.Form)
	err := body.Read(r.Context(), &r.Body, body.Options{
		Object: requestWrapper, JSON: true, Query: true, MaxText: action.SmallBody,
		Files: intake.NoFiles{Form: f}, FilesField: store.FieldFiles, MaxFiles: 1, MaxFileSize: 1 << 30,
	}, f)
	var file body.BadFile
	switch {
	case errors.As(err, &file):
		var bad record.InvalidError
		bad.Add(store.FieldFiles, string(file))
		err = bad.Err()
	case errors.Is(err, body.ErrNoObject), err == nil && len(f) == 0:
		err = errNoRequest
	}
	if err != nil {
		return action.Reply{}, err
	}
	in, err := intake.Fields(f).ParseRequest(false)
	if err != nil {
		return action.Reply{}, err
	}
	made, err := s.Intake.NewRequestOf(r, in)
	if err != nil {
		return action.Reply{}, err
	}
	return r.Made(display.RequestLink(r.Base, made.Token.Reveal()), newRequestJSON(made, r.Base)), nil
}

// listRequests returns an action that lists the requests in some states; in all for none.
func (s *Service) listRequests(states ...string) action.Func {
	return func(r *action.Request) (action.Reply, error) {
		page, err := action.ReadPage(r)
		if err != nil {
			return action.Reply{}, err
		}
		all, err := s.requestsIn(r, page, states)
		if err != nil {
			return action.Reply{}, err
		}
		list := make([]requestJSON, len(all))
		for i, one := range all {
			list[i] = newRequestJSON(one, r.Base)
		}
		return action.OK(list), nil
	}
}

func (s *Service) requestsIn(r *action.Request, page int, states []string) ([]store.RequestInfo, error) {
	if len(states) == 0 {
		return s.Store.Requests(r.Context(), r.Actor, page)
	}
	return s.Store.RequestsThat(r.Context(), r.Actor, page, func(q store.RequestInfo) bool {
		return slices.Contains(states, stateOf(q))
	})
}

func (s *Service) showRequest(r *action.Request) (action.Reply, error) {
	if err := r.Reserve(action.AnswersMemory); err != nil {
		return action.Reply{}, err
	}
	got, err := s.Store.Request(r.Context(), r.Actor, s.requestID(r))
	if err != nil {
		return action.Reply{}, err
	}
	j := newAnsweredJSON(got, r.Base)
	if err := s.openNewest(r, got, &j); err != nil {
		return action.Reply{}, err
	}
	return action.OK(j), nil
}

func (s *Service) endRequest(r *action.Request) (action.Reply, error) {
	ended, err := s.Store.EndRequest(r.Context(), r.Actor, s.requestID(r))
	if err != nil {
		return action.Reply{}, err
	}
	return action.OK(newRequestJSON(ended, r.Base)), nil
}

// requestWrapper is the object that has the fields of a new request.
const requestWrapper = "request"

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
	paidJSON
	AccountID uint64 `json:"account_id"`
	Name      string `json:"name"`
	Note      string `json:"note"`
}

// answeredJSON is a request with its answers.
type answeredJSON struct {
	requestJSON
	Answers  []answerJSON `json:"answers"`
	Request  string       `json:"request"`
	Response *string      `json:"response"`
	Files    []fileJSON   `json:"files"`
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
		CreatedAt: display.Stamp(r.CreatedAt), ExpiresAt: display.Stamp(r.ExpiresAt), Expired: !r.Live(),
		Step: r.RetrievalStep, X25519: keyText(r.X25519), P256: keyText(r.P256),
		paidJSON: newPaidJSON(r, base), AccountID: uint64(r.Owner), Name: r.Name.Reveal(), Note: r.Note.Reveal(),
	}
	if r.Lifetime != 0 {
		j.Days = new(int((r.Lifetime + intake.Day - 1) / intake.Day))
	}
	if r.Views != 0 {
		j.Views = &r.Views
	}
	if r.Live() {
		link := display.RequestLink(base, r.Token.Reveal())
		j.HTMLURL = &link
		return j
	}
	j.ExpiredOn = new(display.Stamp(r.ChangedAt))
	return j
}

func newAnsweredJSON(r store.RequestInfo, base string) answeredJSON {
	j := answeredJSON{requestJSON: newRequestJSON(r, base), Answers: make([]answerJSON, len(r.Pushes)), Request: r.Text.Reveal(), Files: []fileJSON{}}
	for i, p := range r.Pushes {
		j.Answers[i] = answerJSON{newSenderJSON(p, base), keyText(p.WrappedKey)}
	}
	return j
}

// kindsText returns the kinds of answer that a request accepts, in the form of its field.
func kindsText(r record.Request) string {
	switch {
	case r.Texts && r.Files:
		return intake.TextsAndFiles
	case r.Files:
		return intake.FilesOnly
	default:
		return intake.TextsOnly
	}
}

// keyText returns a key in base64url; nil for none.
func keyText(key []byte) *string {
	if key == nil {
		return nil
	}
	return new(base64.RawURLEncoding.EncodeToString(key))
}
