package pages

import (
	"errors"
	"net/http"

	"pushbox/internal/secret"
	"pushbox/server/action"
	"pushbox/store"
	"pushbox/store/record"
)

// Fields of the form that opens a push with the code of a named recipient.
const (
	challengeField = "challenge"
	codeField      = "code"
	againField     = "again" // asks for another code
)

// A mailboxForm is the part of the step in which a named recipient proves a mailbox: first it asks
// for the address, then for the code. It is the same whether a code was mailed or not.
type mailboxForm struct {
	Email     string
	Challenge secret.Text // zero: it asks for the address
	Code      secret.Text // that was right, while the passphrase was not
	Key       string      // of the message about the last try; empty: there is none
	Left      int         // how many more wrong codes are allowed
	Minutes   int         // the validity of a code
}

// asksForMailbox reports whether the reader proves a mailbox, instead of typing a number.
func asksForMailbox(r *action.Request, p store.PushInfo) bool {
	return p.Named && !owns(r, p) && !p.Early(p.At)
}

// revealToRecipient opens a push for its named recipient, or mails a code.
func (s *Set) revealToRecipient(r *action.Request, f webForm, passphrase secret.Text) (action.Reply, error) {
	box := &mailboxForm{Email: shownAgain(f.text(store.FieldRecipient), record.MaxEmail), Challenge: f.Text(challengeField), Code: f.Text(codeField)}
	if box.Challenge.IsZero() || f.checked(againField) {
		return s.mailRecipientCode(r, box)
	}
	r.Actor.Mailbox = store.Mailbox{Challenge: box.Challenge, Code: secret.New(typedDigits(box.Code))}
	return s.reveal(r, passphrase, f.checked(returnsField), box)
}

// mailRecipientCode mails a code if the address is the recipient's. The answer is the same for any address.
func (s *Set) mailRecipientCode(r *action.Request, box *mailboxForm) (action.Reply, error) {
	a := attempt{Status: http.StatusOK, Mailbox: box}
	box.Code = secret.Text{}
	challenge, err := s.Store.MailRecipientCode(r.Context(), r.Actor, r.URLToken, box.Email, r.Locale.Tag)
	var locked *record.LockedError
	_, wrong := wrongFields(err)
	switch {
	case errors.As(err, &locked):
		s.NoteLimit(err)
		a.Status, a.Wait, box.Key = http.StatusTooManyRequests, locked.RetryAfter, "step_codes_many"
	case wrong:
		a.Status, box.Key = http.StatusUnprocessableEntity, "step_email_wrong"
	case err != nil:
		return action.Reply{}, err
	default:
		box.Challenge = challenge
	}
	return s.stepAfter(r, a)
}

// after returns the form after an attempt to open the push.
func (m *mailboxForm) after(err error) *mailboxForm {
	var wrong *record.RecipientError
	if m == nil || !errors.As(err, &wrong) {
		return m
	}
	m.Code, m.Left, m.Key = secret.Text{}, wrong.Left, "step_code_wrong"
	if wrong.Left == 0 {
		m.Challenge, m.Key = secret.Text{}, "step_code_over"
	}
	return m
}

// provedBy returns the mailbox that was proved for a view; empty: none was.
func provedBy(e store.LogEntry) string {
	if e.Kind != record.EntryView {
		return ""
	}
	return e.Recipients.Reveal()
}
