package server

import (
	"crypto/subtle"
	"errors"
	"fmt"
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

// firstForm shows the form of the first account, if the path has the code for it.
func (s *Server) firstForm(r *request) (reply, error) {
	if err := s.wantFirst(r); err != nil {
		return reply{}, err
	}
	return show(http.StatusOK, "first", accountView{}), nil
}

// firstAccount makes the first account, once, and signs it in.
func (s *Server) firstAccount(r *request) (reply, error) {
	if err := s.wantFirst(r); err != nil {
		return reply{}, err
	}
	f, err := s.readForm(r)
	if err != nil {
		return reply{}, err
	}
	email, password := f.text("email"), f.Text("password")
	_, err = s.store.AddFirstAccount(r.Context(), r.actor, email, password)
	if wrong, ok := wrongFields(err); ok {
		return show(http.StatusUnprocessableEntity, "first", accountView{Email: shownAgain(email, record.MaxEmail), Wrong: wrong}), nil
	}
	if errors.Is(err, record.ErrExists) { // made since the code was compared, here or at another server
		return reply{}, errFirst
	}
	if err != nil {
		return reply{}, err
	}
	n, err := s.store.SignIn(r.Context(), r.actor, email, password)
	if err != nil { // the account exists, even if it cannot sign in now
		return goTo(signInPath), nil
	}
	rep, err := s.begin(r, n)
	return rep.with(s.goToTell(r, rep.to, noticeFirst).cookies...), err
}

// errFirst is record.ErrNotFound for the page of the first account.
var errFirst = fmt.Errorf("%w: it has no code for a first account", record.ErrNotFound)

// errLink is record.ErrNotFound for a link that sets a password, and is used up or too old.
var errLink = fmt.Errorf("%w: no such link sets a password", record.ErrNotFound)

// wantFirst returns errFirst unless the path has the code of the first account.
func (s *Server) wantFirst(r *request) error {
	code, err := s.store.FirstCode(r.Context())
	if err != nil {
		return err
	}
	if code.IsZero() || subtle.ConstantTimeCompare([]byte(code.Reveal()), []byte(r.name.Reveal())) != 1 {
		return errFirst
	}
	return nil
}
