package server

import (
	"errors"
	"net/http"

	"pushbox/internal/email"
	"pushbox/store/record"
)

// accountView is the form for making an account.
type accountView struct {
	passwordBounds
	Email   string          // as it was typed
	Wrong   map[string]bool // fields that were refused
	Foreign bool            // the address may not sign up
	Error   formError
}

// signUpForm shows the form, if sign-ups are enabled.
func (s *Server) signUpForm(*request) (reply, error) {
	if !s.signUps() {
		return reply{}, record.ErrNotFound
	}
	return show(http.StatusOK, "sign_up", accountView{}), nil
}

// signUp makes an account. If the address has one already, the answer is the same, and
// does not tell who has an account.
func (s *Server) signUp(r *request) (reply, error) {
	if !s.signUps() {
		return reply{}, record.ErrNotFound
	}
	f, err := s.readForm(r)
	if err != nil {
		return reply{}, err
	}
	email := f.text("email")
	page := accountView{Email: shownAgain(email, record.MaxEmail)}
	if !s.maySignUp(email) {
		page.Wrong, page.Foreign = map[string]bool{"email": true}, true
		return show(http.StatusUnprocessableEntity, "sign_up", page), nil
	}
	_, err = s.store.SignUp(r.Context(), r.actor, email, f.Text("password"))
	var locked *record.LockedError
	if errors.As(err, &locked) {
		s.noteLimit(err)
		page.Error = s.tooManyAttempts(locked.RetryAfter)
		return page.Error.rerender("sign_up", page), nil
	}
	if wrong, ok := wrongFields(err); ok {
		page.Wrong = wrong
		return show(http.StatusUnprocessableEntity, "sign_up", page), nil
	}
	if err != nil && !errors.Is(err, record.ErrExists) {
		return reply{}, err
	}
	return s.goToTell(r, signInPath, noticeSignedUp), nil
}

// signUps reports whether people can make accounts for themselves.
func (s *Server) signUps() bool { return s.cfg.EnableSignups && s.cfg.SignIn.Passwords }

// maySignUp reports whether an address, in the form in which the store keeps it, may
// sign up.
func (s *Server) maySignUp(address string) bool {
	return s.signUpEmail.MatchString(email.Fold(address))
}
