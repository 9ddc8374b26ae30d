package pages

import (
	"errors"
	"net/http"

	"pushbox/server/action"
	"pushbox/server/display"
	"pushbox/store/record"
)

// addressView shows the address of an account, and confirms it.
type addressView struct {
	Email     string
	Confirmed bool
	Mail      bool          // the server can send a code there
	Until     *display.Time // how long the last sent code stays valid; nil: none is valid
	Tries     int           // that are left for it
	Error     formError
}

// addressPage shows the address of the account.
func (s *Set) addressPage(r *action.Request) (action.Reply, error) {
	page, err := s.addressState(r)
	return action.Show(http.StatusOK, "address", page), err
}

func (s *Set) addressState(r *action.Request) (addressView, error) {
	a, err := s.Store.Address(r.Context(), r.SessionSecret())
	page := addressView{Email: a.Email, Confirmed: a.Confirmed, Mail: a.Reachable, Tries: a.Tries}
	if !a.CodeUntil.IsZero() {
		page.Until = display.OptionalTime(a.CodeUntil)
	}
	return page, err
}

// mailCode sends a code to the address of the account.
func (s *Set) mailCode(r *action.Request) (action.Reply, error) {
	err := s.Store.MailCode(r.Context(), r.Actor, r.SessionSecret(), r.Locale.Tag)
	var quota *record.QuotaError
	switch {
	case errors.As(err, &quota):
		e := s.tooManyAttempts(quota.RetryAfter)
		e.Message = "address_no_mail_today"
		return s.rerenderAddress(r, e)
	case err != nil:
		return s.addressError(r, err)
	}
	return action.GoTo(action.AddressPath), nil
}

// confirmAddress confirms the address of the account with a code.
func (s *Set) confirmAddress(r *action.Request, f webForm) (action.Reply, error) {
	err := s.Store.ConfirmAddress(r.Context(), r.Actor, r.SessionSecret(), f.Text("code"))
	if errors.Is(err, record.ErrCode) {
		return s.rerenderAddress(r, formError{Message: "address_code_wrong"})
	}
	return s.goToTell(r, action.AddressPath, noticeConfirmed), err
}

// addressError shows the page again after too many codes. Any other error is returned.
func (s *Set) addressError(r *action.Request, err error) (action.Reply, error) {
	e, err := s.newFormError(err, "")
	if err != nil {
		return action.Reply{}, err
	}
	e.Message = "address_too_many"
	return s.rerenderAddress(r, e)
}

func (s *Set) rerenderAddress(r *action.Request, e formError) (action.Reply, error) {
	page, err := s.addressState(r)
	page.Error = e
	return e.rerender("address", page), err
}
