package pages

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pushbox/server/action"
	"pushbox/server/body"
	"pushbox/server/display"
	"pushbox/store/record"
)

// A webForm is a small form of a page. It has no files.
type webForm struct{ body.Form }

// readForm reads a form of 64 KiB at most, which has each field once.
func (s *Set) readForm(r *action.Request) (webForm, error) {
	f := webForm{make(body.Form)}
	return f, body.Read(r.Context(), &r.Body, body.Options{Flat: true, MaxText: action.SmallBody}, f.Form)
}

// withForm is the action of a page's form: it reads the form and passes it to act.
func (s *Set) withForm(act func(*action.Request, webForm) (action.Reply, error)) action.Func {
	return func(r *action.Request) (action.Reply, error) {
		f, err := s.readForm(r)
		if err != nil {
			return action.Reply{}, err
		}
		return act(r, f)
	}
}

// text returns the text of a field that is not secret.
func (f webForm) text(name string) string { return f.Text(name).Reveal() }

// checked reports whether a checkbox was checked.
func (f webForm) checked(name string) bool { return !f.Text(name).IsZero() }

// number reads the ID of a session or a token. If the field is not an ID, it returns 0, which is
// never in use.
func (f webForm) number(name string) uint64 {
	n, err := strconv.ParseUint(f.text(name), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// shownAgain returns a text as its form shows it again: empty if it has more than most
// bytes. In that case the form says that it is too long.
func shownAgain(text string, most int) string {
	if len(text) > most {
		return ""
	}
	return text
}

// maxNumber is the length in bytes of the longest number that is shown again.
const maxNumber = 64

// oneBreak restores the line breaks of a text in a form: browsers end each line with
// CR LF (HTML Standard, constructing the entry list).
func oneBreak(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// wrongFields returns the names of the fields that the store refused, and whether err
// is a *record.InvalidError.
func wrongFields(err error) (map[string]bool, bool) {
	var invalid *record.InvalidError
	if !errors.As(err, &invalid) {
		return nil, false
	}
	wrong := make(map[string]bool, len(invalid.Fields))
	for name := range invalid.Fields {
		wrong[name] = true
	}
	return wrong, true
}

// unlessGone returns err, or nil if it says that a session or token is not found: it
// has ended already, or is not the caller's.
func unlessGone(err error) error {
	if errors.Is(err, record.ErrNotFound) {
		return nil
	}
	return err
}

// A formError says on a form why a password or a code was refused. The zero value is
// no error.
type formError struct {
	Message string        // key of the message
	Until   *display.Time // when the next attempt may be, after too many of them
	wait    time.Duration
}

// newFormError returns the formError for an error from the check of a password or a
// code; message is for a wrong one. Any other error is returned as it is.
func (s *Set) newFormError(err error, message string) (formError, error) {
	var locked *record.LockedError
	switch {
	case errors.Is(err, record.ErrCredentials):
		return formError{Message: message}, nil
	case errors.Is(err, record.ErrStale):
		return formError{Message: "proof_stale"}, nil
	case errors.As(err, &locked):
		s.NoteLimit(err)
		e := s.tooManyAttempts(locked.RetryAfter)
		if locked.Limit == record.LimitSignInsPerClient { // other clients may have made the tries
			e.Message = "sign_in_crowded"
		}
		return e, nil
	default:
		return formError{}, err
	}
}

// tooManyAttempts refuses an attempt beyond the limit.
func (s *Set) tooManyAttempts(wait time.Duration) formError {
	wait = max(wait, time.Second)
	return formError{Message: "sign_in_locked", Until: display.OptionalTime(s.Clock.Now().Add(wait + time.Minute - 1)), wait: wait}
}

// rerender shows the form again, with this error in its page.
func (e formError) rerender(template string, page any) action.Reply {
	return e.answer(action.Show(http.StatusForbidden, template, page))
}

// status is rerender, or shows the form for the first time if there is no error.
func (e formError) status(template string, page any) action.Reply {
	if e.Message == "" {
		return action.Show(http.StatusOK, template, page)
	}
	return e.rerender(template, page)
}

// answer gives the reply with the form the status of this error, and its header.
func (e formError) answer(rep action.Reply) action.Reply {
	if e.Until != nil {
		rep.Status = http.StatusTooManyRequests
		rep.Header = action.Problem{Status: rep.Status, Retry: e.wait}.Headers()
	}
	return rep
}
