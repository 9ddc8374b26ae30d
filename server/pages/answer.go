package pages

import (
	"errors"
	"net/http"

	"pushbox/internal/endtoend"
	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/server/intake"
	"pushbox/store"
	"pushbox/store/record"
)

// An answerView is the form by which a person without an account answers a request.
type answerView struct {
	Path         secret.Text
	Asker        string      // the address of the account that asks
	Asked        secret.Text // the text of the request
	Texts, Files bool
	Payload      secret.Text
	publicKeys
	uploadView
	problemsView
}

// asked returns the live request that the path names. One that is over has a page of its own.
func (s *Set) asked(r *action.Request) (store.RequestInfo, error) {
	q, err := s.Intake.Asked(r)
	if errors.Is(err, record.ErrNotFound) && q.ID != (record.RequestID{}) {
		err = action.ErrRequestOver
	}
	return q, err
}

// answerForm shows the request, and the form to answer it.
func (s *Set) answerForm(r *action.Request) (action.Reply, error) {
	q, err := s.asked(r)
	if err != nil {
		return action.Reply{}, err
	}
	return action.Show(http.StatusOK, "answer", s.newAnswerView(r, q)), nil
}

func (s *Set) newAnswerView(r *action.Request, q store.RequestInfo) answerView {
	return answerView{
		Path: secret.New(display.RequestLink("", q.Token.Reveal())), Asker: q.Asker, Asked: q.Text, Texts: q.Texts, Files: q.Files,
		publicKeys: newPublicKeys(q), uploadView: newUploadView(r, q.Policy),
	}
}

// makeAnswer creates an answer: a push of the account that asked. The sender gets nothing back, not
// even the link.
func (s *Set) makeAnswer(r *action.Request) (action.Reply, error) {
	q, err := s.asked(r)
	if err != nil {
		return action.Reply{}, err
	}
	r.Actor.Account = 0 // the push belongs to the account that asked, even if another account answers
	c, _, err := s.Intake.ReceivePush(r, intake.Spelling{Wrapper: "push", Page: true, Convert: s.convertForm, Answering: q.Token})
	var invalid *record.InvalidError
	switch {
	case errors.As(err, &invalid):
		return action.Show(http.StatusUnprocessableEntity, "answer", s.answerViewAgain(q, c, invalid)), nil
	case err != nil:
		return action.Reply{}, err
	default:
		return action.GoTo(sentPath), nil
	}
}

// answerViewAgain returns the form with the text that was typed and its problems.
func (s *Set) answerViewAgain(q store.RequestInfo, c *intake.Draft, invalid *record.InvalidError) answerView {
	text := c.Fields.Text(store.FieldPayload)
	v := s.newAnswerView(c.Request, q)
	bad := payloadProblem(c.Request, record.Text, text)
	_, badFiles := invalid.Fields[store.FieldFiles]
	switch {
	case badFiles || !q.Texts:
		bad = filesProblem(c)
	case len(text) <= store.MaxText && (q.Encrypted() || endtoend.IsEnvelope(text)):
		bad = formProblem{Field: "payload", Key: "create_encrypt_required"}
	case q.Files && bad.Key == "create_bad_empty":
		bad.Key = "answer_bad_empty"
	}
	v.Problems = []formProblem{bad}
	if !endtoend.IsEnvelope(text) {
		v.Payload = secret.New(shownAgain(text, store.MaxText))
	}
	return v
}

// answerSent confirms that an answer was received.
func (s *Set) answerSent(*action.Request) (action.Reply, error) {
	return action.Show(http.StatusOK, "sent", nil), nil
}
